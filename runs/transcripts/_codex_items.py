"""The conversation in a Codex rollout: tool calls, messages between agents, notices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fakes.spoken import digest
from runs.core.events import Kind
from runs.transcripts._codex import SPAWN, STOP, WAIT, WAKE, Codex, parsed, refusal
from runs.transcripts._values import first_text, length, mapping, text

_NOTICE = re.compile(r"<subagent_notification>\s*(\{.*?\})\s*</subagent_notification>", re.S)
_ERRORED = "Agent errored:"
LONGEST = 4 << 20
"""Characters of a text that is still looked into: a sub-agent's answer stands in its notice."""


class Conversation(Codex):
    """The items of one thread, in the order in which the model saw them."""

    def __init__(self, file: str, source: str) -> None:
        super().__init__(file, source)
        self.thread = ""
        self.calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.paths: dict[str, str] = {}
        self._early: dict[str, Mapping[str, Any]] = {}
        """Outputs that stand before their call, as lines out of order do."""
        self._last_text = ""

    def item(self, payload: Mapping[str, Any], word: str) -> None:
        """One item."""
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
        if call in self._early:
            self._output(self._early.pop(call))

    def _output(self, payload: Mapping[str, Any]) -> None:
        call = text(payload.get("call_id"))
        if call and call not in self.calls and call not in self._early and len(self._early) < 1000:
            self._early[call] = payload
            self.other(self.native, summary="before its call", agent=self.thread)
            return
        name, given = self.calls.pop(call, ("", {}))
        output = payload.get("output")
        words = first_text(output) or text(mapping(output).get("content"), LONGEST)
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
            child = self.paths.get(author, author)
            self.notify(self.thread, child, state, "notification", worded=failed)
        elif kind == "NEW_TASK":
            self._addressed(payload.get("recipient"))
            self.add(Kind.USER_MESSAGE, self.thread, text_length=length(payload.get("content")),
                     **{"from": author})  # fmt: skip
        else:
            self.other(self.native, summary=kind[:80], agent=self.thread)

    def _conversation(self, payload: Mapping[str, Any]) -> None:
        role = text(payload.get("role"), 40)
        words = first_text(payload.get("content"))
        if role == "assistant" and words.startswith('{"author"'):
            found = parsed(words)
            self._addressed(found.get("recipient"))
            self._notification(text(found.get("content"), LONGEST), found)
        elif role == "assistant":
            self.message(words)
        elif words.lstrip().startswith("<subagent_notification>"):
            self._notification(words, {})
        else:
            self.other(self.native, summary=role, agent=self.thread)

    def _addressed(self, recipient: Any) -> None:
        """Where a file says not whose it is, its mail does: see ``_nameless``."""
        path = text(recipient)
        if "startless" in self.facts and path.count("/") > 1:
            self.facts.setdefault("path", path)

    def _notification(self, words: str, envelope: Mapping[str, Any]) -> None:
        found = _NOTICE.search(words)
        notice = parsed(found[1]) if found else {}
        child = text(notice.get("agent_path") or notice.get("agent_id"))
        if not child:
            self.other(self.native, summary="between agents", agent=self.thread)
            return
        self.notify(self.thread, self.paths.get(child, child), notice.get("status"), "notification")

    def message(self, words: str) -> None:
        """What the agent said; the same text comes as an event and as an item."""
        if words and words == self._last_text:
            self.other(self.native, agent=self.thread)
            self._last_text = ""
            return
        self._last_text = words
        self.add(Kind.AGENT_MESSAGE, self.thread, text_length=len(words), digest=digest(words))
