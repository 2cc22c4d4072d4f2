"""Reading a long log: events a CPU-second and peak memory, each in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runs.bench import Bench, Figure, Say

EVENTS = 100_000
BUDGET_EVENTS, BUDGET_MIB = 10_000.0, 500.0


def write_log(path: Path, events: int, padding: int) -> None:
    """A session log of turns, tools and messages, with a sub-agent every 2,000 events."""
    text = "x" * padding
    with path.open("w", encoding="utf-8") as out:
        start = {"type": "session.start", "data": {"sessionId": "s", "copilotVersion": "1.0.102"}}
        for number in range(events):
            at = f"2026-01-01T{number // 36000 % 24:02}:{number // 600 % 60:02}"
            at += f":{number // 10 % 60:02}.{number % 10}00Z"
            out.write(
                json.dumps(
                    {
                        "id": f"e{number}",
                        "parentId": None,
                        "timestamp": at,
                        **_event(number, text, start),
                    }
                )
            )
            out.write("\n")


def _event(number: int, text: str, start: dict[str, Any]) -> dict[str, Any]:
    call = f"call_{number // 4}"
    if number == 0:
        return start
    if number % 2000 == 1:
        return {"type": "subagent.started", "data": {"toolCallId": call, "agentName": "worker"}}
    if number % 2000 == 1999:
        return {"type": "subagent.completed", "data": {"toolCallId": call, "agentName": "worker"}}
    kinds = (
        {"type": "tool.execution_start", "data": {"toolCallId": call, "toolName": "view"}},
        {"type": "tool.execution_complete",
         "data": {"toolCallId": call, "success": True, "result": {"content": text}}},
        {"type": "assistant.message", "data": {"messageId": call, "content": text}},
        {"type": "assistant.message_delta", "data": {"messageId": call, "deltaContent": text}},
    )  # fmt: skip
    return kinds[number % 4]


def read_one(path: Path) -> dict[str, float]:
    """Read and judge one file in this process."""
    from runs.core.judge import judge
    from runs.transcript import read_case

    started = time.process_time()
    case = read_case([path])
    read = time.process_time() - started
    judge(case.history)
    return {
        "lines": case.formats[0]["lines"],
        "read": read,
        "judge": time.process_time() - started - read,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def figures(name: str, events: int, padding: int, say: Say) -> Sequence[Figure]:
    """Make a log of so many events, read it in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="lifeline-bench-") as folder:
        path = Path(folder) / "events.jsonl"
        say(f"writing a log of {events} events")
        write_log(path, events, padding)
        size = path.stat().st_size / (1 << 20)
        say(f"reading {size:.0f} MiB")
        done = subprocess.run(
            [sys.executable, "-m", "runs.benches.imports", str(path)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    found = json.loads(done.stdout)
    note = f"{size:.0f} MiB, {found['lines']} lines"
    speed = found["lines"] / found["read"]
    return [
        Figure(f"{name}: events a CPU-second", round(speed), "1/s", BUDGET_EVENTS, True, note),
        Figure(f"{name}: peak memory", round(found["peak"]), "MiB", BUDGET_MIB, note=note),
        Figure(f"{name}: judging it", round(found["judge"], 2), "s CPU"),
    ]


def measure(say: Say) -> Sequence[Figure]:
    """A log of 100,000 events."""
    return figures("100,000 events", EVENTS, 150, say)


BENCH = Bench("How fast is a long log read, and in how much memory?", measure)

if __name__ == "__main__":
    print(json.dumps(read_one(Path(sys.argv[1]))))
