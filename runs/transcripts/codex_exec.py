"""Standard output of ``codex exec --json``: the root's items; sub-agents only by their states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from runs.core.events import Draft, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._codex import SPAWN, STOP, TERMINAL, WAIT, WAKE, Codex, refusal, told
from runs.transcripts._sniff import records
from runs.transcripts._values import length, mapping, moment, number, text

TYPES = frozenset(
    {"thread.started", "turn.started", "turn.completed", "turn.failed", "item.started",
     "item.updated", "item.completed", "error"}
)  # fmt: skip
_TOOLS = frozenset(
    {"command_execution", "file_change", "mcp_tool_call", "web_search", "custom_tool_call"}
)


class Exec(Codex):
    """One run's output. Lines may be wrapped as ``{t, msg}`` by a recorder."""

    envelope = frozenset({"type"})

    def __init__(self, file: str) -> None:
        super().__init__(file, "stdout")
        self._refused: Draft | None = None

    def record(self, record: Mapping[str, Any]) -> None:
        """One record."""
        inner = mapping(record.get("msg"))
        self.at = number(record.get("t")) if inner else moment(record.get("timestamp"))
        found = inner or record
        self.native = text(found.get("type"), 80)
        self._explain(found)
        if self.native in ("item.started", "item.completed"):
            self._item(mapping(found.get("item")), self.native == "item.completed")
        elif self.native in _HANDLERS:
            _HANDLERS[self.native](self, found)
        else:
            self.other(self.native or "note", agent=self.root)

    def finish(self) -> None:
        """A refusal that nothing explained."""
        self._explain({})

    def _explain(self, record: Mapping[str, Any]) -> None:
        """Why a spawn was refused stands in the error item that follows it."""
        if self._refused is None:
            return
        item = mapping(record.get("item"))
        why = item.get("message") if item.get("type") == "error" else None
        data = {**self._refused.data, "refusal": refusal(why if isinstance(why, str) else "")}
        self.out.append(replace(self._refused, data=data))
        self._refused = None

    def _thread(self, record: Mapping[str, Any]) -> None:
        self.root = text(record.get("thread_id"))
        self.facts["session"] = self.root
        self.add(Kind.SESSION_STARTED, self.root, session=self.root)

    def _turn(self, record: Mapping[str, Any]) -> None:
        self.add(Kind.TURN_STARTED, self.root)

    def _turn_done(self, record: Mapping[str, Any]) -> None:
        """The turn of a headless run is the run."""
        self.add(Kind.TURN_ENDED, self.root, status="completed", raw=self.native)
        self.add(Kind.RESULT, self.root, status="completed", is_error=False)

    def _turn_failed(self, record: Mapping[str, Any]) -> None:
        self.end_turn(self.root, "failed", self.native, mapping(record.get("error")) or {"": ""})
        self.add(Kind.RESULT, self.root, status="failed", is_error=True)

    def _error(self, record: Mapping[str, Any]) -> None:
        message = record.get("message")
        if isinstance(message, str) and message.startswith("Reconnecting"):
            self.retry(self.root, message, {"codex_error_info": "stream"})
        else:
            self.other("error", agent=self.root)

    def _item(self, item: Mapping[str, Any], done: bool) -> None:
        kind, call = text(item.get("type"), 80), text(item.get("id"))
        if kind == "collab_tool_call":
            self._collab(item, call, done)
        elif kind == "agent_message" and done:
            self.add(Kind.AGENT_MESSAGE, self.root, text_length=length(item.get("text")))
        elif kind in _TOOLS:
            if done:
                ok = {"completed": True, "failed": False}.get(text(item.get("status"), 40))
                self.add(Kind.TOOL_ENDED, self.root, call=call, tool=kind, ok=ok)
            else:
                self.add(Kind.TOOL_STARTED, self.root, call=call, tool=kind)
        else:
            # Errors among the items are warnings as well, and end nothing.
            self.other(f"item/{kind}", agent=self.root)

    def _collab(self, item: Mapping[str, Any], call: str, done: bool) -> None:
        tool = text(item.get("tool"), 80)
        sender = text(item.get("sender_thread_id")) or self.root
        receivers = [text(one) for one in item.get("receiver_thread_ids") or [] if one]
        if not done:
            self.add(Kind.TOOL_STARTED, sender, call=call, tool=tool)
            if tool in SPAWN:
                self._spawn_asked(item, sender, call)
            elif tool in STOP:
                for target in receivers:
                    self.add(Kind.CANCEL_REQUESTED, sender, target=target, by="parent", raw=tool)
            return
        ok = {"completed": True, "failed": False}.get(text(item.get("status"), 40))
        self.add(Kind.TOOL_ENDED, sender, call=call, tool=tool, ok=ok)
        states = mapping(item.get("agents_states"))
        if tool in SPAWN:
            self._spawned(receivers, sender, call, ok is not False)
        elif tool in WAKE:
            for target in receivers:
                self.wake(target, sender, call)
        for child, state in states.items():
            self._state(text(child), state, sender, tool, call)

    def _spawn_asked(self, item: Mapping[str, Any], sender: str, call: str) -> None:
        self.add(
            Kind.SPAWN_REQUESTED,
            sender,
            call=call,
            background=True,
            model=text(item.get("model")) or None,
            prompt_length=length(item.get("prompt")),
        )

    def _spawned(self, receivers: list[str], sender: str, call: str, ok: bool) -> None:
        child = receivers[0] if receivers else ""
        self.add(
            Kind.SPAWN_ANSWERED,
            sender,
            call=call,
            ok=ok,
            child=child,
            refusal=None if ok else "error",
            background=True,
        )
        if child and ok:
            self.begin(child, sender, call=call, background=True, ends_elsewhere=True)
        if not ok and not child:
            self._refused = self.out.pop()

    def _state(self, child: str, state: Any, sender: str, tool: str, call: str) -> None:
        """What a tool call reports of a sub-agent is all that this view knows of its end."""
        ours, raw, size = told(state)
        if ours in TERMINAL and child not in self.ended:
            self.ended.add(child)
            self.add(
                Kind.AGENT_ENDED,
                child,
                status=ours,
                raw=raw,
                text_length=size,
                has_result=None if size is None else size > 0,
            )
        if tool in WAIT:
            self.notify(sender, child, state, "wait", call)


_HANDLERS = {
    "thread.started": Exec._thread,
    "turn.started": Exec._turn,
    "turn.completed": Exec._turn_done,
    "turn.failed": Exec._turn_failed,
    "error": Exec._error,
}


class CodexExec(Format):
    """A headless run."""

    name = "codex-exec-json"
    title = "Codex exec output"
    source = "stdout"
    agent = "codex"
    clock = "relative"

    def sniff(self, head: bytes, name: str) -> float:
        """By its record types, wrapped or not."""
        found = [mapping(one.get("msg")) or one for one in records(head)]
        mine = [one for one in found if text(one.get("type")) in TYPES]
        sure = any(str(one["type"]).startswith(("thread.", "turn.", "item.")) for one in mine)
        return 0.92 if sure and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one run's output."""
        return Exec(file)


READER = CodexExec()
