"""L5: an open run makes progress within a bound, or is ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runs.core.agents import Agent, Run
from runs.core.covered import Covered
from runs.core.ends import never_ran
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds, Verdict

_CONTENT = (
    Kind.AGENT_MESSAGE,
    Kind.TOOL_STARTED,
    Kind.TOOL_ENDED,
    Kind.AGENT_STARTED,
    Kind.AGENT_RESUMED,
    Kind.TURN_STARTED,
    Kind.SPAWN_REQUESTED,
    Kind.SPAWN_ANSWERED,
    Kind.NOTICE_DELIVERED,
    Kind.QUESTION_ANSWERED,
    Kind.USER_MESSAGE,
)
_BAD_ENDS = ("failed", "cancelled", "interrupted", "stopped")


class BoundedSilence(Law):
    """Measures the longest stretch without content; its clock stands while something is open."""

    id = "L5"
    name = "BOUNDED-SILENCE"
    sentence = (
        "An open run with no open tool and no question makes content progress within T, "
        "or is ended as failed or timed out."
    )
    why = "A child that waits for ever on a dead stream holds its parent for ever as well."
    detected = (
        "Time since the run's last content, with the clock standing while a tool, a question or a "
        "child is open. Content counts, not bytes: keep-alives and failed attempts are silence."
    )
    needs = "Times, and the child's own records or the provider's log."
    labels = ("stall",)
    follows = ("L1", "L3", "L16", "L4", "L7")
    parameters = ("stall_after",)

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        for agent in history.children:
            for run in agent.runs:
                yield self._judge(history, run, thresholds.stall_after)
        yield from self._root(history, thresholds.stall_after)

    def _judge(self, history: History, run: Run, limit: float) -> Finding:
        if not history.timed or run.start is None:
            return self.unknown(run.agent, "There are no times to measure by.")
        if never_ran(history, history.agents[run.agent]):
            return self.unknown(run.agent, "It never made a model call; see L15.")
        marks = _progress(history, run)
        if not marks or (len(marks) < 2 and not history.calls_of(run.agent, run)):
            return self.unknown(run.agent, "What it did is not to be seen.")
        return self._measure(history, run.agent, marks, run.end, limit, run.start)

    def _root(self, history: History, limit: float) -> Iterable[Finding]:
        """The agent at the top is judged inside its turns; between them it waits for a person."""
        agent = history.agents.get(history.root)
        if agent is None or not history.timed:
            return
        yield from self._broken_off(history, agent, limit)
        turns = [
            event for event in agent.events if event.kind in (Kind.TURN_STARTED, Kind.TURN_ENDED)
        ]
        if not turns:
            return
        start, over = turns[-1], turns[-1].kind is Kind.TURN_ENDED
        if over and not _says_that_it_works(history, start):
            return
        marks = [
            event
            for event in history.after(start, *_CONTENT, Kind.DELTA)
            if event.agent == agent.id and event.kind is not Kind.USER_MESSAGE  # asks, is no word
        ]
        found = self._measure(history, agent.id, [start, *marks], None, limit)
        if not over or found.verdict is Verdict.BROKEN:
            yield found

    def _broken_off(self, history: History, agent: Agent, limit: float) -> Iterable[Finding]:
        """Its turns before the last one, where they gave no answer; the longest of the silent."""
        busy = _busy(history, agent.id)
        found = [
            (_silence(history, history.time(last), history.time(over), busy), last, over)
            for last, over in _without_answer(agent)
        ]
        worst = max(found, key=lambda one: one[0], default=None)
        if worst is not None and worst[0] > limit:
            silent, last, over = worst
            yield self.broken(
                agent.id,
                f"A turn of it was over after {silent:.0f} s without content (limit {limit:.0f} s) "
                f"and without an answer, with no tool, question or child open.",
                last,
                over,
                label="stall",
                silence=round(silent, 3),
                limit=limit,
            )

    def _measure(
        self,
        history: History,
        agent: str,
        marks: Sequence[Event],
        end: Event | None,
        limit: float,
        begun: Event | None = None,
    ) -> Finding:
        busy = _busy(history, agent)
        streams = any(event.kind is Kind.DELTA for event in marks)
        points = [*marks, *([end] if end is not None else [])]
        stretches: list[tuple[Event, float]] = []
        for before, after in zip(points, points[1:], strict=False):
            if after is end and (not _ends_badly(after) or _gave_answer(before)):
                continue
            shown = streams and (history.complete or before.file == after.file)
            if after is not end and not shown:
                continue  # it went on; what streamed meanwhile is not to be seen here
            stretches.append((before, history.time(after)))
        if end is None and not _gave_answer(points[-1]):
            stretches.append((points[-1], _seen_until(history, agent)))
        worst, at = 0.0, marks[0]
        for before, until in stretches:
            start = history.time(before)
            if until - start > worst:
                silence = _silence(history, start, until, busy)
                if silence > worst:
                    worst, at = silence, before
        if worst > limit:
            return self.broken(
                agent,
                f"No content for {worst:.0f} s (limit {limit:.0f} s) with no tool, question or "
                f"child open.",
                begun,
                at,
                end or history.end_record,
                label="stall",
                silence=round(worst, 3),
                limit=limit,
            )
        if end is None and not history.complete:
            return self.unknown(agent, f"Silent for {worst:.0f} s of {limit:.0f} s so far.")
        return self.holds(
            agent,
            f"Its longest silence was {worst:.0f} s of {limit:.0f} s.",
            silence=round(worst, 3),
        )


def _says_that_it_works(history: History, end: Event) -> bool:
    """Whether the status of the one at the top stays at running although its turn has ended, in
    a file that says of others when they rest."""
    told = [event for event in history.of(Kind.STATUS) if event.file == end.file]
    mine = [event for event in told if event.agent == history.root and not event.get("inferred")]
    rests = any(event.get("status") in ("idle", "ended", "failed") for event in told)
    return rests and bool(mine) and mine[-1].get("status") == "running"


def _without_answer(agent: Agent) -> Iterable[tuple[Event, Event]]:
    """The last content of each turn that was over without an answer, and what ended it: its end,
    the next turn, or, in a log that shows no turns, somebody who interrupts what it was asked.
    """
    shows = any(event.kind is Kind.TURN_STARTED for event in agent.events)
    last: Event | None = None
    for event in agent.events:
        ends = event.kind in (Kind.TURN_STARTED, Kind.TURN_ENDED) if shows else _interrupts(event)
        if ends:
            if last is not None and not _gave_answer(last) and event.get("status") != "completed":
                yield last, event
            last = event if event.kind is Kind.TURN_STARTED else None
        elif event.kind is Kind.AGENT_MESSAGE and event.get("final") is None and not shows:
            last = None  # whether that was an answer is not to be seen
        elif _is_content(event) and (last is not None or not shows):
            asks = event.kind is Kind.USER_MESSAGE and shows
            last = last if asks else event


def _interrupts(event: Event) -> bool:
    return event.kind is Kind.ABORTED and event.get("by") == "user"


def _progress(history: History, run: Run) -> list[Event]:
    """The run's content, in order: its own records, and whole answers of the provider."""
    own = [event for event in history.events_of(run) if _is_content(event)]
    answers = [
        call.last.ended
        for call in history.calls_of(run.agent, run)
        if call.last.complete and call.last.ended is not None
    ]
    marks = sorted({event.seq: event for event in [*own, *answers]}.values(), key=history.place)
    if run.start is not None and run.start not in marks:
        marks.insert(0, run.start)
    if run.end is not None:
        limit = history.place(run.end)
        marks = [event for event in marks if history.place(event) < limit]
    return marks


