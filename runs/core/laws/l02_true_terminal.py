"""L2: a terminal agrees with the evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from runs.core.agents import Run
from runs.core.attempts import Call
from runs.core.ends import (
    CUT_SHORT,
    Failure,
    broke_off,
    failure_of,
    final_message,
    last_call,
    was_done,
)
from runs.core.events import Event, Kind
from runs.core.hand_in import hands_in
from runs.core.history import SKEW, History
from runs.core.law import Finding, Law, Thresholds
from runs.core.stopped import stopped_midway
from runs.core.wordless import did_something, told_nothing, turn_without_a_word


class TrueTerminal(Law):
    """Puts the terminal beside the run's last model call and its last words."""

    id = "L2"
    name = "TRUE-TERMINAL"
    sentence = (
        "The terminal status agrees with the evidence: no “completed” when the last model call "
        "failed, a limit was hit or no final answer exists; no “failed” after a recovered error."
    )
    why = "A false “completed” makes the parent build on work that was never done."
    detected = (
        "The outcome of the run's last model call, by the provider's log and the run's own "
        "records, against its terminal. No error text is read."
    )
    needs = "The child's own records (not hooks alone), or the provider's log."
    labels = (
        "cut_stream_false_completion",
        "provider_error_false_completion",
        "truncated_success",
        "false_failure",
    )
    follows = ("L3", "L16", "L13")

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        for run in history.runs:
            if run.ends:
                yield self._judge(history, run)
        yield from self._turns(history)

    def _turns(self, history: History) -> Iterable[Finding]:
        """Turns of the one at the top that others follow; how its last one ends is L16's."""
        if not (history.timed and history.clocks_agree):
            return
        ends = [event for event in history.of(Kind.TURN_ENDED) if event.agent == history.root]
        calls, since = history.calls_of(history.root), float("-inf")
        for end in ends[:-1]:
            until = history.time(end) + SKEW
            mine = [one for one in calls if since < one.attempts[0].start < until]
            since = until
            last = mine[-1].last if mine else None
            if last is None or last.complete or last.open or last.closed == "client-gone":
                continue
            if end.get("status") == "completed" and (last.end or 0.0) < until:
                yield self.broken(
                    history.root,
                    f"A turn of it ended as completed, and its last model call ended unfinished "
                    f"after {last.n} attempts.",
                    last.event,
                    end,
                    label="truncated_success",
                )
                return

    def _judge(self, history: History, run: Run) -> Finding:
        if history.seen_only_in(run.agent, "hooks"):
            return self.unknown(run.agent, "Hooks do not show what it did.", *run.ends)
        said = {str(event.get("status")) for event in run.ends}
        failure = failure_of(history, run)
        abort = stopped_midway(history, run)
        if abort is not None and failure is None:
            return self.unknown(run.agent, "It was stopped on request.", abort, *run.ends)
        if "completed" in said:
            return self._completed(history, run, failure)
        if said == {"failed"}:
            return self._failed(history, run, failure)
        done = self._done(history, run)
        if done is not None:
            return done
        return self.unknown(run.agent, f"Whether it was rightly {run.status} is not to be seen.")

    def _completed(self, history: History, run: Run, failure: Failure | None) -> Finding:
        ends = [event for event in run.ends if event.get("status") == "completed"]
        if failure is not None:
            return self._in_spite_of(failure, history, run, ends)
        for check in CHECKS:
            untrue = check(history, run, ends)
            if untrue is not None:
                return self.broken(
                    run.agent, untrue.why, *untrue.evidence, label="truncated_success"
                )
        call, message = last_call(history, run), final_message(history, run)
        if call is not None and call.last.complete:
            return self.holds(
                run.agent, "Its last model call was answered whole.", call.last.event, *ends
            )
        if call is not None and not (history.callers_certain or _given_up(call)):
            return self.unknown(
                run.agent, "A model call that may be its own was not answered whole.", *ends
            )
        if message is not None and message.get("text_length"):
            return self.holds(run.agent, "Its log closes with an answer.", message, *ends)
        return self.unknown(run.agent, "Its model calls and answers are not to be seen.", *ends)

    def _in_spite_of(
        self, failure: Failure, history: History, run: Run, ends: list[Event]
    ) -> Finding:
        return self.broken(
            run.agent,
            _why(failure),
            failure.event,
            failure.attempt.event if failure.attempt else None,
            *ends,
            *_told_completed(run),
            label=_label(history, run, failure),
            http_status=failure.http_status,
            error_class=failure.error_class,
        )

    def _done(self, history: History, run: Run) -> Finding | None:
        said = was_done(history, run)
        if said is None:
            return None
        return self.broken(
            run.agent,
            f"It had given its whole answer, nobody asked to cancel it, and its terminal says "
            f"{run.status}.",
            said,
            *run.ends,
            label="false_failure",
        )

    def _failed(self, history: History, run: Run, failure: Failure | None) -> Finding:
        if failure is not None:
            return self.holds(run.agent, "It failed and says so.", failure.event, *run.ends)
        done = self._done(history, run)
        if done is not None:
            return done
        return self.unknown(run.agent, "Why it failed is not to be seen.", *run.ends)


def _given_up(call: Call) -> bool:
    """Whether it was not the provider that ended the call's last attempt."""
    return call.last.open or call.last.closed == "client-gone"


