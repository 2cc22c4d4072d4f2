"""What the tries of a model call show: given up or not, what they ignored, who was hit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise

from runs.core.agents import Run
from runs.core.attempts import Attempt, Call
from runs.core.cancels import asked_to_cancel
from runs.core.events import Event, Kind
from runs.core.history import SKEW, History
from runs.core.law import Thresholds

WAVE = 3
"""Agents that must be hit at once for a rate-limit wave."""


def given_up(history: History, agent: str, last: Event) -> bool:
    """Whether `agent` is seen to have ended by itself, completed or failed, after `last`.

    An end that somebody asked for, or that we made, proves nothing of the kind.
    """
    known = history.agents.get(agent)
    runs = reversed(known.runs) if known else ()  # the last one tells most often
    ends = chain(
        history.of(Kind.RESULT) if agent == history.root else (),
        (end for run in runs for end in _own_ends(history, run)),
    )
    ours = history.cut_short
    return any(
        history.precedes(last, end) and (ours is None or history.place(end) < history.place(ours))
        for end in ends
    )


def _own_ends(history: History, run: Run) -> list[Event]:
    """The terminals of a run that nobody asked for."""
    if not run.ends or asked_to_cancel(history, run):
        return []
    return [end for end in run.ends if end.get("status") in ("completed", "failed")]


def to_come(history: History, agent: str, call: Call) -> Event | None:
    """Word of `agent` that it would try once more, where we ended the run before it could."""
    if history.cut_short is None or call.last.open or call.last.end is None:
        return None
    since = call.last.end - SKEW
    words = [one for one in history.of(Kind.MODEL_RETRY) if one.agent == agent]
    return words[-1] if words and history.time(words[-1]) >= since else None


def asks_otherwise(attempt: Attempt, later: Attempt) -> bool:
    """Whether the later try is another request: in one piece instead of as a stream."""
    forms = [one.received.get("stream") for one in (attempt, later) if one.received]
    return forms in ([True, False], [False, True])


def events_of(call: Call) -> list[Event]:
    """Evidence: each attempt, of very many the first and the last twenty."""
    tries: Sequence[Attempt] = call.attempts
    if len(tries) > 40:
        tries = [*tries[:20], *tries[-20:]]
    return [attempt.event for attempt in tries]


def ignored(call: Call, limits: Thresholds) -> list[Attempt]:
    """Attempts whose Retry-After the next one did not wait for."""
    return [
        attempt
        for attempt, later in zip(call.attempts, call.attempts[1:], strict=False)
        if attempt.retry_after
        and later.gap_before is not None
        and _waited(attempt, later) < attempt.retry_after * (1 - limits.retry_after_slack)
    ]


def _waited(attempt: Attempt, later: Attempt) -> float:
    """Seconds between two tries, from the first one's head: there the wait stands, and on a busy
    host the end of the answer is noted well after it."""
    told = attempt.end if attempt.first_byte is None else attempt.first_byte
    return later.start - (attempt.start if told is None else told)


def wave(by_agent: Mapping[str, Sequence[Call]]) -> set[str]:
    """Agents that were refused for overload in one window with at least two others."""
    spans: dict[str, tuple[float, float]] = {}
    for agent, calls in by_agent.items():
        hits = [
            attempt
            for call in calls
            for attempt in call.attempts
            if attempt.http_status in (429, 503, 529)
        ]
        if len(hits) > 1:
            spans[agent] = (hits[0].start, hits[-1].start)
    return {
        agent
        for agent, (start, end) in spans.items()
        if sum(begin <= end and start <= stop for begin, stop in spans.values()) >= WAVE
    }


def crossed(call: Call) -> bool:
    """Whether a try begins while the one before is still answered: then they are no tries of one
    call, but calls of several who are not told apart. Who hangs up may be back before the end."""
    return any(
        before.end is not None and before.closed != "client-gone" and after.start < before.end
        for before, after in pairwise(call.attempts)
    )
