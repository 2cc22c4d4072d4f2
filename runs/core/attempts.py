"""Model calls as the provider saw them: attempts, and the calls that they belong to.

A call is one request that an agent makes; its attempts are the tries of it. The
provider's journal numbers both; a plain request log may not, and then a new
call begins at attempt 1 or after a complete answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from runs.core.events import Event, Kind

PERMANENT = frozenset({400, 401, 402, 403, 404, 405, 410, 413, 415, 422})
"""Statuses that another try of the same request cannot mend."""


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One try of one model call. Times are seconds since the run's start."""

    caller: str
    request: str = ""
    agent: str = ""
    call: int = 0
    n: int = 0
    start: float = 0.0
    first_byte: float | None = None
    end: float | None = None
    http_status: int | None = None
    fault: str | None = None
    closed: str = ""
    complete: bool = False
    gap_before: float | None = None
    retry_after: float | None = None
    bytes: int = 0
    events: int = 0
    model: str = ""
    received: Event | None = None
    ended: Event | None = None

    @property
    def event(self) -> Event:
        """The record that shows it best: its end, else its start."""
        found = self.ended or self.received
        assert found is not None
        return found

    @property
    def permanent(self) -> bool:
        """Whether its answer is an error that a retry cannot mend."""
        return self.http_status in PERMANENT

    @property
    def open(self) -> bool:
        """Whether the exchange was still open when the record stops."""
        return self.ended is None or self.closed == "open"

    @property
    def error_class(self) -> str:
        """Why it failed, in the words of the `error` events; empty when it did not."""
        if self.complete:
            return ""
        given = self.ended.get("error_class") if self.ended else None
        return str(given) if given else _error_class(self)


_BY_STATUS = {
    401: "auth",
    402: "limit",
    403: "auth",
    408: "timeout",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}


def _error_class(attempt: Attempt) -> str:
    status = attempt.http_status
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None and status >= 500:
        return "server"
    if status is not None and status >= 400:
        return "bad_request"
    if attempt.closed == "refused":
        return "refused"
    if attempt.open or attempt.closed == "client-gone":
        return "timeout"
    return "stream"


@dataclass(slots=True)
class Call:
    """All attempts of one model call, in order."""

    caller: str
    number: int
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def agent(self) -> str:
        """The agent that made it, empty while it is not known."""
        return self.attempts[0].agent

    @property
    def last(self) -> Attempt:
        """The try that decided it."""
        return self.attempts[-1]

    @property
    def failed(self) -> bool:
        """Whether its last try was answered, or cut, without a whole answer."""
        return not self.last.complete

    @property
    def gaps(self) -> list[float]:
        """The gap before each retry, in seconds, from the end of the try before."""
        return [try_.gap_before for try_ in self.attempts[1:] if try_.gap_before is not None]


def attempts(events: Iterable[Event], times: dict[int, float]) -> list[Attempt]:
    """The attempts that the provider's events tell, by start time; `times` is time by seq."""
    found: dict[tuple[str, str], Attempt] = {}
    for event in events:
        if event.kind not in _PROVIDER:
            continue
        key = _key(event)
        attempt = found.get(key)
        if attempt is None:
            attempt = found[key] = Attempt(caller=_caller(event), request=key[1])
        _READ[event.kind](attempt, event, times[event.seq])
    seen = [one for one in found.values() if one.received or one.ended]
    ordered = sorted(seen, key=lambda one: (one.start, one.event.seq))
    _number(ordered)
    return ordered


def _caller(event: Event) -> str:
    return str(event.get("caller") or event.agent or "")


def _key(event: Event) -> tuple[str, str]:
    request = event.get("request")
    if request:
        return event.file, str(request)
    return event.file, f"{_caller(event)}/{event.get('call')}/{event.get('attempt')}"


def _received(attempt: Attempt, event: Event, at: float) -> None:
    attempt.received, attempt.start = event, at
    _common(attempt, event)


def _started(attempt: Attempt, event: Event, at: float) -> None:
    attempt.first_byte = at
    attempt.http_status = _integer(event.get("status"), attempt.http_status)


def _fired(attempt: Attempt, event: Event, at: float) -> None:
    attempt.fault = str(event.get("fault") or attempt.fault or "")


def _ended(attempt: Attempt, event: Event, at: float) -> None:
    attempt.ended, attempt.end = event, at
    if attempt.received is None:
        attempt.start = at - _number_of(event.get("duration"), 0.0)
    _common(attempt, event)
    attempt.http_status = _integer(event.get("status"), attempt.http_status)
    fault = event.get("fault")
    attempt.fault = str(fault) if fault else attempt.fault
    attempt.closed = str(event.get("closed") or "ended")
    complete = event.get("complete")
    attempt.complete = _looks_complete(attempt) if complete is None else bool(complete)
    after = event.get("retry_after")
    attempt.retry_after = None if after is None else _number_of(after, 0.0)
    attempt.bytes = _integer(event.get("bytes"), 0) or 0
    attempt.events = _integer(event.get("events"), 0) or 0


def _looks_complete(attempt: Attempt) -> bool:
    status = attempt.http_status
    good = status is None or 200 <= status < 300
    return good and not attempt.fault and attempt.closed in ("", "ended")


def _common(attempt: Attempt, event: Event) -> None:
    attempt.caller = attempt.caller or _caller(event)
    attempt.agent = attempt.agent or event.agent
    attempt.call = attempt.call or _integer(event.get("call"), 0) or 0
    attempt.n = attempt.n or _integer(event.get("attempt"), 0) or 0
    attempt.model = attempt.model or str(event.get("model") or "")


def _integer(value: object, default: int | None) -> int | None:
    return int(value) if isinstance(value, (int, float)) and abs(value) < 1e15 else default


def _number_of(value: object, default: float) -> float:
    return float(value) if isinstance(value, (int, float)) else default


_PROVIDER = (
    Kind.REQUEST_RECEIVED,
    Kind.RESPONSE_STARTED,
    Kind.FAULT_FIRED,
    Kind.REQUEST_ENDED,
)
_READ = {
    Kind.REQUEST_RECEIVED: _received,
    Kind.RESPONSE_STARTED: _started,
    Kind.FAULT_FIRED: _fired,
    Kind.REQUEST_ENDED: _ended,
}


def _number(ordered: Sequence[Attempt]) -> None:
    """Fill in call and attempt numbers that the log leaves out, and the gaps."""
    before: dict[str, Attempt] = {}
    for attempt in ordered:
        last = before.get(attempt.caller)
        if not attempt.call:
            retried = last is not None and (
                attempt.n > 1 if attempt.n else not last.complete and not last.open
            )
            attempt.call = (last.call if last else 0) + (0 if retried and last else 1)
        if not attempt.n:
            attempt.n = last.n + 1 if last is not None and last.call == attempt.call else 1
        if last is not None and last.call == attempt.call and last.end is not None:
            attempt.gap_before = round(attempt.start - last.end, 6)
        before[attempt.caller] = attempt


def calls(ordered: Iterable[Attempt]) -> list[Call]:
    """The attempts grouped into calls, in order of their first try."""
    found: dict[tuple[str, int], Call] = {}
    for attempt in ordered:
        key = (attempt.caller, attempt.call)
        if key not in found:
            found[key] = Call(attempt.caller, attempt.call)
        found[key].attempts.append(attempt)
    return list(found.values())
