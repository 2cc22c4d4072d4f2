"""The items of a thread on an app-server's connection: what begins and ends, says and calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._codex import SPAWN, STOP, WAIT, WAKE, Codex, refusal
from runs.transcripts._open_items import OpenItems, Place
from runs.transcripts._values import items, length, mapping, text

_TOOLS = frozenset(
    {"commandExecution", "fileChange", "mcpToolCall", "webSearch", "dynamicToolCall", "imageView"}
)
_CARDS = frozenset({"subAgentActivity", "collabAgentToolCall"})


class Items(Codex):
    """A reader of items."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "rpc")
        self.open_items = OpenItems()
        self.seen: set[tuple[str, str]] = set()
        """What was said once already, by what and whose."""
        self.begun: dict[str, set[str]] = {}
        """The turns of each thread that were seen to begin."""

    def finish(self) -> None:
        """Items whose ends did not come stand where they begin."""
        for item in self.open_items.left():
            place = item.place
            self._stand(place.line, place.offset, place.length)
            self.at, self.native = place.at, place.native
            self.add(Kind.ITEM_LEFT, item.thread, what=item.what, item=item.name)

    def item_started(self, params: Mapping[str, Any], thread: str) -> None:
        self._placed(params, thread, done=False)

    def item_completed(self, params: Mapping[str, Any], thread: str) -> None:
        self._placed(params, thread, done=True)

    def _placed(self, params: Mapping[str, Any], thread: str, done: bool) -> None:
        """An item of a turn; a card of a sub-agent of some earlier turn begins nothing here."""
        item, turn, seen = mapping(params.get("item")), text(params.get("turnId")), self.begun
        if turn and thread in seen and turn not in seen[thread] and item.get("type") in _CARDS:
            self.other(f"item/{text(item['type'], 80)}", summary="of an earlier turn", agent=thread)
        else:
            self._item(item, thread, done)

    def _item(self, item: Mapping[str, Any], thread: str, done: bool) -> None:
        kind, name = text(item.get("type"), 80), text(item.get("id"))
        what = {"agentMessage": "message", "collabAgentToolCall": text(item.get("tool"), 80)}
        if done:
            self.open_items.end(thread, name)
        elif kind in what:
            place = Place(self.line, self.offset, self.length, self.at, self.native)
            self.open_items.begin(thread, name, what[kind], place)
        if kind == "collabAgentToolCall":
            self._collab(item, name, done)
        elif kind == "subAgentActivity":
            self._activity(item, thread, name)
        elif kind == "agentMessage" and done:
            size = length(item.get("text"))
            self.said[thread] = size
            self.add(Kind.AGENT_MESSAGE, thread, text_length=size)
        elif kind == "userMessage" and not done:
            self.add(Kind.USER_MESSAGE, thread, text_length=length(item.get("content")))
        elif kind in _TOOLS:
            if done:
                ok = {"completed": True, "failed": False}.get(text(item.get("status"), 40))
                self.add(Kind.TOOL_ENDED, thread, call=name, tool=kind, ok=ok)
            else:
                self.add(Kind.TOOL_STARTED, thread, call=name, tool=kind)
        else:
            self.other(f"item/{kind}", agent=thread)

    def _activity(self, item: Mapping[str, Any], thread: str, name: str) -> None:
        """What a parent's thread shows of a sub-agent; written when it begins and once more."""
        kind = text(item.get("kind"), 40)
        child, path = text(item.get("agentThreadId")), text(item.get("agentPath"))
        if (kind, name) in self.seen:
            self.other(f"activity/{kind}", summary="again", agent=thread)
            return
        self.seen.add((kind, name))
        if kind == "started":
            self.add(Kind.SPAWN_ANSWERED, thread, call=name, ok=True, child=child, background=True)
            self.begin(child, thread, call=name, path=path, name=path.rpartition("/")[2],
                       background=True)  # fmt: skip
        elif kind in ("completed", "interrupted"):
            self.notify(thread, child, kind, "activity", name)
        else:
            self.other(f"activity/{kind}", agent=thread)

    def _collab(self, item: Mapping[str, Any], call: str, done: bool) -> None:
        tool = text(item.get("tool"), 80)
        sender = text(item.get("senderThreadId"))
        receivers = [text(one) for one in items(item.get("receiverThreadIds")) if one]
        if not done:
            self.add(Kind.TOOL_STARTED, sender, call=call, tool=tool)
            if tool in SPAWN:
                self.add(
                    Kind.SPAWN_REQUESTED, sender, call=call, background=True,
                    model=text(item.get("model")) or None,
                    prompt_length=length(item.get("prompt")),
                )  # fmt: skip
            for target in receivers if tool in STOP else ():
                self.add(Kind.CANCEL_REQUESTED, sender, target=target, by="parent", raw=tool)
            return
        ok = {"completed": True, "failed": False}.get(text(item.get("status"), 40))
        self.add(Kind.TOOL_ENDED, sender, call=call, tool=tool, ok=ok)
        if tool in SPAWN:
            child = receivers[0] if receivers else ""
            accepted = ok is not False and bool(child)
            self.add(
                Kind.SPAWN_ANSWERED, sender, call=call, ok=accepted, child=child,
                refusal=None if accepted else refusal(text(item.get("error"), 400)),
                background=True,
            )  # fmt: skip
            self.begin(child, sender, call=call, background=True)
        for target in receivers if tool in WAKE else ():
            self.wake(target, sender, call)
        if tool in WAIT:
            for child, state in mapping(item.get("agentsStates")).items():
                self.notify(sender, text(child), state, "wait", call)

    def delta(self, params: Mapping[str, Any], thread: str) -> None:
        self.add(Kind.DELTA, thread, text_length=length(params.get("delta")), what="text")
