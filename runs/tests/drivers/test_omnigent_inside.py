"""The program that runs beside the agent, against a server that behaves like the agent's."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runs.core.events import number
from runs.core.history import History
from runs.drivers.omnigent import DRIVER, START
from runs.drivers.omnigent.evidence import LiveStream

FOLDER = Path(__file__).resolve().parents[2] / "drivers" / "omnigent"
SERVER = Path(__file__).with_name("omnigent_server.py")
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts it with a plan; `how` is said to the server."""

    def begin(*how: str, **more: Any) -> subprocess.Popen[str]:
        plan = {
            "agent": "lifeline",
            "server": [sys.executable, str(SERVER), "{port}", *how],
            "runner": [sys.executable, "-c", "import time; time.sleep(600)"],
            "runner_env": {},
            "alone": False,
            "version": [sys.executable, "-c", "print('9.9.9')"],
            "identity": [sys.executable, "-c", "print('runner-1')"],
            "message": "Delegate.",
            "second": "Once more.",
            "setup": "whole",
            "deed": "",
            "when": "",
            "rest": 0.0,
            "logs": str(tmp_path),
            "exports": str(tmp_path / "exports"),
            **more,
        }
        (tmp_path / "plan.json").write_text(json.dumps(plan))
        argv = [sys.executable, "-I", "-S", "-B", "-c", START, str(FOLDER)]
        return subprocess.Popen(
            [*argv, str(tmp_path / "plan.json")], stdout=subprocess.PIPE, text=True
        )

    return begin


def ended(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """What it printed until its end."""
    with process:
        output, _ = process.communicate(timeout=60)
    return [json.loads(line) for line in output.splitlines()]


def parts(lines: list[dict[str, Any]]) -> list[str]:
    return [f"{one['part']} {one['status']}" for one in lines if one["kind"] == "client/part"]


def asked(folder: Path) -> list[Any]:
    """What the server was asked, as it is stored."""
    found = json.loads((folder / "exports" / "root0.json").read_text())
    return list(found["session"]["asked"])


def test_it_starts_both_parts_hears_every_session_and_stays_until_all_rest(
    start: Start, tmp_path: Path
) -> None:
    process = start()
    lines = ended(process)
    assert process.returncode == 0
    assert all(line["t"] > 1e9 for line in lines)
    assert parts(lines) == [
        "server started", "server online", "runner started", "runner online", "runner stopped",
        "server stopped",
    ]  # fmt: skip
    heard = Counter((one["session"], one["data"]["type"]) for one in lines if one["kind"] == "sse")
    assert heard["child0", "session.status"] == 2
    assert heard["root0", "session.status"] == 2
    (last,) = [one for one in lines if one["kind"] == "client/settled"]
    assert last["status"] == "idle"
    assert {path.stem for path in (tmp_path / "exports").glob("*.json")} == {"root0", "child0"}


def test_its_exit_code_says_that_the_parent_failed(start: Start) -> None:
    process = start("fails")
    (last,) = [one for one in ended(process) if one["kind"] == "client/settled"]
    assert (process.returncode, last["status"]) == (1, "failed")


@pytest.mark.parametrize(
    ("more", "trouble"),
    [
        ({"server": [sys.executable, "-c", "raise SystemExit(3)"]}, "the server ended"),
        ({"runner": [sys.executable, "-c", "raise SystemExit(3)"]}, ""),
        ({"identity": [sys.executable, "-c", "raise SystemExit(3)"]}, "no identity"),
    ],
)
def test_it_says_which_part_did_not_start(start: Start, more: Any, trouble: str) -> None:
    process = start(**more)
    lines = ended(process)
    if not trouble:  # the server says that the runner is online: its end is told all the same
        assert "runner ended" in parts(lines)
        return
    (said,) = [one for one in lines if one["kind"] == "client/trouble"]
    assert trouble in said["error"]
    assert process.returncode == 70


@pytest.mark.parametrize(
    "when", ["parent-running", "child-running", "child-ended", "child-woken", "child-told"]
)
def test_it_kills_the_runner_at_the_moment_that_it_is_told(start: Start, when: str) -> None:
    lines = ended(start(deed="kill", when=when))
    assert parts(lines).count("runner killed") == 1
    assert parts(lines).count("runner started") == 1


def test_it_starts_the_runner_again_under_the_same_identity(start: Start) -> None:
    lines = ended(start(deed="restart", when="child-running"))
    order = [word for word in parts(lines) if word.startswith("runner")]
    assert order == [
        "runner started", "runner online", "runner killed", "runner started", "runner online",
        "runner stopped",
    ]  # fmt: skip


def test_it_stays_when_a_runner_is_back_although_everybody_rests(start: Start) -> None:
    lines = ended(start(deed="restart", when="child-told", rest=3.0))
    back = [one["t"] for one in lines if one.get("status") == "online"][-1]
    (last,) = [one for one in lines if one["kind"] == "client/settled"]
    assert last["t"] - back > 3.0


def test_it_says_that_the_moment_for_its_deed_never_came(start: Start) -> None:
    lines = ended(start(deed="speak", when="nowhen"))
    (last,) = [one for one in lines if one["kind"] == "client/settled"]
    assert (last["status"], last["missed"]) == ("idle", True)
    reader = LiveStream("stdout.jsonl")
    plan = {"kind": "client/plan", "when": "nowhen"}
    drafts = [one for line in (plan, last) for one in reader.feed(json.dumps(line).encode(), 1, 0)]
    events = [number(one, place, place) for place, one in enumerate(drafts, 1)]
    found = DRIVER.runtime(History(events), None)  # type: ignore[arg-type]
    assert "nowhen never came" in found.problem


def test_it_drives_a_runner_that_has_no_server(start: Start) -> None:
    runner = [sys.executable, str(SERVER), "{port}", "alone"]
    process = start(alone=True, runner=runner, deed="speak", when="parent-running")
    lines = ended(process)
    assert process.returncode == 0
    assert parts(lines) == ["runner started", "runner online", "runner stopped"]
    (online,) = [one for one in lines if one.get("status") == "online"]
    assert online["version"] == "9.9.9"
    answers = [one["body"] for one in lines if one["kind"] == "client/answered"]
    words = [str(one["status"]) for one in answers if "status" in one]
    assert sorted(words) == ["accepted", "buffered"]  # which is written down first is a race
    assert len(answers) == 3


def test_it_speaks_a_second_time_while_somebody_is_at_work(start: Start, tmp_path: Path) -> None:
    ended(start("waits", deed="speak", when="child-running"))
    said = [
        (path.split("/")[3], body["data"]["content"][0]["text"]) for path, body in asked(tmp_path)
    ]
    assert said == [("root0", "Delegate."), ("child0", "Once more.")]


def test_it_interrupts_the_session_that_is_at_work(start: Start, tmp_path: Path) -> None:
    lines = ended(start("waits", deed="interrupt", when="child-running"))
    (said,) = [one for one in lines if one["kind"] == "client/interrupted"]
    assert said["session"] == "child0"
    assert asked(tmp_path)[1] == [
        "/v1/sessions/child0/events", {"type": "interrupt", "data": {}},
    ]  # fmt: skip


def test_it_writes_down_what_is_stored_when_it_is_told_to_end(start: Start, tmp_path: Path) -> None:
    process = start("waits")
    assert process.stdout is not None
    while "output_text.delta" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGTERM)
    ended(process)
    assert process.returncode == 128 + signal.SIGTERM
    assert {path.stem for path in (tmp_path / "exports").glob("*.json")} == {"root0", "child0"}
