"""L3: the spawner is told of the end, once, in time, and truly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from runs.core.agents import PUSHED, TERMINAL, Run, tells_end
from runs.core.cancels import asked_to_cancel
from runs.core.ends import (
    RACE,
    failure_of,
    final_message,
    hidden_from,
    stopped_past_parent,
    was_done,
)
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.parts import missing
from runs.core.stopped import stopped_midway
from runs.core.untold import (
    Untold,
    had_failed,
    over_with,
)

_BLIND = ("hooks", "trace", "bus", "acp", "provider")
"""Views that never show what a parent is told."""
_ABORTED = frozenset({"cancelled", "interrupted", "stopped"})
_SENT = frozenset({"notification", "wake", "tool_result"})
_WORK = (Kind.AGENT_MESSAGE, Kind.TOOL_STARTED, Kind.TURN_STARTED, Kind.MODEL_STARTED)


class ToldOnce(Law):
    """Puts what the parent was told beside how the run really ended."""

    id = "L3"
    name = "TOLD-ONCE"
    sentence = (
        "The agent that spawned a run is told of its terminal exactly once, in bounded time, "
        "with the true status and the result or error."
    )
    why = "A parent that is not told waits for ever; one that is told wrongly builds on nothing."
    detected = (
        "Each terminal against the notices and tool results that reach the parent: none, late, "
        "twice, before it, or with another status than the run's true end."
    )
    needs = "The parent's log or stream. Hooks, traces and bus events do not show notices."
    labels = (
        "notice_lost",
        "notice_late",
        "duplicate_notice",
        "cut_stream_false_completion",
        "provider_error_false_completion",
        "told_wrong",
        "told_early",
        "result_dropped",
    )
    follows = ("L16",)
    parameters = ("notice_within",)

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        untold = Untold(history)
        for run in history.runs:
            if run.ends:
                yield self._judge(history, run, thresholds.notice_within, untold)

    def _judge(self, history: History, run: Run, limit: float, untold: Untold) -> Finding:
        notices = [note for note in run.notices if tells_end(note)]
        if not notices:
            return self._never(history, run, limit, untold)
        wrong = self._wrong(history, run, notices) or self._early(history, run, notices[0])
        if wrong is not None:
            return wrong
        twice = _repeated(history, notices)
        if twice:
            return self.broken(
                run.agent,
                f"The parent was notified {len(twice)} times of one end.",
                *twice,
                label="duplicate_notice",
                notices=len(twice),
            )
        waited = untold.seconds(run, notices[0])
        if waited > limit:
            return self.broken(
                run.agent,
                f"The parent was told {waited:.1f} s after the end (limit {limit:.0f} s), "
                "what it was busy with not counted.",
                over_with(history, run),
                run.end,
                notices[0],
                label="notice_late",
                waited=round(waited, 3),
                limit=limit,
            )
        if all(note.get("status") == "unknown" for note in notices):
            return self.unknown(run.agent, "What exactly it was told is not to be seen.", *notices)
        if history.seen_only_in(run.agent, "hooks", "trace"):
            return self.unknown(run.agent, "How the run really ended is not to be seen.", *notices)
        return self.holds(
            run.agent, "The parent was told once, in time, and truly.", run.end, notices[0]
        )

    # Never told

    def _never(self, history: History, run: Run, limit: float, untold: Untold) -> Finding:
        unseen = _cannot_see(history, run, untold)
        if unseen:
            return self.unknown(run.agent, unseen, run.end)
        queued = run.queued[-1] if run.queued else None
        since = history.end - history.time(queued or run.ends[0])
        over = history.of(Kind.SESSION_ENDED, Kind.PROCESS_EXITED, Kind.RESULT)
        if since <= limit and not over:
            return self.unknown(
                run.agent, f"The log ends {since:.1f} s after the end; word may still come."
            )
        what = "Word of its end was queued and never delivered" if queued else "Nobody was told"
        was = "was " if run.status in _ABORTED else ""
        return self.broken(
            run.agent,
            f"{what}: it {was}{run.status}, and the log goes on for {since:.1f} s.",
            queued,
            final_message(history, run),
            *run.ends,
            history.end_record,
            label="notice_lost",
            waited=round(since, 3),
        )

    # Told wrongly

    def _wrong(self, history: History, run: Run, notices: list[Event]) -> Finding | None:
        words = {str(note.get("status")) for note in notices} - {"unknown"}
        if words - {"idle"}:
            words -= {"idle"}
        failure = failure_of(history, run)
        failed = failure is not None or run.status == "failed"
        cited = [run.ends[0], failure.event if failure else None]
        lies = [note for note in notices if note.get("status") in words & {"completed", "idle"}]
        true = [note for note in notices if note.get("status") in ("failed", *_ABORTED)]
        if failed and lies:
            also = f" as well as “{true[0].get('status')}”" if true else ""
            return self.broken(
                run.agent,
                f"It failed, and its parent was told “{lies[0].get('status')}”{also}.",
                *lies,
                *true[:1],
                *cited,
                label="provider_error_false_completion"
                if failure is not None and failure.by_provider
                else "cut_stream_false_completion",
                told=lies[0].get("status"),
            )
        abort = stopped_midway(history, run)
        if abort is not None and lies and not true:
            why = f"It was stopped at work, and its parent was told “{lies[0].get('status')}”."
            return self.broken(run.agent, why, *lies, abort, run.ends[0], label="told_wrong")
        if run.status == "completed" and not failed and words and not words & {"completed", "idle"}:
            if words <= _ABORTED and asked_to_cancel(history, run):
                return None  # Its parent knows it better than its terminal: that is L7's.
            note = next(one for one in notices if one.get("status") in words)
            return self.broken(
                run.agent,
                f"It completed, and its parent was told “{note.get('status')}”.",
                note,
                *cited,
                label="told_wrong",
            )
        answer = was_done(history, run)
        if answer is not None and words and words <= _ABORTED | {"failed"}:
            return self.broken(
                run.agent,
                f"It had given its whole answer, and its parent was told “{sorted(words)[0]}”.",
                *notices,
                answer,
                run.end,
                label="told_wrong",
            )
        return self._dropped(history, run, notices, failed)

    def _early(self, history: History, run: Run, note: Event) -> Finding | None:
        """The runtime told its end while the run still worked, and went on to work."""
        if note.get("form") not in _SENT or note.get("status") not in ("completed", "idle"):
            return None
        ahead = history.time(run.ends[0]) - history.time(note)
        later = [
            event
            for event in history.events_of(run)
            if event.kind in _WORK
            and history.place(note) < history.place(event) < history.place(run.ends[0])
        ]
        if ahead <= RACE or not later:
            return None
        return self.broken(
            run.agent,
            f"Its parent was told “{note.get('status')}” {ahead:.1f} s before it ended, "
            f"while it went on.",
            run.start,
            note,
            later[0],
            run.end,
            label="told_early",
            ahead=round(ahead, 3),
        )

    def _dropped(
        self, history: History, run: Run, notices: list[Event], failed: bool
    ) -> Finding | None:
        """The status is right, and the result or the error that belongs to it is missing."""
        if any(note.get("has_result") or note.get("text_length") for note in notices):
            return None
        if failed and any(note.get("error_passed") for note in notices):
            return None
        empty = [
            note
            for note in notices
            if note.get("error_passed") is False
            or (not failed and (note.get("has_result") is False or note.get("text_length") == 0))
        ]
        if not history.complete and all(note.get("form") == "poll" for note in empty):
            return None  # it may ask once more
        said = final_message(history, run)
        answered = any(event.get("text_length") for event in (said, *run.ends) if event)
        if not empty or not (failed or answered):
            return None
        return self.broken(
            run.agent,
            "Its parent was told the status and got neither its error nor its result."
            if failed
            else "It gave an answer, and its parent got an empty result.",
            *empty,
            said,
            run.end,
            label="result_dropped",
        )


def _repeated(history: History, notices: list[Event]) -> list[Event]:
    """Notices that came by themselves, in one file, in the same words, more than once.

    After a restart it may be said again: whoever was told may have died before it was heard.
    """
    found: dict[tuple[str, ...], list[Event]] = defaultdict(list)
    restarts = [history.place(one) for one in history.of(Kind.SESSION_RESUMED)]
    for note in notices:
        if note.get("form") in PUSHED - {"activity"} and note.get("status") in TERMINAL:
            lives = sum(place < history.place(note) for place in restarts)
            key = (note.file, str(note.get("form")), str(note.get("status")), str(lives))
            found[key].append(note)
    return next((same for same in found.values() if len(same) > 1), [])


def _cannot_see(history: History, run: Run, untold: Untold) -> str:
    """Why the absence of a notice proves nothing here; empty where it does."""
    parent = history.parent_of(run.agent)
    known = history.agents.get(parent)
    if not history.views_of(parent) - set(_BLIND):
        return "What the parent is told is not to be seen here."
    begun = run.start is not None or history.agents[run.agent].edge is not None
    if not begun and history.seen_only_in(run.agent, "hooks"):
        return "Nothing but its end is here: who asked for it is not to be seen."
    if history.seen_only_in(run.agent, "trace"):
        return "Nothing but a trace shows it: which of those that are told of it is, is not seen."
    if untold.asked_by_nobody(run):
        return "All that was asked for is somebody else: the runtime runs it for itself."
    if hidden_from(history, run):
        return "The stream of its parent shows nothing of it."
    if not history.closed:
        return "The log is not complete."
    if history.may_have_lost(run):
        return "A damaged line may have held the notice."
    gone = missing(history)
    if gone is not None and history.time(gone) - history.time(run.ends[0]) <= RACE:
        return f"The {gone.get('part')} was killed by its end and never came back to tell it."
    if known is not None and any(
        history.precedes(one.ends[0], run.ends[0]) for one in known.runs if one.ends
    ):
        return "Its parent had ended before it."
    if had_failed(history, run):
        return "Its parent's own model call failed, and no other came in which to tell it."
    stopped = run.status in _ABORTED or (
        run.status == "failed" and failure_of(history, run) is None  # a cancel by another name
    )
    asked = stopped and asked_to_cancel(history, run)
    if asked and not stopped_past_parent(history, run):
        return "It was cancelled on request; whoever asked knows."
    return ""


LAW = ToldOnce()
