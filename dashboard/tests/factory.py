"""Stored runs for the tests of the pages: six cut attempts of one background child, and variations.

The events are as a run leaves them; the summary is made from them by the real report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.utils import timezone

from runs import report, store
from runs.models import Event, Finding, Run

CHILD = "repro-child"
STARTED = 0.78
FIRST_ATTEMPT = 1.05
GAP = 1.011
ATTEMPTS = 6


class Writer:
    """Numbers events and writes their raw lines into the run's sources."""

    def __init__(self, run: Run) -> None:
        self.run, self.rows = run, list[Event]()
        self.folder = store.folder(run) / "sources"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lines: dict[str, int] = {}
        self.sizes: dict[str, int] = {}

    def add(self, t: float, kind: str, file: str, agent: str = "", **data: Any) -> int:
        """Add one event with a raw line of its own; gives its number."""
        native = data.pop("native", kind)
        raw = json.dumps({"type": native, "data": data}).encode() + b"\n"
        with (self.folder / file).open("ab") as out:
            out.write(raw)
        line, offset = self.lines.get(file, 0) + 1, self.sizes.get(file, 0)
        self.lines[file], self.sizes[file] = line, offset + len(raw)
        row = Event(run=self.run, seq=len(self.rows) + 1, t=t, kind=kind, agent=agent, data=data)
        row.file, row.source, row.native = file, file.partition(".")[0].partition("-")[0], native
        row.line, row.offset, row.length = line, offset, len(raw)
        self.rows.append(row)
        return row.seq

    def save(self) -> None:
        """Store the events and what the run's row says of them."""
        Event.objects.bulk_create(self.rows)
        self.run.event_count = len(self.rows)
        self.run.save()


def cut_run(**fields: Any) -> Run:
    """An ended run of copilot 1.0.81 on sse-cut: “completed” after six cut attempts."""
    run = _run(**fields)
    writer = Writer(run)
    _beginning(writer)
    for n in range(1, ATTEMPTS + 1):
        attempt(writer, n)
    ends = _ending(writer)
    writer.save()
    _findings(run, ends)
    run.broken = " L2 L3 L6 "
    run.summary = report.summary(run, store.history(run))
    run.save()
    _bodies(run)
    return run


def open_run(**fields: Any) -> Run:
    """A run that goes on: its child is in its third attempt."""
    changed = {
        "status": "running",
        "phase": "running",
        "outcome": "",
        "diagnosis": "",
        "exit_code": None,
        "started_at": timezone.now() - timedelta(seconds=3.2),
        "ended_at": None,
        **fields,
    }
    run = _run(**changed)
    writer = Writer(run)
    _beginning(writer)
    for n in range(1, 3):
        attempt(writer, n)
    writer.save()
    return run


def _run(**fields: Any) -> Run:
    now = timezone.now()
    given: dict[str, Any] = {
        "status": "ended",
        "agent": "copilot",
        "version": "1.0.81",
        "reported_version": "1.0.81",
        "sha256": "3f9c" * 16,
        "scenario": "sse-cut",
        "snapshot": {
            "name": "sse-cut",
            "question": "Is the parent told when a background sub-agent’s stream ends early?",
            "script": "delegate-one",
            "guards": {"deadline": 180.0},
        },
        "created_at": now - timedelta(seconds=10),
        "started_at": now - timedelta(seconds=9),
        "ended_at": now - timedelta(seconds=2.1),
        "outcome": "model-request-failed",
        "public_outcome": "model-request-failed",
        "diagnosis": "cut_stream_false_completion",
        "exit_code": 1,
        "sealed": {"network": True, "files": True, "processes": True, "by": "bwrap", "why": ""},
        "runtime": {"node": "24.18.1", "platform": "linux-x64"},
    }
    return Run.objects.create(**{**given, **fields})


def _beginning(writer: Writer) -> None:
    writer.add(0.0, "process.started", "process", pid=4242, argv=["copilot", "-p", "…"])
    writer.add(0.3, "session.status", "stdout.jsonl", "root", status="running", raw="busy")
    _call(writer, 0.62, 0.68, "parent", "root", request="r1")
    writer.add(
        0.7, "spawn.requested", "stdout.jsonl", "root", call="t1", name=CHILD, background=True
    )
    writer.add(
        STARTED,
        "agent.started",
        "session-events.jsonl",
        CHILD,
        parent="root",
        name=CHILD,
        role="general-purpose",
        background=True,
        call="t1",
        native="subagent.started",
    )
    seen = writer.add(0.781, "seen.again", "stdout.jsonl", of=5)
    assert seen == len(writer.rows)
    writer.add(1.15, "session.status", "stdout.jsonl", "root", status="waiting", inferred=True)
    for second in range(6):
        writer.add(0.5 * second, "process.sample", "process", rss=280 << 20, cpu=0.4, processes=3)


def _call(writer: Writer, start: float, end: float, caller: str, agent: str, request: str) -> None:
    place = {"call": 1, "attempt": 1, "caller": caller, "request": request}
    writer.add(start, "request.received", "provider.jsonl", agent, **place, bytes=22_000)
    writer.add(start, "response.started", "provider.jsonl", agent, **place, status=200)
    writer.add(
        end,
        "request.ended",
        "provider.jsonl",
        agent,
        **place,
        status=200,
        complete=True,
        closed="ended",
        bytes=1480,
        events=9,
    )


