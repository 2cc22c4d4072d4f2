"""One conversation as Cline stores it (``….messages.json``), written anew at each message.

It shows what a model was told: the results of its calls, and the messages that Cline itself
delivers when runs of teammates in the background have ended. The stream has none of the latter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._cline import Calls
from runs.transcripts._documents import Document
from runs.transcripts._values import first_text, items, length, mapping, moment, text

DELIVERED = "System-delivered teammate async run updates:"
_KEYS = (b'"updated_at"', b'"agent"', b'"sessionId"', b'"origin"')
_UPDATE = re.compile(r"^- (run_\d{1,9}) \((.{1,200}?)\) -> (\w{1,40})(.*)$", re.M)


class ClineMessages(Document):
    """One conversation: the root's, or a sub-agent's, which is named in its origin."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self.facts["agent"] = "cline"
        self.agent = ROOT
        self._calls = Calls(self, self.child_of)

    def child_of(self, call: str) -> str:
        """The sub-agent that a call of ``spawn_agent`` started; nothing in here says it."""
        return ""

    def document(self, data: Any) -> None:
        """Each message."""
        origin = mapping(mapping(data).get("origin"))
        self.agent = text(origin.get("subagent")) or ROOT
        self.facts["version"] = text(origin.get("version"), 60)
        for place, message in enumerate(items(mapping(data).get("messages"))):
            self._message(mapping(message), f"/messages/{place}")

    def _message(self, message: Mapping[str, Any], pointer: str) -> None:
        role, content = text(message.get("role"), 40), message.get("content")
        self.at, self.pointer, self.native = moment(message.get("ts")), pointer, f"message/{role}"
        self.native_id, self._added = text(message.get("id"), 80), 0
        parts = [mapping(part) for part in items(content)]
        if mapping(message.get("metadata")).get("displayRole") == "error":
            detail = text(first_text(content), 300)
            self.add(Kind.ERROR, self.agent, error_class="other", raw="error", detail=detail)
        elif role == "assistant":
            self._said(message, parts)
        elif any(part.get("type") == "tool_result" for part in parts):
            for part in parts:
                self._result(part)
        else:
            self._heard(first_text(content))

    def _said(self, message: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> None:
        calls = [part for part in parts if part.get("type") == "tool_use"]
        self.add(
            Kind.AGENT_MESSAGE,
            self.agent,
            text_length=sum(length(part) for part in parts if part.get("type") == "text"),
            tool_calls=len(calls),
            model=text(mapping(message.get("modelInfo")).get("id")) or None,
        )
        for part in calls:
            given = mapping(part.get("input"))
            self._calls.asked(self.agent, text(part.get("id")), text(part.get("name")), given)

    def _result(self, part: Mapping[str, Any]) -> None:
        if part.get("type") != "tool_result":
            return
        call, tool = text(part.get("tool_use_id")), text(part.get("name"))
        output = _parsed(part.get("content"))
        self._calls.answered(self.agent, call, tool, output, part.get("is_error") is True)

    def _heard(self, said: str) -> None:
        """A message from outside, or word of runs that have ended, which has a fixed form."""
        self.add(Kind.USER_MESSAGE, self.agent, text_length=len(said))
        if DELIVERED in said[:200]:
            for run, child, word, rest in _UPDATE.findall(said[:100_000]):
                self._calls.told(self.agent, child, run, word, error=" error=" in rest)


def _parsed(content: Any) -> Any:
    """What a tool returned: an object or a list, which may be written as a text."""
    if not isinstance(content, str):
        return content
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content


class ClineMessagesFormat(Format):
    """What a model said and was told."""

    name = "cline-messages"
    title = "Cline stored conversation"
    source = "session"
    agent = "cline"
    whole = True

    def sniff(self, head: bytes, name: str) -> float:
        """By the keys that stand before its first message."""
        before, found, _ = head[:4000].partition(b'"messages"')
        return 0.9 if found and all(key in before for key in _KEYS) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one conversation."""
        return ClineMessages(file)


READER = ClineMessagesFormat()
