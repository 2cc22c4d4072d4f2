"""L10: what happens to a child does not happen to its parent or siblings."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from runs.core.agents import Run
from runs.core.ends import failure_of
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.model_names import same_model, says_model
from runs.core.parts import killed

AT_ONCE = 1.0
"""Seconds within which an end that follows another one counts as caused by it."""
_CLIENT = ("acp", "rpc")
BLOCKED = 5.0
"""Seconds for which a message has to wait before it counts as blocked."""


class Contained(Law):
    """Looks at root and siblings in the moment in which a child fails or works."""

    id = "L10"
    name = "CONTAINED"
    sentence = (
        "A child's failure, model, mode or activity does not end, block or change its parent or "
        "siblings, nor the other way round."
    )
    why = "One child in trouble must not take the whole session with it."
    detected = (
        "The root's turn or session fails within a second of a child's failure, with no failed "
        "model call of its own, or repeats the child's error; a user's message waits though no "
        "root turn is open; the model that the root asks, or that answers it, changes to its "
        "child's."
    )
    needs = "The root's turns or result beside the child's end."
    labels = ("child_kills_parent", "child_blocks_parent", "model_leaked")
    follows = ("L1", "L3", "L7", "L16", "L4")

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        failed = [
            run
            for run in history.runs
            if run.status == "failed" or failure_of(history, run) is not None
        ]
        for finding in (
            self._killed(history, failed),
            self._blocked(history),
            self._leaked(history),
        ):
            if finding is not None:
                yield finding
                return
        if not failed:
            return
        worked = _works_after(history, failed[0])
        if worked is not None:
            yield self.holds(history.root, "The root went on after the child failed.", worked)
        else:
            yield self.unknown(history.root, "What the root did afterwards is not to be seen.")

    def _killed(self, history: History, failed: list[Run]) -> Finding | None:
        bad = [
            event
            for event in history.of(Kind.TURN_ENDED, Kind.RESULT, Kind.STATUS)
            if event.agent in ("", history.root)
            and (event.get("status") == "failed" or event.get("is_error"))
        ]
        for run in failed:
            moment = run.end or _last_error(history, run)
            echoes = _echoes(history, run)
            if moment is None or _root_failed_itself(history, echoes):
                continue
            if any(history.precedes(death, moment) for death in killed(history)):
                continue  # What ran them both was killed: neither did it to the other.
            for event in [*bad, *echoes]:
                after = history.time(event) - history.time(moment)
                told = event in echoes or history.precedes(moment, event)
                if not told or (history.timed and after > AT_ONCE):
                    continue
                if _works_after(history, run) is None:
                    return self.broken(
                        history.root,
                        f"It failed {max(after, 0.0):.1f} s after its child {run.agent} failed, "
                        f"with no failed model call of its own.",
                        moment,
                        event,
                        label="child_kills_parent",
                    )
        return None

    def _blocked(self, history: History) -> Finding | None:
        """A message that is taken up only when a child has ended, and no turn was open before."""
        for message in history.of(Kind.USER_MESSAGE):
            sent = message.source in _CLIENT  # as the client wrote it, not as it was taken up
            if not (sent or message.get("queued")) or message.agent not in ("", history.root):
                continue
            if _turn_open(history, message) or not history.open_runs(history.root, message):
                continue
            turns = [
                event
                for event in history.after(message, Kind.TURN_STARTED, Kind.USER_MESSAGE)
                if event.agent == history.root
                and (event.kind is Kind.TURN_STARTED or event.source not in _CLIENT)
            ]
            until = history.time(turns[0]) if turns else history.end
            freed = [
                run.end
                for run in history.open_runs(history.root, message)
                if run.end is not None and abs(history.time(run.end) - until) <= AT_ONCE
            ]
            lost = not turns and not sent
            if until - history.time(message) > BLOCKED and (freed or lost):
                return self.broken(
                    history.root,
                    f"A message waited {until - history.time(message):.1f} s though no turn of "
                    f"the root was open, until a child ended.",
                    message,
                    *freed[:1],
                    *turns[:1],
                    label="child_blocks_parent",
                )
        return None

    def _leaked(self, history: History) -> Finding | None:
        """The root asks with its child's model from the child's time on."""
        mine = [one for one in history.attempts if one.agent == history.root and one.model]
        changed = {event.agent for event in history.of(Kind.MODEL_CHANGED)}
        if changed & {history.root, ""}:
            return None
        if not mine:
            return self._answers_leaked(history)
        if len(mine) < 2 or mine[0].model == mine[-1].model:
            return None
        children = {
            one.model
            for one in history.attempts
            if one.agent not in ("", history.root) and one.start < mine[-1].start
        }
        if mine[-1].model not in children:
            return None
        return self._has_its_childs(mine[0].model, mine[0].event, mine[-1].model, mine[-1].event)

    def _answers_leaked(self, history: History) -> Finding | None:
        """The same by the answers in its own log, where nothing but a child came between them."""
        said = [one for one in _answers(history) if one.agent == history.root]
        turned = [
            (before, after)
            for before, after in pairwise(said)
            if not same_model(str(before.get("model")), str(after.get("model")))
        ]
        if len(turned) != 1:
            return None  # of several it may choose between them itself
        before, after = turned[0]
        theirs = any(
            one.agent != history.root and one.get("model") == after.get("model")
            for one in history.between(None, after, Kind.AGENT_MESSAGE)
        )
        if not theirs or _may_choose(history, before, after):
            return None
        return self._has_its_childs(
            str(before.get("model")), before, str(after.get("model")), after
        )

    def _has_its_childs(self, first: str, began: Event, last: str, goes_on: Event) -> Finding:
        return self.broken(
            began.agent,
            f"It began with {first} and goes on with its child's {last}.",
            began,
            goes_on,
            label="model_leaked",
        )


def _answers(history: History) -> list[Event]:
    """All that models said, in logs that name the model of an answer."""
    said = history.of(Kind.AGENT_MESSAGE)
    return [one for one in said if says_model(one) and not one.get("error")]


def _may_choose(history: History, before: Event, after: Event) -> bool:
    """Whether something between two answers may have changed the model: a person, an error, a
    refusal, or a change of mode."""
    kinds = (Kind.USER_MESSAGE, Kind.ERROR, Kind.MODEL_RETRY, Kind.TOOL_ENDED, Kind.OTHER)
    return before.get("finish") == "refusal" or any(
        event.kind not in (Kind.TOOL_ENDED, Kind.OTHER) or "mode" in _name(event)
        for event in history.between(before, after, *kinds)
        if event.agent in ("", history.root)
    )


def _name(event: Event) -> str:
    """The tool that was used, or what a record that only is kept says it is."""
    words = event.get("tool") or f"{event.get('type')} {event.get('summary')}"
    return str(words).lower()


def _root_failed_itself(history: History, echoes: list[Event]) -> bool:
    calls = history.calls_of(history.root)
    if calls and calls[-1].failed:
        return True
    errors = history.root_errors
    return any(not event.get("will_retry") and event not in echoes for event in errors)


def _echoes(history: History, run: Run) -> list[Event]:
    """Errors of the root that repeat its child's at once, while it asked no model itself."""
    mine = _last_error(history, run)
    if mine is None or mine.kind is not Kind.ERROR:
        return []
    same = ("error_class", "http_status", "code")
    return [
        event
        for event in history.root_errors
        if history.place(event) > history.place(mine)
        and history.time(event) - history.time(mine) <= AT_ONCE
        and all(event.get(key) == mine.get(key) for key in same)
        and _asks_nothing(history, mine)
    ]