def attempt(writer: Writer, n: int) -> None:
    """Add the nth cut attempt of the child's only call."""
    at = FIRST_ATTEMPT + (n - 1) * GAP
    place = {"call": 1, "attempt": n, "caller": "child:1", "request": f"r{n + 1}"}
    file = "provider.jsonl"
    body = {"bytes": 22_200, "model": "gpt-5.4", "body": f"r{n + 1}.request.json"}
    writer.add(at, "request.received", file, CHILD, **place, **body)
    writer.add(at + 0.004, "response.started", file, CHILD, **place, status=200)
    writer.add(at + 0.006, "fault.fired", file, CHILD, **place, fault="sse-cut", bytes=712)
    ended = {"status": 200, "complete": False, "closed": "cut", "fault": "sse-cut", "events": 4}
    writer.add(
        at + 0.006,
        "request.ended",
        file,
        CHILD,
        **place,
        **ended,
        bytes=712,
        response=f"r{n + 1}.response",
    )


def _ending(writer: Writer) -> dict[str, int]:
    session = "session-events.jsonl"
    last = len(writer.rows)
    writer.add(6.4, "retry.claim", "stdout.jsonl", CHILD, retries=5, sleep=5.0)
    writer.add(
        6.495, "error", session, CHILD, detail="Failed; retried 5 times", error_class="stream"
    )
    ended = writer.add(
        6.5, "agent.ended", session, CHILD, status="completed", native="subagent.completed"
    )
    writer.add(6.501, "seen.again", "stdout.jsonl", of=ended)
    told = writer.add(
        6.502,
        "notice.delivered",
        session,
        "root",
        child=CHILD,
        status="idle",
        raw="finished processing and is now idle",
        form="notification",
    )
    _call(writer, 6.6, 6.66, "parent", "root", request="r9")
    writer.add(6.8, "network.attempt", "process", host="example.com", port=443, what="resolve")
    writer.add(6.9, "process.exited", "process", code=1)
    return {"cut": last, "ended": ended, "told": told}


def _findings(run: Run, seqs: dict[str, int]) -> None:
    rows = [
        (
            "L2",
            "broken",
            "repro-child is “completed” though its last call was cut.",
            ["cut", "ended"],
        ),
        ("L3", "broken", "The parent was told “idle”, not that the child failed.", ["told"]),
        ("L6", "broken", "Five gaps of 1.01 s, no growth.", ["cut"]),
        ("L13", "unknown", "Only one view was seen.", []),
        ("L1", "holds", "One start, one terminal.", ["ended"]),
    ]
    for position, (law, verdict, reason, evidence) in enumerate(rows):
        Finding.objects.create(
            run=run,
            law=law,
            verdict=verdict,
            agent=CHILD,
            reason=reason,
            because="L2" if law == "L3" else "",
            evidence=[
                {"seq": seqs[name], "ref": f"session-events.jsonl:{n}"}
                for n, name in enumerate(evidence, 26)
            ],
            position=position,
        )


def _bodies(run: Run) -> None:
    folder = store.folder(run) / "bodies"
    folder.mkdir(exist_ok=True)
    for n in range(2, ATTEMPTS + 2):
        (folder / f"r{n}.request.json").write_text('{"model": "gpt-5.4", "input": "<b>hi</b>"}')
        (folder / f"r{n}.response").write_text("event: response.output_text.delta\ndata: {}\n\n")


HOSTILE = "<script>alert(1)</script>\x1b[31m\u202eevil\u200b @everyone ``` [x](javascript:1)"
"""What an agent might write to act on a page, a terminal or an issue."""


def hostile_run() -> Run:
    """A run all of whose foreign texts are hostile."""
    run = cut_run(
        version="1.0.81",
        reported_version=HOSTILE[:60],
        runtime={"node": HOSTILE},
        phase=HOSTILE[:99],
    )
    for row in Event.objects.filter(run=run):
        row.native, row.data = HOSTILE[:100], {**row.data, "detail": HOSTILE, HOSTILE[:20]: 1}
        row.agent = HOSTILE if row.agent == CHILD else row.agent
        row.save()
    Finding.objects.filter(run=run).update(reason=HOSTILE, agent=HOSTILE)
    Event.objects.filter(run=run, kind="notice.delivered").update(
        data={"child": HOSTILE, "status": "idle", "raw": HOSTILE}
    )
    run.notes, run.error = HOSTILE, {"what": HOSTILE, "do": HOSTILE}
    run.summary = report.summary(run, store.history(run))
    run.save()
    return run


def many_runs(count: int) -> Iterator[Run]:
    """Unsaved rows for lists of any length; one in fifty breaks L5 and has a rare note."""
    now = timezone.now()
    for n in range(count):
        rare = n % 50 == 0
        yield Run(
            status="ended",
            agent=("copilot", "codex", "reference")[n % 3],
            version=f"1.0.{n % 90}",
            scenario=("sse-cut", "success", "stall")[n % 3],
            outcome="completed" if n % 2 else "model-request-failed",
            diagnosis="healthy" if n % 2 else "cut_stream_false_completion",
            broken=" L2 L5 " if rare else "",
            notes="a needle" if rare else "",
            created_at=now - timedelta(minutes=count - n),
            snapshot={"guards": {"deadline": 180}, "question": "x" * 300},
        )
