"""L12: after its end an agent does nothing until a new run begins."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from runs.core.agents import Run
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.words import plural

SLACK = 0.5
"""Seconds by which records of one moment may be out of order."""
LAG = 3.0
"""Seconds by which a view that is stamped when it is read may lag behind another."""
_WORK = (
    Kind.TOOL_STARTED,
    Kind.AGENT_MESSAGE,
    Kind.DELTA,
    Kind.MODEL_STARTED,
    Kind.TURN_STARTED,
    Kind.SPAWN_REQUESTED,
)

_SPANS = frozenset({"chat", "execute_tool"})
_STEPS = (Kind.AGENT_MESSAGE, Kind.TOOL_STARTED, Kind.TOOL_ENDED)


_WORDS = frozenset({Kind.AGENT_MESSAGE, Kind.DELTA})


class NothingAfterEnd(Law):
    """Looks for work of a run behind its terminal."""

    id = "L12"
    name = "NOTHING-AFTER-END"
    sentence = (
        "After a terminal an agent produces no request, tool or message until an explicit new run "
        "starts."
    )
    why = "Who still works after the end has ended too early; who wakes later is a zombie."
    detected = (
        "Messages, tool calls and provider requests of a run later than its terminal, with no "
        "resume or message to it between. Tools that were open at the terminal may still end."
    )
    needs = "The child's own records, or the provider's log, beside its terminal."
    labels = ("premature_terminal", "zombie")
    follows = ("L1", "L3", "L13")

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        for run in history.runs:
            if run.ends:
                yield self._judge(history, run)

    def _judge(self, history: History, run: Run) -> Finding:
        end = _surest(history, run)
        late = _work_after(history, run, end)
        if _went_on(history, run, end, late):
            return self.unknown(run.agent, "It was made to go on, and stopped again.", end)
        if history.seen_only_in(run.agent, "hooks", "trace") and not (late and history.complete):
            return self.unknown(run.agent, "What it does is not to be seen in these views.")
        if not late:
            return self.holds(run.agent, "Nothing of it follows its terminal.", end)
        since = history.time(late[0]) - history.time(end)
        busy = _was_busy(history, run, end)
        return self.broken(
            run.agent,
            f"{plural(len(late), 'record')} of it after its terminal, "
            f"the first {since:.1f} s later"
            + (", while a call, tool or job of it was open." if busy else "."),
            end,
            *late[:3],
            label="premature_terminal" if busy else "zombie",
            records=len(late),
            since=round(since, 3),
        )


def _went_on(history: History, run: Run, end: Event, late: list[Event]) -> bool:
    """Whether a later record of the terminal's own name, which ends no run, says that the first
    one was none: a hook made it go on."""
    return bool(late) and any(
        event.kind is Kind.OTHER
        and event.native == end.native
        and history.place(event) > history.place(late[0])
        for event in history.events_of(run)
    )


def _surest(history: History, run: Run) -> Event:
    """The first terminal of a file with times of its own, else the first of all."""
    sure = [event for event in run.ends if event.file not in history.rough]
    return (sure or run.ends)[0]


def _work_after(history: History, run: Run, end: Event) -> list[Event]:
    kinds = set(_WORK) - (_WORDS if _had_its_words(history, run, end) else set())
    found = [event for event in history.events_of(run) if event.kind in kinds]
    if history.clocks_agree:
        found += [
            attempt.received or attempt.event
            for call in history.calls_of(run.agent, run)
            for attempt in call.attempts
        ]
    by: dict[int, float] = {}
    late = []
    for event in found:
        own = _end_for(history, run, event, end)
        if not _is_later(history, event, own):
            continue
        if own.seq not in by:
            by[own.seq] = _surely_by(history, own)
        if event.file == own.file or history.time(event) > by[own.seq]:
            late.append(event)
    late += [event for event in history.events_of(run) if _begins_later(history, event, end)]
    return sorted({event.seq: event for event in late}.values(), key=history.place)


def _begins_later(history: History, event: Event, end: Event) -> bool:
    """Whether it is the span of a call or a tool that began after the end; it stands at its own."""
    if event.kind is not Kind.SPAN or event.get("op") not in _SPANS or not history.timed:
        return False
    start, stop = event.get("start"), event.get("end")
    lasted = stop - start if start is not None and stop is not None else 0.0
    return history.time(event) - lasted > history.time(end) + SLACK


def _had_its_words(history: History, run: Run, end: Event) -> bool:
    """Whether its model had said all by then: words that a view shows later are an echo."""
    if not history.clocks_agree:
        return False
    tries = [one for call in history.calls_of(run.agent, run) for one in call.attempts]
    over = history.time(end) + SLACK
    return bool(tries) and all(one.end is not None and one.end <= over for one in tries)


def _end_for(history: History, run: Run, event: Event, end: Event) -> Event:
    """The terminal of the event's own file, where that file only lags a little behind."""
    for own in run.ends:
        if own.file == event.file and history.time(own) - history.time(end) <= LAG:
            return own
    return end


def _is_later(history: History, event: Event, end: Event) -> bool:
    if history.place(event) <= history.place(end):
        return False
    if event.file == end.file and end.file in history.rough:
        return True
    if {event.file, end.file} & history.rough:
        return False
    return not history.timed or history.time(event) - history.time(end) > SLACK


def _surely_by(history: History, end: Event) -> float:
    """The time by which it was written: of a record that shares the time of the one before it,
    as those do that have none of their own, that of the next record of its file."""
    at, own = history.time(end), history.in_file(end.file)
    place = bisect_left(own, history.place(end), key=history.place)
    if place == 0 or history.time(own[place - 1]) != at:
        return at
    later = bisect_right(own, at, key=history.time)
    return history.time(own[later]) if later < len(own) else at


def _was_busy(history: History, run: Run, end: Event) -> bool:
    """Whether a model call or a tool of the run was open when its terminal was written, or its
    own log stood between a tool and the next answer."""
    at = history.time(end)
    for call in history.calls_of(run.agent, run):
        if call.attempts[0].start < at and (call.last.end is None or call.last.end > at + SLACK):
            return True
    for one in history.tools.get(run.agent, ()):
        begun = history.place(one.start) < history.place(end)
        # A job in the background goes on when the call that began it is answered.
        over = one.end is not None and history.place(one.end) < history.place(end)
        if begun and (not over or one.start.get("background")):
            return True
    own = [
        event
        for event in history.events_of(run)
        if event.kind in _STEPS and event.source == "session"
    ]
    own = [event for event in own if history.place(event) < history.place(end)]
    return bool(own) and (own[-1].kind is Kind.TOOL_ENDED or own[-1].get("final") is False)


LAW = NothingAfterEnd()
