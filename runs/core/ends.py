"""How a run really ended: by the wire and by its own records, whatever its terminal says.

No error text is read. A run failed when the last thing that its model did was
to fail: the provider's last exchange with it was not a whole answer, or its own
log closes with an error record that nothing good followed.
"""

from __future__ import annotations

from dataclasses import dataclass

from runs.core.agents import Agent, Run
from runs.core.attempts import Attempt, Call
from runs.core.cancels import asked_to_cancel
from runs.core.events import Event, Kind
from runs.core.hand_in import hands_in
from runs.core.history import SKEW, History
from runs.core.signs import is_bad, is_good

PROVIDER_ERRORS = frozenset({"rate_limit", "auth", "bad_request", "overloaded", "server", "limit"})
"""Error classes in which the provider answered, and said no."""
CUT_SHORT = frozenset(
    (
        *("length", "max_tokens", "max_output_tokens", "max_turns", "max_iterations"),
        *("incomplete", "model_context_window_exceeded"),
    )
)
"""Stop reasons that mean that the answer is not whole, or that a limit was hit."""
_ASKS_TOOLS = frozenset({"tool_use", "tool-calls", "tool_calls"})
RACE = 2.0
"""Seconds by which an end and what is said about it may cross."""

QUIET = frozenset(
    {
        *(Kind.AGENT_STARTED, Kind.SESSION_STARTED, Kind.STATUS, Kind.MODEL_CHANGED),
        *(Kind.USER_MESSAGE, Kind.TURN_STARTED, Kind.OTHER),
    }
)
"""What may be known of an agent that never asked a model."""
_OWN_WORK = (
    Kind.AGENT_MESSAGE,
    Kind.TOOL_STARTED,
    Kind.TOOL_ENDED,
    Kind.MODEL_STARTED,
    Kind.TURN_STARTED,
    Kind.ERROR,
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run counts as failed. `noted`: the agent's own log has the error."""

    event: Event
    error_class: str
    http_status: int | None
    noted: bool
    attempt: Attempt | None = None

    @property
    def by_provider(self) -> bool:
        """The provider answered with an error (else: the answer was cut)."""
        status = self.http_status
        if self.error_class == "limit" and status is not None and status < 400:
            return False  # the output limit cut it: nothing was refused
        return (status is not None and status >= 400) or self.error_class in PROVIDER_ERRORS


def last_call(history: History, run: Run) -> Call | None:
    """The run's last model call by the provider's records."""
    calls = history.calls_of(run.agent, run)
    return max(calls, key=lambda call: call.attempts[0].start) if calls else None


def failure_of(history: History, run: Run) -> Failure | None:
    """Why the run failed by the evidence, or None.

    Where the files are known to be cut, one that lacks the terminal may go on with a good word.
    """
    found = _failure_of(history, run)
    if found is None or history.complete:
        return found
    seen = {found.event.file, found.attempt.event.file if found.attempt else found.event.file}
    return found if seen <= {end.file for end in run.ends} else None


def _failure_of(history: History, run: Run) -> Failure | None:
    own = _own_failure(history, run)
    call = last_call(history, run)
    if call is None or call.last.open:
        return own
    attempt = call.last
    if attempt.complete:
        recovered = (
            own is not None
            and history.timed
            and attempt.end is not None
            and attempt.end > history.time(own.event) + SKEW
        )
        return None if recovered else own
    if attempt.closed == "client-gone" and not attempt.fault:
        # The agent hung up by itself; that is no failure of the provider.
        return own
    if own is None and not history.callers_certain and _said_something(history.events_of(run)):
        return None
    status = attempt.http_status
    if own is not None and own.by_provider and (status is None or status < 400):
        status = own.http_status
    return Failure(
        own.event if own else attempt.event,
        own.error_class if own is not None and own.by_provider else attempt.error_class,
        status,
        own is not None,
        attempt,
    )


def _own_failure(history: History, run: Run) -> Failure | None:
    """The error that closes the run's own log, if nothing good follows it."""
    found: Event | None = None
    for event in history.events_of(run):
        if is_bad(event):
            found = event
        elif is_good(event) or (found is not None and _names_abort(event, found, history, run)):
            found = None
    if found is None:
        return None
    status = found.get("http_status")
    return Failure(
        found,
        str(found.get("error_class") or "other"),
        int(status) if isinstance(status, (int, float)) else None,
        True,
    )


def _names_abort(event: Event, bad: Event, history: History, run: Run) -> bool:
    """Whether the message that broke off did so by an abort that somebody asked for."""
    aborted = event.kind is Kind.ERROR and event.get("error_class") == "aborted"
    same = bad.kind is Kind.AGENT_MESSAGE and bad.file == event.file
    return aborted and same and bool(run.ends) and asked_to_cancel(history, run)


def _said_something(events: list[Event]) -> bool:
    return any(event.kind is Kind.AGENT_MESSAGE and is_good(event) for event in events)


def final_message(history: History, run: Run) -> Event | None:
    """The last thing that the run's agent said (not an error record); in a trace, which shows no
    words, its last model call."""
    whole = history.events_of(run)
    said = [one for one in whole if one.kind is Kind.AGENT_MESSAGE and not one.get("error")]
    calls = [one for one in whole if one.kind is Kind.SPAN and is_good(one)]
    return next(iter((said or calls)[-1:]), None)


def broke_off(history: History, run: Run) -> Event | None:
    """The run's last answer, where it asks for a tool in the run's own log and none follows it."""
    whole = history.events_of(run)
    own = [event for event in whole if history.precedes(event, run.ends[0])]
    before = {event.seq for event in own}
    if any(one.kind is Kind.AGENT_MESSAGE and one.seq not in before for one in whole):
        return None  # It went on; whether it might is another question.
    messages = [one for one in own if one.kind is Kind.AGENT_MESSAGE and not one.get("error")]
    tools = [event for event in own if event.kind is Kind.TOOL_STARTED]
    if not messages or not tools:
        return None
    said = messages[-1]
    asks = said.get("final") is False or said.get("finish") in _ASKS_TOOLS
    if said.source != "session" or not said.get("tool_calls") or not asks:
        return None
    if history.may_have_lost(run) or not (history.complete or said.file == run.ends[0].file):
        return None
    return None if hands_in(str(tools[-1].get("tool") or "")) else said


def was_done(history: History, run: Run) -> Event | None:
    """The whole answer with which a run closed before it ended as cancelled, unasked, or failed.

    Of a cancel it was well before: the two may cross. A failure is false where it is the word
    of another file than its own, or where the wire shows that an error was overcome.
    """
    if run.status not in ("cancelled", "interrupted", "failed", "stopped") or not history.timed:
        return None
    if run.status == "stopped" and _taken_along(history, run):
        return None
    own = [event for event in history.events_of(run) if event.kind in _OWN_WORK]
    said = own[-1] if own else None
    if said is None or said.kind is not Kind.AGENT_MESSAGE or not said.get("text_length"):
        return None
    whole = said.get("final") and not said.get("error") and said.get("finish") not in CUT_SHORT
    if run.status == "failed":
        call = last_call(history, run)
        overcame = call is not None and call.last.complete and len(call.attempts) > 1
        apart = said.source == "session" and all(end.file != said.file for end in run.ends)
        early = (apart or overcame) and failure_of(history, run) is None
    else:
        early = history.time(run.ends[0]) - history.time(said) > RACE
        early = early and not _turn_open(history, run, said)
    return said if whole and early and not asked_to_cancel(history, run) else None


def _taken_along(history: History, run: Run) -> bool:
    """Whether its stop is a hook's word for any end, or came with the end of its process."""
    over = (Kind.SESSION_ENDED, Kind.SESSION_RESUMED, Kind.RESULT, Kind.PROCESS_EXITED)
    return run.ends[0].source == "hooks" or bool(history.between(None, run.ends[0], *over))


def _turn_open(history: History, run: Run, said: Event) -> bool:
    """Whether the turn of a message was still open when the run ended: more could have come."""
    turns = [
        event
        for event in history.events_of(run)
        if event.kind in (Kind.TURN_STARTED, Kind.TURN_ENDED)
        and event.file == said.file
        and history.precedes(event, run.ends[0])
    ]
    return bool(turns) and turns[-1].kind is Kind.TURN_STARTED


def stopped_past_parent(history: History, run: Run) -> bool:
    """Whether a person stopped this very run, and neither its parent nor anything above it."""
    above = {"", "all", *history.ancestors(run.agent)}
    requests = [
        one for one in history.of(Kind.CANCEL_REQUESTED) if history.precedes(one, run.ends[0])
    ]
    return any(
        one.get("by") == "user" and one.get("target") == run.agent for one in requests
    ) and not any(
        one.get("target") in above or (one.get("by") != "user" and one.get("target") == run.agent)
        for one in requests
    )


def hidden_from(history: History, run: Run) -> bool:
    """Whether all that is here of the parent is a stream that shows nothing of this run."""
    views = history.views_of(history.parent_of(run.agent))
    shown = [event for event in (*run.starts, *run.notices, *run.ends) if event.seen_in("stdout")]
    return views == {"stdout"} and not shown


def by_signal(exited: Event) -> bool:
    """Whether a process was ended by a signal or a crash, as its exit code shows it as well."""
    code = exited.get("code")
    return bool(exited.get("signal")) or (isinstance(code, int) and (code < 0 or code > 128))


def closing_answer(history: History, run: Run, before: Event) -> Event | None:
    """The whole answer that was the run's last work before that moment, by the wire as well, if
    none follows it."""
    own = [event for event in history.events_of(run) if event.kind in _OWN_WORK]
    said = own[-1] if own else None
    if said is None or said.kind is not Kind.AGENT_MESSAGE or not history.precedes(said, before):
        return None
    whole = said.get("final") and said.get("text_length") and not said.get("error")
    return said if whole and failure_of(history, run) is None else None


def has_answered(history: History, run: Run, before: Event) -> bool:
    """Whether the run's last work before that moment was a whole answer, and none follows it."""
    return closing_answer(history, run, before) is not None


def never_ran(history: History, agent: Agent) -> bool:
    """Whether nothing but its start is known of the agent: no message, tool or model call."""
    return not history.calls_of(agent.id) and all(event.kind in QUIET for event in agent.events)


def shows_work(history: History, agent: Agent) -> bool:
    """Whether the agent's work would be seen if there were any: by the provider, or in its log."""
    if history.attempts or history.of(Kind.CAPTURE_ENDED):
        return True
    logs = {event.file for event in agent.events if event.kind is not Kind.OTHER}
    return bool(logs - history.files_of(agent.parent or ""))
