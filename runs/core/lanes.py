"""The parts of a timeline's lanes, and the lanes of attempts with their gaps.

A gap is the wait between two attempts of one call: measured from the end of one
to the start of the next, beside the wait that the agent announced, if it did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runs.core.attempts import Attempt
from runs.core.claims import waits_before
from runs.core.events import Kind
from runs.core.history import History

GONE = ("killed", "stopped", "ended")
"""Words of a part that runs no more."""


def lane_of(name: str, label: str, kind: str, **more: Any) -> dict[str, Any]:
    """An empty lane; `kind` is status, agent, caller, process, part or findings."""
    lane: dict[str, Any] = {"id": name, "label": label, "kind": kind}
    lane |= {"parent": None, "depth": 0, "agent": "", "bars": [], "marks": [], "gaps": []}
    return lane | more


def bar_of(
    start: float,
    end: float | None,
    kind: str,
    label: str,
    tone: str,
    seq: int,
    end_seq: int | None = None,
    detail: str = "",
) -> dict[str, Any]:
    """An interval on a lane, in seconds; `end` None: still open."""
    return {
        "start": start,
        "end": end,
        "kind": kind,
        "label": label,
        "tone": tone,
        "seq": seq,
        "end_seq": end_seq,
        "detail": detail,
    }


def mark_of(t: float, kind: str, label: str, tone: str, seq: int) -> dict[str, Any]:
    """A moment on a lane, in seconds."""
    return {"t": t, "kind": kind, "label": label, "tone": tone, "seq": seq}


def part_lanes(history: History) -> list[dict[str, Any]]:
    """A lane for each part of the product (server, runner): its lives as bars, its words marks."""
    lanes: dict[str, dict[str, Any]] = {}
    for event in history.of(Kind.PART):
        name, status = str(event.get("part") or ""), str(event.get("status") or "")
        lane = lanes.setdefault(name, lane_of(f"part:{name}", name, "part"))
        at = history.time(event)
        if status == "started":
            lane["bars"].append(bar_of(at, None, "process", "running", "run", event.seq))
            continue
        tone = {"killed": "bad", "ended": "bad", "online": "ok"}.get(status, "unknown")
        lane["marks"].append(mark_of(at, "part", status, tone, event.seq))
        if status in GONE and lane["bars"]:
            lane["bars"][-1] |= {"end": at, "end_seq": event.seq, "label": status}
    return list(lanes.values())


def caller_lanes(history: History, agent: str, depth: int) -> list[dict[str, Any]]:
    """A lane of attempts for each caller that is this agent (empty: callers of nobody)."""
    found: dict[str, list[Attempt]] = {}
    for attempt in history.attempts_by_agent.get(agent, ()):
        found.setdefault(attempt.caller, []).append(attempt)
    waits = waits_before(history, agent) if found else {}
    return [_caller_lane(name, agent, mine, waits, depth) for name, mine in found.items()]


def _caller_lane(
    caller: str, agent: str, mine: Sequence[Attempt], waits: Mapping[int, float], depth: int
) -> dict[str, Any]:
    lane = lane_of(
        f"caller:{caller}",
        f"attempts of {caller}",
        "caller",
        parent=f"agent:{agent}" if agent else None,
        depth=depth,
        agent=agent,
    )
    before: Attempt | None = None
    for attempt in mine:
        if attempt.gap_before is not None and before is not None and before.end is not None:
            wait = waits.get(attempt.event.seq)
            lane["gaps"].append({"start": before.end, "end": attempt.start, "claimed": wait})
        lane["bars"].append(_attempt_bar(attempt))
        if attempt.fault:
            at = attempt.end if attempt.end is not None else attempt.start
            lane["marks"].append(mark_of(at, "fault", attempt.fault, "bad", attempt.event.seq))
        before = attempt
    return lane


def _attempt_bar(attempt: Attempt) -> dict[str, Any]:
    tone = "run" if attempt.open else "ok" if attempt.complete else "bad"
    words = [str(attempt.http_status or ""), "" if attempt.open else attempt.closed]
    return bar_of(
        attempt.start,
        None if attempt.open else attempt.end,
        "attempt",
        str(attempt.n),
        tone,
        (attempt.received or attempt.event).seq,
        attempt.ended.seq if attempt.ended else None,
        " ".join(word for word in words if word),
    )