def _why(failure: Failure) -> str:
    what = f"with status {failure.http_status}" if failure.by_provider else "unfinished"
    if failure.attempt is not None:
        tries = failure.attempt.n
        words = f"Its last model call ended {what} after {tries} attempt{'s' * (tries > 1)}"
    else:
        words = "Its own log closes with an error and nothing good follows"
    return f"{words}, yet the terminal says completed."


def _label(history: History, run: Run, failure: Failure) -> str:
    """Which kind of false completion: answered with an error, cut, or cut and taken as whole.

    Who asked again knew that the answer was not whole.
    """
    if str(failure.event.get("raw") or "") in CUT_SHORT:
        return "truncated_success"
    if failure.by_provider:
        return "provider_error_false_completion"
    message = final_message(history, run)
    again = failure.attempt is not None and failure.attempt.n > 1
    if not failure.noted and not again and message is not None and message.get("text_length"):
        return "truncated_success"
    return "cut_stream_false_completion"


class Untrue(NamedTuple):
    """Why a run's “completed” is untrue though no failure is to be seen, and what shows it."""

    why: str
    evidence: tuple[Event | None, ...]


def _told_completed(run: Run) -> list[Event]:
    return [note for note in run.notices if note.get("status") == "completed"][:1]


def _cut_short(history: History, run: Run, ends: list[Event]) -> Untrue | None:
    message = final_message(history, run)
    if message is None or str(message.get("finish") or "") not in CUT_SHORT:
        return None
    why = f"Its last answer was cut short ({message.get('finish')}), yet it completed."
    return Untrue(why, (message, *ends))


def _told_cut_short(_: History, run: Run, ends: list[Event]) -> Untrue | None:
    for note in run.notices:
        if str(note.get("finish") or "") in CUT_SHORT:
            why = f"Word of its end calls it completed, and why it stopped: {note.get('finish')}."
            return Untrue(why, (*ends, note))
    return None


def _empty(history: History, run: Run, ends: list[Event]) -> Untrue | None:
    """The records say outright that the run said nothing and did nothing."""
    events = history.events_of(run)
    said = [event for event in events if event.kind is Kind.AGENT_MESSAGE]
    outright = any(one.get("text_length") == 0 or one.get("empty") for one in (*said, *run.ends))
    worded = any(one.get("text_length") for one in run.ends)
    if not outright or worded or did_something(events):
        return None
    why = "It completed without a word: no text and no tool call in the whole run."
    return Untrue(why, (run.start, *ends))


def _turn_without_a_word(history: History, run: Run, ends: list[Event]) -> Untrue | None:
    """Nothing in its whole turn, and nothing in what its parent got: two that say so."""
    turn, told = turn_without_a_word(history, run), told_nothing(run)
    if turn is None or told is None or not history.complete or history.may_have_lost(run):
        return None
    why = "Its turn holds no word and no tool and its parent got nothing of it, yet it completed."
    return Untrue(why, (turn, *ends, told))


def _stored_without_a_word(history: History, run: Run, ends: list[Event]) -> Untrue | None:
    """Its stored session, whole up to its end, holds the run's task and no word of its own.

    A text that then stands in its terminal is the program's, not the model's.
    """
    events = history.events_of(run)
    stored = [event for event in events if event.source == "session"]
    heard = any(event.kind is Kind.USER_MESSAGE for event in stored)
    over = [one for one in stored if one.kind is Kind.STATUS and one.get("status") == "ended"]
    if not heard or not over or did_something(events) or history.may_have_lost(run):
        return None
    why = "Its session was stored up to its end and holds no word of it, yet it completed."
    return Untrue(why, (run.start, over[-1], *ends))


def _wordless(history: History, run: Run, ends: list[Event]) -> Untrue | None:
    """Its last message and all before it are outright empty: there is no answer.

    An answer may be handed in by a tool, and words be lost with a line.
    """
    last = final_message(history, run)
    if last is None or not last.get("final") or last.get("text_length") != 0:
        return None
    events = history.events_of(run)
    worded = any(
        event.get("text_length")
        for event in events
        if event.kind in (Kind.AGENT_MESSAGE, Kind.DELTA) and event.get("what") != "tool"
    )
    tools = [str(one.get("tool") or "") for one in events if one.kind is Kind.TOOL_STARTED]
    handed_in = any(hands_in(tool) for tool in tools[-1:])
    lost = not history.complete or history.may_have_lost(run)
    if worded or handed_in or lost or last.get("tool_calls"):
        return None
    why = "It used tools and never said a word, its last message included, yet it completed."
    return Untrue(why, (last, *ends))


def _broken_off(history: History, run: Run, ends: list[Event]) -> Untrue | None:
    asked = broke_off(history, run)
    if asked is None:
        return None
    tools = [one for one in history.events_of(run) if one.kind is Kind.TOOL_ENDED][-1:]
    why = "Its last answer asks for a tool and no answer follows, yet it completed."
    return Untrue(why, (asked, *tools, *ends, *_told_completed(run)))


CHECKS = (
    *(_cut_short, _told_cut_short, _empty, _turn_without_a_word, _stored_without_a_word),
    *(_wordless, _broken_off),
)
"""The first that finds something is the finding."""

LAW = TrueTerminal()
