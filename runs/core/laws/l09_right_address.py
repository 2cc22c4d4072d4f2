"""L9: word of a child's end goes to the agent that spawned it, and is about that child."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from runs.core.agents import Agent, tells_end
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds

_SENT = frozenset({"notification", "wake", "tool_result"})
"""Forms by which the runtime chooses the addressee; with the others the asker did."""

TELLING = 6
"""Characters of a text that two agents do not say by chance (“done” they do)."""


class RightAddress(Law):
    """Compares each notice with the spawn edge of the child that it names."""

    id = "L9"
    name = "RIGHT-ADDRESS"
    sentence = (
        "Id, parent edge and text of each notice agree with the spawn edge, and it goes to the "
        "spawner (or requester), nobody else."
    )
    why = "A result in the wrong hands is lost for its owner and poison for its reader."
    detected = (
        "Notices whose receiver is not the child's spawner (nor who resumed it), and notices whose "
        "call id, or whose whole text, belongs to another child. Polls and waits are the asker's "
        "own choice."
    )
    needs = "Spawn edges and notices with ids."
    labels = ("misrouted_notice",)
    follows = ("L3",)

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        calls = {
            agent.spawn.call: agent.id
            for agent in history.children
            if agent.spawn is not None and agent.spawn.call
        }
        for agent in history.children:
            notices = [
                note
                for run in agent.runs
                for note in run.notices
                if note.get("form") in _SENT and tells_end(note)
            ]
            if notices:
                yield self._judge(history, agent, notices, calls)

    def _judge(
        self, history: History, agent: Agent, notices: list[Event], calls: dict[str, str]
    ) -> Finding:
        if agent.edge is None:
            if _is_foreign(history, agent, notices):
                return self.broken(
                    agent.id,
                    f"Nobody here spawned it, and word of its end came to {notices[0].agent}.",
                    *notices[:2],
                    label="misrouted_notice",
                )
            return self.unknown(agent.id, "Who spawned it is not to be seen.", *notices[:1])
        fair = {agent.parent, *_requesters(agent)}
        own = {event.get("digest") for event in agent.events if event.kind is Kind.AGENT_MESSAGE}
        for note in notices:
            if note.agent not in fair and _is_nobody(history, note):
                return self.unknown(agent.id, "Whose log the notice stands in is lost.", note)
            if note.agent not in fair:
                return self.broken(
                    agent.id,
                    f"Its spawner is {agent.parent}; word of its end went to {note.agent}.",
                    agent.edge,
                    note,
                    *_queued(agent),
                    label="misrouted_notice",
                )
            owner = calls.get(str(note.get("call") or ""), agent.id)
            if owner != agent.id:
                return self.broken(
                    agent.id,
                    f"The notice names this child, and its call belongs to {owner}.",
                    agent.edge,
                    note,
                    label="misrouted_notice",
                )
            swapped = _words_of_another(history, agent, note, own)
            if swapped is not None:
                return self.broken(
                    agent.id,
                    f"The notice names this child, and its text is what {swapped.agent} said.",
                    note,
                    *_queued(agent),
                    swapped,
                    *[event for event in agent.events if event.kind is Kind.AGENT_MESSAGE][-1:],
                    label="misrouted_notice",
                )
        return self.holds(agent.id, "Every notice went to its spawner.", agent.edge, notices[0])


def _queued(agent: Agent) -> list[Event]:
    """Word of its ends as it was put in a queue."""
    return [event for run in agent.runs for event in run.queued][:3]


def _words_of_another(
    history: History, agent: Agent, note: Event, own: Collection[object]
) -> Event | None:
    """What another child said and this one never did, where the notice has just that text.

    `own` are the digests of all that this one said; None stands for what is not to be told.
    """
    mark = note.get("digest")
    if not mark or not own or mark in own or None in own:
        return None
    if any(history.may_have_lost(run) for run in agent.runs):
        return None
    said = [
        event
        for event in history.of(Kind.AGENT_MESSAGE)
        if event.get("digest") == mark and int(event.get("text_length") or 0) >= TELLING
    ]
    kin = {history.root, *history.ancestors(agent.id)}
    kin |= {one.id for one in history.descendants(agent.id)}
    # One may hand on what another said, and two may say the same.
    alone = len({event.agent for event in said}) == 1 and said[0].agent not in kin
    return said[-1] if alone else None


def _is_nobody(history: History, note: Event) -> bool:
    """Whether its receiver is but the name of a log whose begin is gone."""
    cut = {event.file for event in history.damage if event.get("what") == "missing-start"}
    known = note.agent == history.root or history.agents[note.agent].runs
    return note.file in cut and not known


def _is_foreign(history: History, agent: Agent, notices: list[Event]) -> bool:
    """Whether the logs show every spawn from the start, and none of them is this child's."""
    if any(run.start is not None for run in agent.runs) or history.losses:
        return False
    if notices[0].agent in _requesters(agent):
        return False
    starts = history.of(Kind.SESSION_STARTED)
    begun = starts and history.precedes(starts[0], notices[0])
    begun = begun and not history.of(Kind.SESSION_RESUMED)
    cut = any(event.get("what") == "missing-start" for event in history.damage)
    nameless = any(not one.child for one in history.not_refused)
    seen = all(note.source in ("session", "stdout") for note in notices)
    return bool(begun) and seen and not cut and not nameless


def _requesters(agent: Agent) -> set[str]:
    """Who gave it further work: whoever asked gets the answer."""
    return {
        str(event.get("by") or event.get("from"))
        for event in agent.events
        if event.kind in (Kind.AGENT_RESUMED, Kind.USER_MESSAGE)
        and (event.get("by") or event.get("from"))
    }


LAW = RightAddress()
