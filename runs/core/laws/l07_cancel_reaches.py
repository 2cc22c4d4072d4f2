"""L7: a cancel reaches its whole target, and nobody else."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.agents import Run
from runs.core.cancels import asked_to_cancel, first_request, reaches
from runs.core.ends import last_call
from runs.core.events import Event, Kind
from runs.core.history import SKEW, History
from runs.core.law import Finding, Law, Thresholds
from runs.words import plural

RACE = 2.0
"""Seconds in which a run may still end by itself, or send what it had begun, after a cancel."""
_CANCELLED = frozenset({"cancelled", "interrupted", "stopped"})
_TURNS = frozenset({Kind.TURN_STARTED, Kind.TURN_ENDED, Kind.USER_MESSAGE})
_CONTROL = frozenset({"acp", "rpc", "process"})
"""Views that may show everything that a client asks for: see :func:`_sees_requests`."""


class CancelReaches(Law):
    """Follows each cancel down its subtree, and each cancelled run up to who asked for it."""

    id = "L7"
    name = "CANCEL-REACHES"
    sentence = (
        "A cancel ends its target and all descendants as “cancelled” within T, stops their "
        "provider traffic, and touches nobody else."
    )
    why = "A cancel that does not reach keeps spending; one that overreaches destroys good work."
    detected = (
        "After a cancel: runs of the subtree that stay open, end as something else, or still send "
        "requests. And runs that end as cancelled although nobody asked for it."
    )
    needs = (
        "The cancel requests: the client's traffic (ACP, JSON-RPC) or a run of ours. A log alone "
        "does not show who pressed a key."
    )
    labels = ("cancel_ignored", "cancel_overreach", "cancel_misnamed")
    follows = ("L10", "L3", "L12", "L1", "L16", "L8", "L5", "L4", "L13")
    parameters = ("cancel_within",)

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        requests = [one for one in history.of(Kind.CANCEL_REQUESTED) if one.source != "harness"]
        reached = False
        for run in history.runs:
            asked = first_request(history, run)
            if asked is not None:
                reached = True
                yield self._reached(history, run, asked, thresholds.cancel_within)
                continue
            survived = self._survived(history, run)
            if survived is not None:
                yield survived
            elif run.status in ("cancelled", "interrupted") or _beside(history, run):
                yield self._overreach(history, run)
        if not reached and history.timed:
            yield from self._root(history, requests)

    # Does it reach?

    def _reached(self, history: History, run: Run, asked: Event, limit: float) -> Finding:
        asked_at = history.time(asked)
        traffic = _traffic(history, run, asked_at + RACE)
        if traffic:
            return self.broken(
                run.agent,
                f"It went on {history.time(traffic[0]) - asked_at:.1f} s after the cancel.",
                asked,
                *traffic[:3],
                run.end,
                label="cancel_ignored",
            )
        if run.end is None:
            return self._still_open(history, run, asked, limit)
        took = history.time(run.end) - asked_at
        if history.timed and took > limit:
            return self.broken(
                run.agent,
                f"It ended {took:.1f} s after the cancel (limit {limit:.0f} s).",
                asked,
                run.end,
                label="cancel_ignored",
                took=round(took, 3),
                limit=limit,
            )
        stopped = _stopped(history, run, asked_at) if run.status == "completed" else None
        if stopped is not None:
            return self.broken(
                run.agent,
                "Its model call was given up at the cancel, and its terminal says completed.",
                asked,
                stopped,
                run.end,
                label="cancel_misnamed",
            )
        if run.status in _CANCELLED or (run.status == "completed" and took <= RACE):
            return self.holds(run.agent, f"The cancel reached it in {took:.1f} s.", asked, run.end)
        return self.broken(
            run.agent,
            f"It was cancelled, and its terminal says {run.status}.",
            asked,
            run.end,
            label="cancel_ignored" if run.status == "completed" else "cancel_misnamed",
        )

    def _root(self, history: History, requests: Iterable[Event]) -> Iterable[Finding]:
        """A person's cancel of the turn at the top, where it had nobody else to reach."""
        mine = [one for one in requests if one.get("target") in ("", history.root)]
        pressed = {one.seq for one in mine if one.get("by") == "user"}
        asked, until = None, 0.0  # of those of one turn the first
        begun: list[Event] = []
        for event in history.events if pressed else ():
            if event.seq in pressed:
                asked = asked or event
                until = history.time(asked) + RACE
            elif asked is None or event.agent != history.root:
                continue
            elif event.kind in _TURNS:
                yield self._top(history, asked, begun, event)
                asked, begun = None, []
            elif event.kind is Kind.TOOL_STARTED and history.time(event) > until:
                begun.append(event)

    def _top(self, history: History, asked: Event, begun: list[Event], over: Event) -> Finding:
        if begun:
            return self.broken(
                history.root,
                f"Its turn was cancelled, and it began {len(begun)} tool calls afterwards.",
                asked,
                *begun[:3],
                over,
                label="cancel_ignored",
            )
        took = history.time(over) - history.time(asked)
        if over.get("status") in _CANCELLED:
            return self.holds(history.root, f"The cancel ended its turn in {took:.1f} s.", asked)
        return self.unknown(history.root, "Its turn may have been over by itself.", asked, over)

    def _survived(self, history: History, run: Run) -> Finding | None:
        """An abort that the log ascribes to a person, and that the run worked on after."""
        for abort in history.of(Kind.ABORTED):
            if abort.get("by") != "user" or not abort.get("target"):
                continue
            if not reaches(history, abort, run):
                continue
            begun = _traffic(history, run, history.time(abort) + RACE)
            if begun and not history.between(abort, begun[0], Kind.AGENT_RESUMED):
                return self.broken(
                    run.agent,
                    f"A person aborted, and then began {plural(len(begun), 'call')}.",
                    abort,
                    *begun[:3],
                    run.end,
                    label="cancel_ignored",
                )
        return None

    def _still_open(self, history: History, run: Run, asked: Event, limit: float) -> Finding:
        since = history.end - history.time(asked)
        if not history.closed or (since < limit and not _over(history)):
            return self.unknown(run.agent, f"Still open {since:.1f} s after the cancel.", asked)
        return self.broken(
            run.agent,
            f"A cancel was asked for, and the run has no terminal {since:.1f} s later.",
            asked,
            run.start,
            history.end_record,
            label="cancel_ignored",
        )

    # Does it overreach?

    def _overreach(self, history: History, run: Run) -> Finding:
        end = run.ends[0]
        if _ends_with_session(history, end):
            return self.unknown(run.agent, "It ended with its session.", end)
        if history.between(run.start, end, Kind.SESSION_RESUMED):
            return self.unknown(run.agent, "A restart came between its start and its end.", end)
        beside = _beside(history, run)
        if not _sees_requests(history) and not beside:
            return self.unknown(
                run.agent, "Who asked for the cancel is not to be seen in this log.", end
            )
        if not history.complete and not beside and not _asked_after(history, end):
            return self.unknown(run.agent, "What was asked may be where the files are cut.", end)
        abort = [event for event in history.of(Kind.ABORTED) if history.precedes(event, end)]
        prompt = [
            event
            for event in history.of(Kind.USER_MESSAGE)
            if event.agent in ("", history.root)
            and abs(history.time(event) - history.time(end)) <= RACE
        ]
        claims = f", though an abort says “{abort[-1].get('reason')}”" if abort else ""
        return self.broken(
            run.agent,
            f"It ended as {run.status}, and nobody asked to cancel it{claims}.",
            *abort[-1:],
            *prompt,
            *beside,
            end,
            label="cancel_overreach",
        )


