"""What an agent's model is asked after a restart, beside what was stored of its conversation.

Texts are compared by their digests, tools by the ids of their calls (see ``fakes.spoken``);
a call counts only where its id stood in what the model was asked before the restart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runs.core.events import Event, Kind
from runs.core.history import History

_TEXTS = {Kind.USER_MESSAGE: "user", Kind.NOTICE_DELIVERED: "user", Kind.AGENT_MESSAGE: "assistant"}
_TOOLS = {Kind.TOOL_STARTED: "call", Kind.TOOL_ENDED: "output"}


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The first request of an agent after a restart. `lost`: what was stored before the restart
    and is not in it; `doubled`: what is in it more often than it is stored."""

    asked: Event
    stored: Sequence[Event]
    lost: Sequence[Event]
    doubled: Sequence[Event]


def reloaded(history: History, agent: str, resume: Event) -> Reloaded | None:
    """None where the agent asked nothing after it, or nothing of its conversation is stored."""
    if not (history.timed and history.clocks_agree):
        return None
    back = history.time(resume)
    tries = history.attempts_by_agent.get(agent, ())
    before = [one.received for one in tries if one.start < back and one.received is not None]
    after = [one.received for one in tries if one.start > back and one.received is not None]
    if not after or not after[0].get("conversation"):
        return None
    words = Counter(_conversation(after[:1]))
    known = set(_conversation(before))
    told = [
        (word, event)
        for event in history.agents[agent].events
        for word in [_word(event)]
        if word and event.seen_in("session") and (event.kind in _TEXTS or word in known)
    ]
    all_of = Counter(word for word, _ in told)
    earlier = [(word, event) for word, event in told if history.precedes(event, resume)]
    needed = Counter(word for word, _ in earlier)
    if not needed:
        return None
    return Reloaded(
        asked=after[0],
        stored=[event for _, event in earlier],
        lost=[event for word, event in earlier if words[word] < needed[word]],
        doubled=[event for word, event in told if words[word] > all_of[word]],
    )


def _conversation(requests: Iterable[Event]) -> list[str]:
    return [str(word) for one in requests for word in one.get("conversation") or ()]


def _word(event: Event) -> str:
    """How an event would stand in a conversation; empty where it does not, or does not say."""
    text, tool = _TEXTS.get(event.kind), _TOOLS.get(event.kind)
    if text:
        return f"{text} {event.get('digest')}" if event.get("digest") else ""
    return f"{tool} {event.get('call')}" if tool and event.get("call") else ""
