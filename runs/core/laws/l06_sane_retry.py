"""L6: retries are bounded, spaced, obedient, and the same for children and root."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from runs.core.attempts import Attempt, Call
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.retries import asks_otherwise, crossed, events_of, given_up, ignored, to_come, wave

FLAT_GAPS = 4
"""Gaps that a failed call must have before constant ones prove that there is no backoff;
one that recovered needs one more. Fewer may be alike by chance."""
FLAT_SPREAD = 0.2
"""Constant: the gaps differ by less than this share of their median (the largest one of five
or more is left out: a busy machine delays single tries)."""
HOT = 1.0
"""Mean gap in seconds below which too many attempts are a storm, not an endless retry."""
_LOGIN = frozenset({401, 403})
"""Statuses that one fresh credential may mend: one retry is fair."""
_TRANSIENT = frozenset({429, 500, 502, 503, 504, 529})


class SaneRetry(Law):
    """Reads the attempts of each call as the provider saw them, not as the agent tells them."""

    id = "L6"
    name = "SANE-RETRY"
    sentence = (
        "Retries are bounded, spaced by growing jittered gaps, obey retry-after, skip permanent "
        "errors, never replay finished tools, and children follow the same policy as the root."
    )
    why = "Flat or endless retries turn one bad minute of a provider into an outage for everybody."
    detected = (
        f"Attempts and gaps of each call: more than the maximum (endless where no end of them is "
        f"seen); a gap below Retry-After; a retry "
        f"after a permanent status; {FLAT_GAPS} or more constant gaps (within {FLAT_SPREAD:.0%} "
        f"of their median) over a whole budget. One to three gaps never prove flatness."
    )
    needs = "The provider's log (or, for the number of attempts alone, the agent's retry records)."
    labels = (
        "endless_retry",
        "retry_storm",
        "too_many",
        "rate_limit_wave",
        "retry_after",
        "permanent_retried",
        "tool_replayed",
        "flat",
        "no_retry",
        "policy_differs",
    )
    follows = ("L5",)
    parameters = ("max_attempts", "retry_after_slack")

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        by_agent: dict[str, list[Call]] = {}
        for call in history.calls:
            if call.caller != "utility":
                by_agent.setdefault(call.agent or call.caller, []).append(call)
        waved = wave(by_agent)
        for agent, calls in by_agent.items():
            found = self._calls(history, agent, calls, thresholds, agent in waved)
            yield self._replay(history, agent) or found
        rest = [self._replay(history, one) for one in history.agents if one not in by_agent]
        yield from (found for found in rest if found is not None)
        yield from self._by_own_word(history, set(by_agent), thresholds)

    def _calls(
        self, history: History, agent: str, calls: Sequence[Call], limits: Thresholds, waved: bool
    ) -> Finding:
        if any(crossed(call) for call in calls):
            return self.unknown(agent, "Several share this name: whose tries they are is not seen.")
        words = [to_come(history, agent, call) for call in calls]
        ended = [  # A whole answer is no end where it was not taken and another try announced.
            given_up(history, agent, call.last.event) or (call.last.complete and word is None)
            for call, word in zip(calls, words, strict=True)
        ]
        for call, over, word in zip(calls, ended, words, strict=True):
            word = None if over else word
            if len(call.attempts) + bool(word) > limits.max_attempts:
                return self._too_many(agent, call, limits, over, word)
        for check in (self._disobedient, self._permanent, self._flat):
            for call in calls:
                found = check(agent, call, limits, waved)
                if found is not None:
                    return found
        for call in calls:
            lone = self._none(history, agent, call) or self._unlike_root(history, agent, call)
            if lone is not None:
                return lone
        tries = max(len(call.attempts) for call in calls)
        if len(calls[-1].attempts) > 1 and not ended[-1] and history.cut_short is not None:
            return self.unknown(
                agent,
                f"{len(calls[-1].attempts)} attempts of a call that had not come to an end when "
                f"the run was ended; whether it would have given up a longer deadline may show.",
                *events_of(calls[-1]),
            )
        if tries == 1:
            return self.holds(agent, "No call needed another try.")
        return self.holds(
            agent,
            f"At most {tries} attempts of a call; nothing against their spacing.",
            attempts=tries,
        )

    def _too_many(
        self, agent: str, call: Call, limits: Thresholds, over: bool, word: Event | None
    ) -> Finding:
        """More than the maximum, the announced one counted. Only what has no end is endless."""
        gaps = call.gaps
        span = call.last.start - call.attempts[0].start
        mean = sum(gaps) / len(gaps) if gaps else span / len(call.attempts)
        unheeded = ignored(call, limits)
        also = f"; the provider asked for {unheeded[0].retry_after:g} s" if unheeded else ""
        return self.broken(
            agent,
            f"{len(call.attempts)} attempts of one call within {span:.0f} s"
            f"{', and one more announced' if word else ''} "
            f"(limit {limits.max_attempts}){also}{_then(call, over)}.",
            *events_of(call),
            word,
            label="retry_storm" if mean < HOT else "too_many" if over else "endless_retry",
            attempts=len(call.attempts),
            limit=limits.max_attempts,
            gaps=gaps[:50],
        )

    def _disobedient(
        self, agent: str, call: Call, limits: Thresholds, waved: bool
    ) -> Finding | None:
        unheeded = ignored(call, limits)
        if not unheeded:
            return None
        first = unheeded[0]
        gap = call.attempts[call.attempts.index(first) + 1].gap_before or 0.0
        return self.broken(
            agent,
            f"It came back after {gap:.2f} s although the answer said Retry-After "
            f"{first.retry_after:g} s; {len(call.attempts)} attempts in all.",
            *events_of(call),
            label="rate_limit_wave" if waved else "retry_after",
            retry_after=first.retry_after,
            gaps=call.gaps,
        )

    def _permanent(self, agent: str, call: Call, limits: Thresholds, waved: bool) -> Finding | None:
        for place, attempt in enumerate(call.attempts[:-1]):
            if not attempt.permanent or (attempt.http_status in _LOGIN and place == 0):
                continue
            if asks_otherwise(attempt, call.attempts[place + 1]):
                continue
            return self.broken(
                agent,
                f"It tried again after status {attempt.http_status}, which no retry mends; "
                f"{len(call.attempts)} attempts.",
                *events_of(call),
                label="permanent_retried",
                http_status=attempt.http_status,
                attempts=len(call.attempts),
            )
        return None

    def _flat(self, agent: str, call: Call, limits: Thresholds, waved: bool) -> Finding | None:
        gaps = call.gaps
        if len(gaps) < FLAT_GAPS + (0 if call.failed else 1) or not _constant(gaps):
            return None
        if any(attempt.retry_after or _may_have_said(attempt) for attempt in call.attempts):
            return None  # they follow the provider's own word
        return self.broken(
            agent,
            f"{len(call.attempts)} attempts with constant gaps of about {median(gaps):.2f} s, "
            f"no growth and no jitter.",
            *events_of(call),
            label="rate_limit_wave" if waved else "flat",
            gaps=gaps,
            attempts=len(call.attempts),
        )

    def _none(self, history: History, agent: str, call: Call) -> Finding | None:
        """A transient error that ended the agent's work at the first try."""
        only = call.last
        if len(call.attempts) > 1 or only.http_status not in _TRANSIENT or only.complete:
            return None
        later = [one for one in history.calls if one.caller == call.caller]
        if later[-1] is not call or (only.retry_after or 0) > 60 or not history.closed:
            return None
        tries = history.of(Kind.MODEL_RETRY)
        if any(one.agent == agent and history.time(one) >= only.start for one in tries):
            return None  # It was ended before it could; L4 says by whom.
        return self.broken(
            agent,
            f"It gave up at the first status {only.http_status}, without one retry.",
            only.event,
            label="no_retry",
            http_status=only.http_status,
        )

    def _unlike_root(self, history: History, agent: str, call: Call) -> Finding | None:
        """Root and child gave up on the same kind of error after very different efforts."""
        if agent == history.root or not call.failed or call.last.open:
            return None
        for other in history.calls:
            if other.agent != history.root or not other.failed or other.last.open:
                continue
            few, many = sorted((len(call.attempts), len(other.attempts)))
            if other.last.error_class == call.last.error_class and many >= 2 * few and many > 2:
                return self.broken(
                    agent,
                    f"{len(call.attempts)} attempts here, {len(other.attempts)} by the root, "
                    f"on the same kind of error ({call.last.error_class}).",
                    *events_of(call),
                    *events_of(other),
                    label="no_retry" if len(call.attempts) == few else "policy_differs",
                )
        return None

    def _replay(self, history: History, agent: str) -> Finding | None:
        """A tool call that had finished is started again under its old id."""
        done: set[tuple[str, str]] = set()
        first: dict[tuple[str, str], Event] = {}
        known = history.agents.get(agent)
        for event in known.events if known is not None else ():
            key = (event.file, str(event.get("call") or ""))
            if not key[1]:
                continue
            if event.kind is Kind.TOOL_ENDED:
                done.add(key)
            elif event.kind is Kind.TOOL_STARTED:
                if key in done:
                    return self.broken(
                        agent,
                        "A finished tool call was run again.",
                        first[key],
                        event,
                        label="tool_replayed",
                    )
                first[key] = event
        return None

    def _by_own_word(
        self, history: History, seen: set[str], limits: Thresholds
    ) -> Iterable[Finding]:
        """Without the provider's log, only the number of attempts that the agent itself tells."""
        told: dict[str, list[Event]] = {}
        for event in history.of(Kind.MODEL_RETRY, Kind.STATUS):
            if event.agent not in seen and isinstance(event.get("attempt"), int):
                told.setdefault(event.agent, []).append(event)
        for agent, events in told.items():
            most = max(int(event.get("attempt")) for event in events)
            if most > limits.max_attempts:
                yield self.broken(
                    agent,
                    f"It says itself that it is at attempt {most} (limit {limits.max_attempts}).",
                    *events,
                    label="too_many" if given_up(history, agent, events[-1]) else "endless_retry",
                    attempts=most,
                )
            else:
                yield self.unknown(agent, "Its gaps are not to be seen without the provider's log.")


def _then(call: Call, over: bool) -> str:
    """What came of them, where that is seen."""
    if not over:
        return ""
    return ", and the last was answered" if call.last.complete else ", and then it gave up"


def _may_have_said(attempt: Attempt) -> bool:
    """Whether the answer is one that comes with a Retry-After, and the log does not show it."""
    shown = attempt.ended is not None and "retry_after" in attempt.ended.data
    return attempt.http_status in (429, 503, 529) and not shown


def _constant(gaps: Sequence[float]) -> bool:
    """Whether the gaps neither grow nor vary. Gaps of almost nothing are constant, too."""
    kept = sorted(gaps)[: -1 if len(gaps) > FLAT_GAPS else None]
    middle = median(kept)
    return kept[-1] - kept[0] <= max(FLAT_SPREAD * middle, 0.05)


LAW = SaneRetry()
