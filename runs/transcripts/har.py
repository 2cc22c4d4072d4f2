"""HAR: the provider's traffic as a proxy recorded it. Only calls of models count."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._documents import Document
from runs.transcripts._sniff import document
from runs.transcripts._values import integer, items, mapping, moment, number, text

PATHS = ("/responses", "/chat/completions", "/messages", ":streamGenerateContent",
         ":generateContent")  # fmt: skip
_ENDS = ("response.completed", "message_stop", "[DONE]", "finishReason")
_WHO = ("x-claude-code-agent-id", "thread-id", "x-session-id", "x-copilot-agent-id",
        "session_id", "x-openai-subagent")  # fmt: skip
_IN_PATH = re.compile(r"/models/([^/:]{1,200}):")
LONGEST = 4 << 20
"""Characters of a request's body that is still parsed for its model."""


class Har(Document):
    """One archive."""

    def document(self, data: Any) -> None:
        """Each model call as a request and its end."""
        entries = items(mapping(mapping(data).get("log")).get("entries"))
        for place, entry in enumerate(entries):
            self.pointer = f"log.entries[{place}]"
            self._entry(mapping(entry), place)

    def _entry(self, entry: Mapping[str, Any], place: int) -> None:
        request, response = mapping(entry.get("request")), mapping(entry.get("response"))
        url = text(request.get("url"), 2000)
        path = "/" + url.split("://", 1)[-1].partition("/")[2].split("?", 1)[0]
        self.at = moment(entry.get("startedDateTime"))
        self.native = text(request.get("method"), 10)
        if not path.endswith(PATHS):
            self.other("request", summary=path[:200])
            return
        headers = _headers(request)
        agent = next((headers[name] for name in _WHO if headers.get(name)), "")
        if agent == "collab_spawn":
            agent = ""
        name = f"r{place + 1}"
        self.add(
            Kind.REQUEST_RECEIVED, agent, caller=agent or "caller", request=name, path=path,
            bytes=integer(request.get("bodySize")), model=_model(request, path) or None,
        )  # fmt: skip
        duration = (number(entry.get("time")) or 0.0) / 1000
        started = self.at
        self.at = None if started is None else started + duration
        code = integer(response.get("status"))
        self.add(
            Kind.REQUEST_ENDED, agent, caller=agent or "caller", request=name,
            status=code or None,
            complete=_complete(response, code),
            closed="ended" if code else "reset",
            retry_after=_retry_after(response), duration=duration,
            bytes=integer(mapping(response.get("content")).get("size")) or 0,
        )  # fmt: skip


def _headers(message: Mapping[str, Any]) -> dict[str, str]:
    return {
        text(mapping(one).get("name")).lower(): text(mapping(one).get("value"))
        for one in items(message.get("headers"))
    }


def _model(request: Mapping[str, Any], path: str) -> str:
    """The model that a request asks for, in its body or its address; empty where it is not said."""
    found = _IN_PATH.search(path)
    body = mapping(request.get("postData")).get("text")
    if found or not isinstance(body, str) or len(body) > LONGEST:
        return found[1] if found else ""
    try:
        return text(mapping(json.loads(body)).get("model"), 200)
    except (ValueError, RecursionError):
        return ""


def _retry_after(response: Mapping[str, Any]) -> float | None:
    value = _headers(response).get("retry-after", "")
    return float(value) if value.isascii() and value.isdigit() and len(value) < 9 else None


def _complete(response: Mapping[str, Any], code: int | None) -> bool | None:
    """Whether the answer is whole: an event stream must hold its own end. None: cannot be told."""
    if code is None or not 200 <= code < 300:
        return False
    content = mapping(response.get("content"))
    body = content.get("text")
    if "event-stream" not in text(content.get("mimeType")):
        return True
    return None if not isinstance(body, str) else any(mark in body for mark in _ENDS)


class HarFormat(Format):
    """An HTTP archive."""

    name = "har"
    title = "HTTP archive of provider traffic"
    source = "provider"
    whole = True

    def sniff(self, head: bytes, name: str) -> float:
        """By log and entries."""
        found = document(head)
        if isinstance(mapping(mapping(found).get("log")).get("entries"), list):
            return 0.95
        start = head.lstrip(b"\xef\xbb\xbf \r\n\t")[:200]
        return 0.9 if b'"log"' in start and b'"entries"' in head else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one archive."""
        return Har(file, self.source)


READER = HarFormat()
