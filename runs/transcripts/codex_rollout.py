"""Codex's rollouts: ``sessions/Y/M/D/rollout-TIME-THREAD.jsonl``, one file a thread.

A sub-agent's file of 0.147 and later also holds its parent's session_meta and
turns, as a copy; from 0.160 on ``subagent_history_start_ordinal`` says where its
own records begin. Copied records are kept as ``other``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._codex import SPAWN, STOP, WAIT, WAKE, Codex, parsed, refusal
from runs.transcripts._sniff import records
from runs.transcripts._values import (
    first_text,
    integer,
    length,
    mapping,
    moment,
    seconds,
    text,
)

TYPES = frozenset({"session_meta", "event_msg", "response_item", "turn_context"})
_NOTICE = re.compile(r"<subagent_notification>\s*(\{.*?\})\s*</subagent_notification>", re.S)
_ERRORED = "Agent errored:"


class Rollout(Codex):
    """One thread."""

    envelope = frozenset({"type", "payload"})

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self.thread = ""
        self.border: int | None = None
        self.copying = False
        self.turn_open = False
        self.calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.paths: dict[str, str] = {}
        self._last_text = ""

    def record(self, record: Mapping[str, Any]) -> None:
        """One record."""
        self.at = moment(record.get("timestamp"))
        payload = mapping(record.get("payload"))
        kind = self.native
        word = text(payload.get("type"), 80)
        self.native = f"{kind}/{word}" if word else kind
        if kind == "session_meta" and not self.thread:
            self._meta(payload)
        elif kind == "session_meta" and payload.get("id") not in (None, self.thread):
            self.copying = True
            self.other("session_meta", summary="copied from the parent", agent=self.thread)
        elif self._copied(record, kind, word):
            self.other(self.native, summary="copied from the parent", agent=self.thread)
        elif kind == "event_msg":
            self._event(payload, word)
        elif kind == "response_item":
            self._item(payload, word)
        else:
            if kind == "turn_context" and payload.get("model"):
                self.facts.setdefault("model", text(payload["model"]))
            self.other(self.native, agent=self.thread)

    def _copied(self, record: Mapping[str, Any], kind: str, word: str) -> bool:
        if not self.copying:
            return False
        ordinal = integer(record.get("ordinal"))
        if self.border is not None and ordinal is not None:
            self.copying = ordinal < self.border
        elif kind == "event_msg" and word == "task_started":
            # Without a border: the copy ends inside of the parent's turn, so that the
            # sub-agent's own begins while that one is still open.
            self.copying = not self.turn_open
            self.turn_open = True
        elif kind == "event_msg" and word == "task_complete":
            self.turn_open = False
        return self.copying

    def _meta(self, payload: Mapping[str, Any]) -> None:
        self.thread = text(payload.get("id")) or "thread"
        self.border = integer(payload.get("subagent_history_start_ordinal"))
        version = text(payload.get("cli_version"))
        self.facts.update(version=version, session=self.thread, cwd=text(payload.get("cwd"), 400))
        source = payload.get("source")
        sub = mapping(source).get("subagent")
        spawn = mapping(mapping(sub).get("thread_spawn"))
        parent = text(spawn.get("parent_thread_id") or payload.get("parent_thread_id"))
        if not parent and sub is None:
            self.root = self.thread
            self.add(
                Kind.SESSION_STARTED,
                self.thread,
                version=version,
                session=self.thread,
                cwd=text(payload.get("cwd"), 400),
            )
            return
        self.facts.pop("session", None)
        path = text(spawn.get("agent_path") or payload.get("agent_path"))
        self.begin(
            self.thread,
            parent,
            name=text(spawn.get("agent_nickname") or path.rpartition("/")[2]),
            role=text(spawn.get("agent_role") or (sub if isinstance(sub, str) else "")),
            path=path or None,
            depth=integer(spawn.get("depth")),
            background=None,
        )

    # Events

    def _event(self, payload: Mapping[str, Any], word: str) -> None:
        handler = _EVENTS.get(word)
        if handler is None:
            self.other(self.native, agent=self.thread)
        else:
            handler(self, payload)

    def _task_started(self, payload: Mapping[str, Any]) -> None:
        self.wake(self.thread, "", reason="new turn")
        self.add(Kind.TURN_STARTED, self.thread, turn=text(payload.get("turn_id")))

    def _task_complete(self, payload: Mapping[str, Any]) -> None:
        error = payload.get("error")
        said = payload.get("last_agent_message")
        more: dict[str, Any] = {"turn": text(payload.get("turn_id"))}
        if self.thread in self.started:
            more = {"duration": seconds(payload.get("duration_ms"))}
            if "last_agent_message" in payload:
                more["text_length"] = length(said)
        self.end_turn(
            self.thread, "failed" if error else "completed", "task_complete", error, **more
        )

    def _aborted(self, payload: Mapping[str, Any]) -> None:
        reason = text(payload.get("reason"), 80)
        self.add(Kind.ABORTED, self.thread, reason=reason, target=self.thread)
        self.end_turn(self.thread, "interrupted", reason or "turn_aborted", None)

    def _user(self, payload: Mapping[str, Any]) -> None:
        self.add(Kind.USER_MESSAGE, self.thread, text_length=length(payload.get("message")))

    def _said(self, payload: Mapping[str, Any]) -> None:
        self._message(text(payload.get("message"), 1 << 20))

    def _message(self, words: str) -> None:
        if words and words == self._last_text:  # The same text as event and as item.
            self.other(self.native, agent=self.thread)
            self._last_text = ""
            return
        self._last_text = words
        self.add(Kind.AGENT_MESSAGE, self.thread, text_length=len(words))

    def _error(self, payload: Mapping[str, Any]) -> None:
        self.retry(self.thread, payload.get("message"), payload)

    def _item_completed(self, payload: Mapping[str, Any]) -> None:
        item = mapping(payload.get("item"))
        kind = text(item.get("type"), 80)
        if kind == "UserMessage":
            size = length(item.get("content"))
            self.add(Kind.USER_MESSAGE, self.thread, text_length=size)
        elif kind == "AgentMessage":
            self._message(first_text(item.get("content")))
        elif kind == "SubAgentActivity" and item.get("kind") == "started":
            child, path = text(item.get("agent_thread_id")), text(item.get("agent_path"))
            self.paths[path] = child
            self.begin(
                child, self.thread, path=path, call=text(item.get("id")),
                name=path.rpartition("/")[2], background=True, ends_elsewhere=True,
            )  # fmt: skip
        else:
            self.other(f"item/{kind}", agent=self.thread)

    # Items of the conversation

    def _item(self, payload: Mapping[str, Any], word: str) -> None:
        if word in ("function_call", "custom_tool_call"):
            self._call(payload)
        elif word in ("function_call_output", "custom_tool_call_output"):
            self._output(payload)
        elif word == "agent_message":
            self._inter_agent(payload)
        elif word == "message":
            self._conversation(payload)
        else:
            self.other(self.native, agent=self.thread)

    def _call(self, payload: Mapping[str, Any]) -> None:
        name, call = text(payload.get("name")), text(payload.get("call_id"))
        given = parsed(payload.get("arguments"))
        if len(self.calls) < 200_000:
            self.calls[call] = (name, given)
        self.add(Kind.TOOL_STARTED, self.thread, call=call, tool=name)
        target = self.paths.get(
            text(given.get("target")), text(given.get("target") or given.get("id"))
        )
        if name in SPAWN:
            self.add(
                Kind.SPAWN_REQUESTED,
                self.thread,
                call=call,
                name=text(given.get("task_name")),
                role=text(given.get("agent_type")),
                background=True,
                model=text(given.get("model")) or None,
                prompt_length=length(given.get("message")),
            )
        elif name in STOP:
            self.add(Kind.CANCEL_REQUESTED, self.thread, target=target, by="parent", raw=name)
        elif name in WAKE and target:
            self.add(Kind.AGENT_RESUMED, target, by=self.thread, call=call, reason=name)

    def _output(self, payload: Mapping[str, Any]) -> None:
        call = text(payload.get("call_id"))
        name, given = self.calls.pop(call, ("", {}))
        output = payload.get("output")
        words = first_text(output) or text(mapping(output).get("content"), 1 << 20)
        answer = parsed(words)
        ok = mapping(output).get("success")
        self.add(
            Kind.TOOL_ENDED, self.thread, call=call, tool=name,
            ok=ok if isinstance(ok, bool) else None, text_length=len(words),
        )  # fmt: skip
        if name in SPAWN:
            child = text(answer.get("agent_id") or answer.get("task_name"))
            self.add(
                Kind.SPAWN_ANSWERED,
                self.thread,
                call=call,
                ok=bool(child),
                child=self.paths.get(child, child),
                refusal=None if child else refusal(words),
                background=True,
            )
        elif name in WAIT:
            for child, state in mapping(answer.get("status")).items():
                found = text(child)
                self.notify(self.thread, self.paths.get(found, found), state, "wait", call)

    def _inter_agent(self, payload: Mapping[str, Any]) -> None:
        """A message between agents; a final answer is the notice of the end."""
        author = text(payload.get("author"))
        words = first_text(payload.get("content"))
        head, _, said = words.partition("Payload:\n")
        kind = head.partition("Message Type:")[2].strip().split("\n", 1)[0].strip()
        if kind == "FINAL_ANSWER":
            failed = said.startswith(_ERRORED)
            state = {"errored" if failed else "completed": said}
            self.notify(self.thread, self.paths.get(author, author), state, "notification")
        elif kind == "NEW_TASK":
            self.add(Kind.USER_MESSAGE, self.thread, text_length=length(payload.get("content")),
                     **{"from": author})  # fmt: skip
        else:
            self.other(self.native, summary=kind[:80], agent=self.thread)

    def _conversation(self, payload: Mapping[str, Any]) -> None:
        role = text(payload.get("role"), 40)
        words = first_text(payload.get("content"))
        if role == "assistant" and words.startswith('{"author"'):
            found = parsed(words)
            self._notification(text(found.get("content"), 1 << 20), found)
        elif role == "assistant":
            self._message(words)
        elif words.lstrip().startswith("<subagent_notification>"):
            self._notification(words, {})
        else:
            self.other(self.native, summary=role, agent=self.thread)

    def _notification(self, words: str, envelope: Mapping[str, Any]) -> None:
        found = _NOTICE.search(words)
        notice = parsed(found[1]) if found else {}
        child = text(notice.get("agent_path") or notice.get("agent_id"))
        if not child:
            self.other(self.native, summary="between agents", agent=self.thread)
            return
        self.notify(self.thread, self.paths.get(child, child), notice.get("status"), "notification")


_EVENTS = {
    "task_started": Rollout._task_started,
    "turn_started": Rollout._task_started,
    "task_complete": Rollout._task_complete,
    "turn_complete": Rollout._task_complete,
    "turn_aborted": Rollout._aborted,
    "user_message": Rollout._user,
    "agent_message": Rollout._said,
    "stream_error": Rollout._error,
    "item_completed": Rollout._item_completed,
}


class CodexRollout(Format):
    """The root's file or a sub-agent's."""

    name = "codex-rollout-jsonl"
    title = "Codex rollout"
    source = "session"
    agent = "codex"

    def sniff(self, head: bytes, name: str) -> float:
        """By timestamp, type and payload, and its types."""
        found = records(head)
        mine = [
            one
            for one in found
            if {"timestamp", "type", "payload"} <= one.keys() and one["type"] in TYPES
        ]
        return 0.95 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one thread's file."""
        return Rollout(file)


READER = CodexRollout()