def _sees_requests(history: History) -> bool:
    """Whether what is not there was not asked: a run of ours, or traffic with the client's half."""
    if "process" in history.sources:
        return True
    return any(
        event.source in _CONTROL
        for event in history.of(Kind.USER_MESSAGE, Kind.CANCEL_REQUESTED)
        if event.get("from") == "client" or event.get("by") == "user"
    )


def _traffic(history: History, run: Run, since: float) -> list[Event]:
    """Requests and tool calls that the run began after `since`."""
    calls = history.calls_of(run.agent, run) if history.clocks_agree else []
    later = [call.attempts[0].event for call in calls if call.attempts[0].start > since]
    retried = [
        attempt.event for call in calls for attempt in call.attempts[1:] if attempt.start > since
    ]
    tools = [
        one.start
        for one in history.tools.get(run.agent, ())
        if history.time(one.start) > since and run is history.agents[run.agent].runs[-1]
    ]
    return sorted([*later, *retried, *tools], key=history.place)


def _stopped(history: History, run: Run, asked_at: float) -> Event | None:
    """The model call that the agent itself gave up when it was cancelled: it did not complete."""
    call = last_call(history, run) if history.clocks_agree else None
    if call is None or call.last.complete or call.last.closed != "client-gone":
        return None
    ended = call.last.end
    return call.last.ended if ended is not None and ended >= asked_at - SKEW else None


def _beside(history: History, run: Run) -> list[Event]:
    """A cancel of somebody else by name, a moment before: this log shows what is asked."""
    if run.status not in _CANCELLED or run.ends[0].source == "hooks" or not history.timed:
        return []  # of hooks each end is a stop
    if asked_to_cancel(history, run):
        return []
    return [
        one
        for one in history.of(Kind.CANCEL_REQUESTED)
        if one.get("target") in history.agents
        and one.get("target") != run.agent
        and 0 <= history.time(run.ends[0]) - history.time(one) <= RACE
    ][-1:]


def _asked_after(history: History, end: Event) -> bool:
    """Whether the view of what was asked goes on after that end."""
    return any(event.source in _CONTROL for event in history.after(end))


def _over(history: History) -> bool:
    return bool(history.of(Kind.SESSION_ENDED, Kind.PROCESS_EXITED))


def _ends_with_session(history: History, end: Event) -> bool:
    """Whether the end came with the end of everything, or by a guard or watchdog."""
    closing = (
        Kind.SESSION_ENDED,
        Kind.RESULT,
        Kind.GUARD,
        Kind.PROCESS_EXITED,
        Kind.WATCHDOG,
    )
    if history.cut_short is not None and history.precedes(history.cut_short, end):
        return True
    return any(
        abs(history.time(event) - history.time(end)) <= SKEW or history.precedes(event, end)
        for event in history.of(*closing)
    )


LAW = CancelReaches()