def _asks_nothing(history: History, at: Event) -> bool:
    """Whether the root surely had no model call open: by the provider, or it waits for a tool."""
    calls = history.calls_of(history.root)
    if calls:
        return calls[-1].last.complete
    here = history.place(at)
    return any(
        history.place(one.start) < here and (one.end is None or history.place(one.end) > here)
        for one in history.tools.get(history.root, ())
    )


def _last_error(history: History, run: Run) -> Event | None:
    failure = failure_of(history, run)
    return failure.event if failure else None


def _works_after(history: History, run: Run) -> Event | None:
    """The first thing that the root says or does after the child's failure."""
    moment = run.end or _last_error(history, run)
    if moment is None:
        return None
    kinds = (Kind.AGENT_MESSAGE, Kind.TURN_STARTED, Kind.TOOL_STARTED, Kind.SPAWN_REQUESTED)
    for event in history.after(moment, *kinds):
        if event.agent == history.root and not event.get("error"):
            return event
    return None


def _turn_open(history: History, at: Event) -> bool:
    turns = [
        event
        for event in history.of(Kind.TURN_STARTED, Kind.TURN_ENDED)
        if event.agent == history.root and history.place(event) < history.place(at)
    ]
    return bool(turns) and turns[-1].kind is Kind.TURN_STARTED


LAW = Contained()
