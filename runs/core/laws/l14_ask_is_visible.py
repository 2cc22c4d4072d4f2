"""L14: a child's question reaches somebody who can answer it."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.order import Interval

_REFUSALS = (
    *("reject", "deni", "deny", "declin", "cancel", "abort", "error", "fail"),
    *("timeout", "timed", "time-out", "expir", "dismiss", "interrupt"),
)


class AskIsVisible(Law):
    """Follows each question of a sub-agent to its showing or its answer."""

    id = "L14"
    name = "ASK-IS-VISIBLE"
    sentence = (
        "A permission or question raised by a child is shown to someone who can answer it, or is "
        "refused in bounded time."
    )
    why = "A question that nobody sees stops the whole tree and looks like a slow model."
    detected = "A question of a child without an answer for T, and no record that shows it."
    needs = "The question's record; a record of its showing or its answer makes it visible."
    labels = ("hidden_permission",)
    follows = ("L5", "L1", "L3", "L4", "L16", "L15")
    parameters = ("answer_within",)

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        shown = {
            str(event.get(key)): event
            for key in ("call", "id")
            for event in history.of(Kind.QUESTION_SHOWN)
            if event.get(key)
        }
        for agent in history.children:
            for question in history.questions.get(agent.id, ()):
                ask = question.start  # A client may give the question an id of its own.
                seen = shown.get(str(ask.get("id"))) or shown.get(str(ask.get("call")))
                yield self._judge(history, question, seen, thresholds.answer_within)

    def _judge(
        self, history: History, question: Interval, shown: Event | None, limit: float
    ) -> Finding:
        asked, answered = question.start, question.end
        if shown is not None:
            return self.holds(question.agent, "Its question was shown.", asked, shown)
        waited = history.time(answered or history.events[-1]) - history.time(asked)
        if answered is not None and waited <= limit:
            return self.holds(
                question.agent, f"Its question was answered in {waited:.1f} s.", asked, answered
            )
        if answered is not None and answered.get("answer") and not _refuses(answered):
            return self.holds(
                question.agent, "Somebody answered its question: it was seen.", asked, answered
            )
        went_on = _went_on(history, question) if answered is None else None
        if went_on is not None:
            return self.unknown(
                question.agent,
                "It went on: that somebody answered its question was not recorded.",
                asked,
                went_on,
            )
        if answered is None and (not history.timed or not history.complete or waited <= limit):
            return self.unknown(
                question.agent,
                f"Its question has waited for {waited:.1f} s of {limit:.0f} s.",
                asked,
            )
        return self.broken(
            question.agent,
            f"It asks ({asked.get('what') or asked.get('tool') or 'a question'}), nobody is shown "
            f"it, and no answer comes for {waited:.0f} s (limit {limit:.0f} s).",
            asked,
            answered or history.end_record,
            label="hidden_permission",
            waited=round(waited, 3),
            limit=limit,
        )


def _went_on(history: History, question: Interval) -> Event | None:
    """What shows that a question without an answer holds its agent no more: the tool that it was
    raised for is over, or the agent works again after it had waited."""
    call, waited = question.start.get("call"), False
    for event in history.after(question.start, Kind.TOOL_ENDED, Kind.STATUS):
        if event.agent != question.agent:
            continue
        if event.kind is Kind.TOOL_ENDED:
            if call and event.get("call") == call and event.get("ok") is not False:
                return event
        elif waited and event.get("status") == "running":
            return event
        else:
            waited = waited or event.get("status") == "waiting"
    return None


def _refuses(answer: Event) -> bool:
    """Whether an answer may be the runtime's own, that gives up what nobody was shown."""
    words = str(answer.get("answer")).lower()
    return words.startswith(_REFUSALS)


LAW = AskIsVisible()
