"""A long history as twenty sub-agents would write it: calls, tools, answers, states, samples."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.utils import timezone

from runs import pictures, report, store
from runs.models import Event, Run

AGENTS = 20
STEP = 0.01


def run_of(count: int, *, ended: bool = True) -> Run:
    """A stored run of `count` events; an ended one has its summary and its timeline kept."""
    started = timezone.now() - timedelta(seconds=count * STEP)
    run = Run.objects.create(
        agent="reference",
        version="1",
        scenario="sse-cut",
        status=Run.Status.ENDED if ended else Run.Status.RUNNING,
        permalink=secrets.token_hex(8),
        started_at=started,
        heartbeat_at=timezone.now() + timedelta(hours=1),  # nobody shall reap it meanwhile
        ended_at=timezone.now() if ended else None,
        event_count=count,
        diagnosis="healthy" if ended else "",
        outcome="completed" if ended else "",
    )
    if count:
        Event.objects.bulk_create(story(run, count), batch_size=500)
    if ended:
        run.summary = report.summary(run, store.history(run))
        run.save()
        pictures.prepare(run)
    return run


def story(run: Run, count: int) -> Iterator[Event]:
    """`count` unsaved events in the order of their numbers."""
    for seq, (kind, agent, source, data) in enumerate(_told(), 1):
        row = Event(run=run, seq=seq, t=seq * STEP, kind=kind, agent=agent, source=source)
        row.file, row.line, row.data = f"{source}.jsonl", seq, data
        yield row
        if seq == count:
            return


def _told() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    yield "process.started", "", "process", {"pid": 4242, "argv": ["agent"]}
    for number in range(AGENTS):
        name = f"worker-{number}"
        yield "agent.started", name, "session", {"name": name, "parent": "root"}
    turn = 0
    while True:
        turn += 1
        which = turn % AGENTS
        agent, cut = f"worker-{which}", turn % 7 == 0
        call = {"caller": f"child:{which + 1}", "call": turn, "attempt": 1, "request": f"r{turn}"}
        yield "request.received", agent, "provider", {**call, "bytes": 20_000, "model": "m"}
        yield "response.started", agent, "provider", {**call, "status": 200}
        if cut:
            yield "fault.fired", agent, "provider", {**call, "fault": "sse-cut"}
        closed = "cut" if cut else "ended"
        ended = {"status": 200, "complete": not cut, "closed": closed, "bytes": 900, "events": 9}
        yield "request.ended", agent, "provider", call | ended
        yield "tool.started", agent, "session", {"call": f"t{turn}", "tool": "read_file"}
        yield "tool.ended", agent, "session", {"call": f"t{turn}", "ok": turn % 5 != 0}
        yield "message.agent", agent, "session", {"text_length": 80, "preview": "Done with it."}
        status = "waiting" if turn % 2 else "running"
        yield "session.status", "root", "session", {"status": status, "raw": status}
        yield "process.sample", "", "process", {"rss": (200 + turn % 90) << 20, "cpu": 20.0}
