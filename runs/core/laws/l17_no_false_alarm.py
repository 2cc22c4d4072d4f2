"""L17: a watchdog leaves alone who is at work."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds

RECENT = 10.0
"""Seconds in which content counts as “still receives”, where the watchdog names no time."""


class NoFalseAlarm(Law):
    """Looks at what an agent was doing when a watchdog flagged or ended it."""

    id = "L17"
    name = "NO-FALSE-ALARM"
    sentence = (
        "A watchdog does not end or flag an agent that is inside a tool, waits for a live child, "
        "or still receives content."
    )
    why = "A false alarm kills exactly the work that takes longest."
    detected = "A watchdog's record while a tool, a question or a child of its target is open."
    needs = "The watchdog's record, and the tools, children and content of its target."
    labels = ("watchdog_false_alarm",)
    follows = ("L7", "L1", "L2", "L3", "L16", "L10")

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        for event in history.of(Kind.WATCHDOG):
            target = str(event.get("target") or event.agent or history.root)
            yield self._judge(history, event, target)

    def _judge(self, history: History, event: Event, target: str) -> Finding:
        busy = _open_at(history, target, event)
        if busy is not None:
            what, since = busy
            return self.broken(
                target,
                f"A watchdog {_did(event)} it while {what} was open "
                f"for {history.time(event) - history.time(since):.0f} s.",
                since,
                event,
                label="watchdog_false_alarm",
            )
        last = _last_content(history, target, event)
        if last is None:
            return self.unknown(target, "What it did before is not to be seen.", event)
        quiet = history.time(event) - history.time(last)
        if history.timed and quiet < _patience(event):
            return self.broken(
                target,
                f"A watchdog {_did(event)} it {quiet:.0f} s after its last content.",
                last,
                event,
                label="watchdog_false_alarm",
                quiet=round(quiet, 3),
            )
        return self.holds(target, f"It had been silent for {quiet:.0f} s.", last, event)


def _did(event: Event) -> str:
    """What the watchdog did, in a word; an agent may name the act instead."""
    word = str(event.get("action") or "flagged")
    return {"end": "ended", "abort": "aborted", "kill": "killed", "flag": "flagged"}.get(word, word)


def _patience(event: Event) -> float:
    """How long the watchdog says it waits, with a little slack; else what counts as recent."""
    after = event.get("after")
    return float(after) * 0.9 if isinstance(after, (int, float)) else RECENT


def _open_at(history: History, target: str, at: Event) -> tuple[str, Event] | None:
    here = history.place(at)
    for what, table in (("a tool", history.tools), ("a question", history.questions)):
        for one in table.get(target, ()):
            ended = one.end is not None and history.place(one.end) < here
            if history.place(one.start) < here and not ended:
                return what, one.start
    for run in history.open_runs(target, at):
        if run.start is not None:
            return f"its child {run.agent}", run.start
    return None


def _last_content(history: History, target: str, at: Event) -> Event | None:
    kinds = (Kind.AGENT_MESSAGE, Kind.DELTA, Kind.TOOL_ENDED, Kind.TURN_STARTED, Kind.AGENT_STARTED)
    found = [
        event
        for event in history.between(None, at, *kinds)
        if event.agent == target and event.get("text_length", 1)
    ]
    return found[-1] if found else None


LAW = NoFalseAlarm()