def _is_content(event: Event) -> bool:
    if event.kind is Kind.DELTA:
        return bool(event.get("text_length", 1))
    if event.kind is Kind.AGENT_MESSAGE:
        return not event.get("error")
    return event.kind in _CONTENT


def _seen_until(history: History, agent: str) -> float:
    """Until when its silence is one: where files are cut, to the end of those that show it."""
    if history.complete:
        return history.end
    files = history.files_of(agent)
    last = [history.time(event) for file in files for event in history.in_file(file)[-1:]]
    return max(last, default=history.end)


def _ends_badly(end: Event) -> bool:
    """Whether a terminal is none of success; of a hook each end is a stop."""
    stopped = end.source == "hooks" and end.get("status") == "stopped"
    return end.get("status") in _BAD_ENDS and not stopped


def _gave_answer(event: Event) -> bool:
    """Whether it is a final answer: who has given that is not stalled, only without an end (L1)."""
    return event.kind is Kind.AGENT_MESSAGE and bool(event.get("final"))


def _busy(history: History, agent: str) -> Covered:
    """When a tool, a question or a child of the agent was open."""
    busy = [
        (history.time(one.start), history.time(one.end) if one.end is not None else history.end)
        for one in [*history.tools.get(agent, ()), *history.questions.get(agent, ())]
    ]
    for child in history.children_of(agent):
        for run in child.runs:
            if run.start is not None:
                stop = history.time(run.end) if run.end is not None else history.end
                busy.append((history.time(run.start), stop))
    return Covered(busy)


def _silence(history: History, start: float, end: float, busy: Covered) -> float:
    """Seconds from `start` to `end` in which nothing was open, and the process ran (see L8)."""
    gaps = busy.gaps(start, end)
    return sum(stop - begin - history.restarts.within(begin, stop) for begin, stop in gaps)


LAW = BoundedSilence()
