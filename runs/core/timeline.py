"""The picture of a run as data: lanes with bars, marks and gaps. No pixels here.

Lanes stand in this order: process, the product's parts where it has several,
session.status of the agent at the top, then each agent with its callers' attempts
below it, children under their parents, and the findings. Long lanes are thinned
(each says how many of how many it shows); nothing is dropped silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from runs.core.agents import Agent
from runs.core.events import ROOT, Event, Kind
from runs.core.history import History
from runs.core.lanes import bar_of, caller_lanes, lane_of, mark_of, part_lanes
from runs.core.law import Finding, Verdict
from runs.core.lifecycle import steps
from runs.core.order import Interval
from runs.core.thin import samples, thin_bars, thin_gaps, thin_marks

LANE_LIMIT = 1500
"""How many bars, and how many marks, one lane shows before neighbours are merged."""
ALL_LANES = 8000
"""How many bars, and how many marks, all lanes show together; each gets its share."""
LANE_LEAST = 100

_TONES = {"completed": "ok", "failed": "bad", "cancelled": "bad", "interrupted": "bad"}
_STATUS_TONES = {
    "starting": "wait",
    "running": "run",
    "waiting": "wait",
    "retrying": "bad",
    "idle": "ok",
    "failed": "bad",
    "ended": "ok",
}
_MARKS: dict[Kind, tuple[str, str]] = {
    Kind.SPAWN_REQUESTED: ("spawn", "run"),
    Kind.AGENT_RESUMED: ("resumed", "run"),
    Kind.AGENT_ENDED: ("terminal", "ok"),
    Kind.NOTICE_DELIVERED: ("told", "ok"),
    Kind.NOTICE_QUEUED: ("queued", "wait"),
    Kind.ERROR: ("error", "bad"),
    Kind.MODEL_RETRY: ("retry", "bad"),
    Kind.USER_MESSAGE: ("message", "run"),
    Kind.AGENT_MESSAGE: ("answer", "ok"),
    Kind.CANCEL_REQUESTED: ("cancel", "wait"),
    Kind.ABORTED: ("abort", "bad"),
    Kind.QUESTION_SHOWN: ("asked", "wait"),
    Kind.WATCHDOG: ("watchdog", "bad"),
    Kind.MODEL_CHANGED: ("model", "unknown"),
    Kind.RESULT: ("result", "ok"),
    Kind.SESSION_ENDED: ("end", "ok"),
    Kind.SESSION_RESUMED: ("resume", "run"),
}
_PROCESS_MARKS = (Kind.PHASE, Kind.GUARD, Kind.NETWORK_ATTEMPT, Kind.DAMAGE, Kind.CAPTURE_ENDED)


def timeline(
    history: History, findings: Iterable[Finding] = (), *, limit: int = LANE_LIMIT
) -> dict[str, Any]:
    """The lanes of `history`, with the broken among `findings` as marks. Times in seconds.

    A bar whose `end` is None was still open when the record stops.
    """
    lanes = [_process_lane(history), *part_lanes(history), _status_lane(history)]
    for agent in history.in_order:
        lanes.append(_agent_lane(history, agent))
        lanes.extend(caller_lanes(history, agent.id, agent.depth + 1))
    lanes.extend(caller_lanes(history, "", 0))
    lanes.append(_findings_lane(history, findings))
    shown = [lane for lane in lanes if lane["bars"] or lane["marks"] or lane["kind"] == "agent"]
    limit = max(LANE_LEAST, min(limit, ALL_LANES // max(len(shown), 1)))
    return {
        "duration": history.end,
        "ended": history.complete,
        "lanes": [_thinned(lane, limit) for lane in shown],
        "samples": samples(history.of(Kind.PROCESS_SAMPLE), history),
    }


def _process_lane(history: History) -> dict[str, Any]:
    lane = lane_of("process", "process", "process")
    started = history.of(Kind.PROCESS_STARTED)
    exited = history.of(Kind.PROCESS_EXITED)
    if started:
        end = exited[-1] if exited else None
        code = end.get("code") if end else None
        tone = "run" if end is None else "ok" if code == 0 else "bad"
        label = "running" if end is None else f"exit {code}"
        lane["bars"].append(
            bar_of(
                history.time(started[0]),
                history.time(end) if end else None,
                "process",
                label,
                tone,
                started[0].seq,
                end.seq if end else None,
            )
        )
    elif exited:
        code = exited[-1].get("code")
        tone = "ok" if code == 0 else "bad"
        at = history.time(exited[-1])
        lane["marks"].append(mark_of(at, "exit", f"exit {code}", tone, exited[-1].seq))
    for event in history.of(*_PROCESS_MARKS):
        tone = "bad" if event.kind in (Kind.GUARD, Kind.DAMAGE) else "unknown"
        lane["marks"].append(
            mark_of(history.time(event), event.kind.value, _label(event), tone, event.seq)
        )
    return lane


def _label(event: Event) -> str:
    for key in ("phase", "guard", "what", "host", "status", "form", "error_class", "reason", "to"):
        if event.get(key):
            return str(event.get(key))
    return event.native or event.kind.value


def _status_lane(history: History) -> dict[str, Any]:
    """The band of session.status of the agent at the top."""
    lane = lane_of("status", "session.status", "status", agent=history.root)
    mine = [event for event in history.of(Kind.STATUS) if event.agent in (history.root, "")]
    for event, later in zip(mine, [*mine[1:], None], strict=False):
        word = str(event.get("status") or "")
        end = history.time(later) if later else (history.end if history.complete else None)
        lane["bars"].append(
            bar_of(
                history.time(event),
                end,
                word,
                word + (" (inferred)" if event.get("inferred") else ""),
                _STATUS_TONES.get(word, "unknown"),
                event.seq,
                later.seq if later else None,
                str(event.get("raw") or ""),
            )
        )
    for step in steps(mine):
        if not step.legal:
            label = f"{step.before} → {step.after}"
            at = history.time(step.event)
            lane["marks"].append(mark_of(at, "step", label, "unknown", step.event.seq))
    return lane


def _agent_lane(history: History, agent: Agent) -> dict[str, Any]:
    label = agent.name or (ROOT if agent.id == history.root else agent.id)
    lane = lane_of(
        f"agent:{agent.id}",
        label,
        "agent",
        parent=f"agent:{agent.parent}" if agent.parent else None,
        depth=agent.depth,
        agent=agent.id,
    )
    lane["bars"].extend(_run_bars(history, agent))
    lane["bars"].extend(_interval_bars(history, history.tools.get(agent.id, ()), "tool"))
    lane["bars"].extend(_interval_bars(history, history.questions.get(agent.id, ()), "question"))
    for event in agent.events:
        if event.kind in _MARKS:
            kind, tone = _MARKS[event.kind]
            tone = _tone_of(event, tone)
            lane["marks"].append(mark_of(history.time(event), kind, _label(event), tone, event.seq))
    return lane


def _tone_of(event: Event, default: str) -> str:
    if event.kind in (Kind.AGENT_ENDED, Kind.NOTICE_DELIVERED, Kind.RESULT):
        return _TONES.get(str(event.get("status")), "unknown")
    if event.get("error"):
        return "bad"
    return default


def _run_bars(history: History, agent: Agent) -> list[dict[str, Any]]:
    if agent.id == history.root and not agent.runs and agent.events:
        first = agent.events[0]
        stop = history.end if history.complete else None
        return [bar_of(history.time(first), stop, "session", "session", "run", first.seq)]
    bars = []
    for run in agent.runs:
        begin, end = run.start or run.end, run.end
        if begin is None:
            continue
        bars.append(
            bar_of(
                history.time(begin),
                history.time(end) if end else None,
                "run",
                run.status or "open",
                _TONES.get(run.status, "run" if end is None else "unknown"),
                begin.seq,
                end.seq if end else None,
                f"run {run.number}" if len(agent.runs) > 1 else "",
            )
        )
    return bars


def _interval_bars(
    history: History, intervals: Sequence[Interval], kind: str
) -> list[dict[str, Any]]:
    return [
        bar_of(
            history.time(one.start),
            history.time(one.end) if one.end else None,
            kind,
            str(one.start.get("tool") or one.start.get("what") or kind),
            "bad" if one.end and one.end.get("ok") is False else "wait",
            one.start.seq,
            one.end.seq if one.end else None,
        )
        for one in intervals
    ]


def _findings_lane(history: History, findings: Iterable[Finding]) -> dict[str, Any]:
    lane = lane_of("findings", "findings", "findings")
    events = {event.seq: event for event in history.events}
    for finding in findings:
        if finding.verdict is not Verdict.BROKEN:
            continue
        known = [events[one.seq] for one in finding.evidence if one.seq in events]
        at = history.time(known[-1]) if known else history.end
        seq = known[-1].seq if known else 0
        lane["marks"].append(mark_of(at, "finding", finding.law, "bad", seq))
    lane["marks"].sort(key=lambda mark: mark["t"])
    return lane


def _thinned(lane: dict[str, Any], limit: int) -> dict[str, Any]:
    count = len(lane["bars"]) + len(lane["marks"])
    lane["bars"] = thin_bars(lane["bars"], limit)
    lane["marks"] = thin_marks(lane["marks"], limit)
    lane["gaps"] = thin_gaps(lane["gaps"], limit)
    lane["of"] = count
    lane["shown"] = len(lane["bars"]) + len(lane["marks"])
    return lane
