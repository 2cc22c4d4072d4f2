"""Codex's rollouts: ``sessions/Y/M/D/rollout-TIME-THREAD.jsonl``, one file a thread.

A sub-agent's file of 0.147 and later also holds its parent's session_meta and
turns, as a copy; from 0.160 on ``subagent_history_start_ordinal`` says where its
own records begin. Copied records are kept as ``other``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from runs.core.events import Draft, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._codex_items import LONGEST, Conversation
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

_THREAD = re.compile(r"rollout-[\dT:-]+?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")
HELD = 8
"""Lines that may stand before the one that says whose file it is."""
_META = b'"session_meta"'
TYPES = frozenset({"session_meta", "event_msg", "response_item", "turn_context"})


class Rollout(Conversation):
    """One thread."""

    envelope = frozenset({"type", "payload"})

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self.border: int | None = None
        self.copying = False
        self.turn_open = False
        self._held: list[tuple[bytes, int, int]] | None = []

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """One line; the first ones are held back until one has said whose file it is."""
        held = self._held
        if held is None:
            return super().feed(line, number, offset)
        if _META not in line and len(held) < HELD:
            if line.strip():
                held.append((line, number, offset))
            return []
        found = list(super().feed(line, number, offset)) if _META in line else []
        found += self._release(reordered=bool(found))
        return found if _META in line else [*found, *super().feed(line, number, offset)]

    def _release(self, *, reordered: bool) -> list[Draft]:
        held, self._held = self._held or [], None
        found: list[Draft] = []
        for line, number, offset in held:
            found += super().feed(line, number, offset)
            if reordered:
                self.out = []
                self.damage("reordered", repaired=True, detail="whose it is stands further down")
                found += self.out
        return found

    def end(self) -> Iterable[Draft]:
        """What is left, when the file is over."""
        return [*self._release(reordered=False), *super().end()]

    def record(self, record: Mapping[str, Any]) -> None:
        """One record."""
        self.at = moment(record.get("timestamp"))
        payload = mapping(record.get("payload"))
        kind = self.native
        word = text(payload.get("type"), 80)
        self.native = f"{kind}/{word}" if word else kind
        copied = kind == "session_meta" and (integer(record.get("ordinal")) or 0) > 0
        if kind == "session_meta" and not self.thread and not copied and self._is_own(payload):
            self._meta(payload)
            return
        if not self.thread:
            self._unnamed(text(payload.get("id")) if kind == "session_meta" else "")
        if kind == "session_meta" and payload.get("id") not in (None, self.thread):
            self.copying = True
            self.other("session_meta", summary="copied from the parent", agent=self.thread)
        elif self._copied(record, kind, word):
            self.other(self.native, summary="copied from the parent", agent=self.thread)
        elif kind == "event_msg":
            self._event(payload, word)
        elif kind == "response_item":
            self.item(payload, word)
        else:
            self._settings(kind, payload)

    def _is_own(self, payload: Mapping[str, Any]) -> bool:
        """Whether it is about this file's thread, as far as the file's name tells."""
        named = _THREAD.search(self.file)
        return named is None or payload.get("id") in (None, named[1])

    def _unnamed(self, above: str) -> None:
        """Without its first record a file has the thread in its name, if anywhere.

        `above`: whose history a sub-agent's file holds.
        """
        found = _THREAD.search(self.file)
        self.thread = found[1] if found else self.file.rpartition("/")[2].partition(".")[0]
        self.facts["startless"] = self.thread
        if not found:
            self.facts["unnamed"] = self.thread
        if above:
            self.facts["above"] = above
        self.damage("missing-start", repaired=False, detail="the file says not whose it is")

    def _settings(self, kind: str, payload: Mapping[str, Any]) -> None:
        """What a turn runs with; a sub-agent's model is a fact about it."""
        model = text(payload.get("model")) if kind == "turn_context" else ""
        if model:
            self.facts.setdefault("model", model)
        if model and self.thread in self.started and self.thread not in self.ended:
            self.add(
                Kind.STATUS, self.thread, status="running", raw=kind, inferred=True, model=model
            )
        else:
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
        by = "user" if reason == "interrupted" and self.thread not in self.started else None
        self.add(Kind.ABORTED, self.thread, reason=reason, by=by, target=self.thread)
        self.end_turn(self.thread, "interrupted", reason or "turn_aborted", None)

    def _user(self, payload: Mapping[str, Any]) -> None:
        self.add(Kind.USER_MESSAGE, self.thread, text_length=length(payload.get("message")))

    def _said(self, payload: Mapping[str, Any]) -> None:
        self.message(text(payload.get("message"), LONGEST))

    def _error(self, payload: Mapping[str, Any]) -> None:
        self.retry(self.thread, payload.get("message"), payload)

    def _item_completed(self, payload: Mapping[str, Any]) -> None:
        item = mapping(payload.get("item"))
        kind = text(item.get("type"), 80)
        if kind == "UserMessage":
            size = length(item.get("content"))
            self.add(Kind.USER_MESSAGE, self.thread, text_length=size)
        elif kind == "AgentMessage":
            self.message(first_text(item.get("content")))
        elif kind == "SubAgentActivity" and item.get("kind") == "started":
            child, path = text(item.get("agent_thread_id")), text(item.get("agent_path"))
            self.paths[path] = child
            self.begin(
                child, self.thread, path=path, call=text(item.get("id")),
                name=path.rpartition("/")[2], background=True, ends_elsewhere=True,
            )  # fmt: skip
        else:
            self.other(f"item/{kind}", agent=self.thread)


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
            if {"timestamp", "type", "payload"} <= one.keys() and text(one["type"]) in TYPES
        ]
        return 0.95 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one thread's file."""
        return Rollout(file)


READER = CodexRollout()
