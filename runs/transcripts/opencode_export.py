"""``opencode export ID``: one JSON document a session, with messages and parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._documents import Document
from runs.transcripts._opencode import OpenCode
from runs.transcripts._sniff import document
from runs.transcripts._values import first_text, integer, items, length, mapping, moment, text

ABORTED = "MessageAbortedError"
"""The name of the error of a message whose work somebody stopped."""
LONGEST = 1_000_000
CROSS = 2.0
"""Seconds by which the end of a stopped call and that of its message may differ."""


class Export(Document, OpenCode):
    """One session. Places are pointers such as ``messages[2].info.error``."""

    def document(self, data: Any) -> None:
        """The whole export; a list of them is read one after another."""
        if isinstance(data, list):
            for place, one in enumerate(data):
                self._session(mapping(one), f"[{place}].")
            return
        self._session(mapping(data), "")

    def _session(self, found: Mapping[str, Any], base: str) -> None:
        info = mapping(found.get("info"))
        agent = text(info.get("id"))
        self.native, self.pointer = "session", f"{base}info"
        self.at = moment(mapping(info.get("time")).get("created"))
        self.session(info)
        for place, message in enumerate(items(found.get("messages"))):
            self._message(agent, mapping(message), f"{base}messages[{place}]")

    def _message(self, agent: str, message: Mapping[str, Any], base: str) -> None:
        info = mapping(message.get("info"))
        parts = [mapping(one) for one in items(message.get("parts"))]
        times = mapping(info.get("time"))
        created = moment(times.get("created"))
        role = text(info.get("role"), 40)
        self.native = f"message/{role}"
        self.at, self.pointer = created, base
        agent = agent or text(info.get("sessionID"))
        words = [one for one in parts if one.get("type") == "text"]
        if role == "user":
            self._user(agent, words)
            return
        self.native = "part/tool"
        aborted = mapping(info.get("error")).get("name") == ABORTED
        over = moment(times.get("completed"))
        for place, part in enumerate(parts):
            if part.get("type") == "tool":
                ended = moment(mapping(mapping(part.get("state")).get("time")).get("end"))
                crossed = aborted and (ended is None or over is None or over - ended <= CROSS)
                self.stopped = {agent} if crossed else set()
                self.at, self.pointer = created, f"{base}.parts[{place}]"
                self.tool(agent, part, f"{base}.parts[{place}]")
        self.native, self.pointer = f"message/{role}", base
        completed = moment(times.get("completed"))
        self.at = completed if completed is not None else created
        size = sum(length(one.get("text")) for one in words)
        calls = sum(1 for one in parts if one.get("type") == "tool")
        if completed is None and not info.get("error"):
            self.add(Kind.DELTA, agent, text_length=size, what="open message")
            return
        said = "\n".join(text(one.get("text"), LONGEST) for one in words)
        self.finished(agent, info, size, calls, said)
        if info.get("error"):
            self.pointer = f"{base}.info.error"
            if self.error(agent, info["error"]):
                self.add(Kind.ABORTED, agent, reason=ABORTED, target=agent)

    def _user(self, agent: str, words: list[Mapping[str, Any]]) -> None:
        said = first_text([one.get("text") for one in words])
        if not self.notice(agent, said):
            self.add(Kind.USER_MESSAGE, agent, text_length=len(said))

    def moment_of(self, state: Mapping[str, Any], edge: str) -> None:
        """The part's own start or end."""
        at = moment(mapping(state.get("time")).get(edge))
        self.at = at if at is not None else self.at


class OpenCodeExport(Format):
    """A session's export."""

    name = "opencode-export-json"
    title = "OpenCode export"
    source = "session"
    agent = "opencode"
    whole = True

    def sniff(self, head: bytes, name: str) -> float:
        """By info and messages, with info and parts in each message."""
        found = document(head)
        if isinstance(found, list) and found:
            found = found[0]
        one = mapping(found)
        info = mapping(one.get("info"))
        if (
            info
            and isinstance(one.get("messages"), list)
            and integer(mapping(info.get("time")).get("created"))
        ):
            return 0.95
        start = head.lstrip(b"\xef\xbb\xbf \r\n\t")[:400]
        large = found is None and start.startswith(b"{") and b'"info"' in start
        return 0.8 if large and b'"messages"' in head and b'"parts"' in head else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one export."""
        return Export(file, self.source)


READER = OpenCodeExport()
