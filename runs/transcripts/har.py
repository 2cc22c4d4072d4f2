"""HAR: the provider's traffic as a proxy recorded it. Only calls of models count."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._documents import Document
from runs.transcripts._sniff import document
from runs.transcripts._values import integer, items, mapping, moment, number, text

PATHS = ("/responses", "/chat/completions", "/messages", ":streamGenerateContent",
         ":generateContent")  # fmt: skip
_TYPE = r'^(?:event:[ ]*{0}[ ]*\r?$|data:[ ]*\{{.*"type"[ ]*:[ ]*"{0}")'
_WHOLE = re.compile(
    _TYPE.format(r"(?:response\.completed|message_stop)")
    + r'|^data:[ ]*\[DONE\]|"finishReason"[ ]*:',
    re.MULTILINE,
)
"""The end of a whole answer in an event stream; in a text that speaks of it quotes are escaped."""
_FAILED = re.compile(_TYPE.format(r"(?:error|response\.failed)"), re.MULTILINE)
_SHORT = re.compile(_TYPE.format(r"response\.incomplete"), re.MULTILINE)
_WHO = ("x-claude-code-agent-id", "thread-id", "x-session-id", "x-copilot-agent-id",
        "session_id", "x-openai-subagent")  # fmt: skip
_IN_PATH = re.compile(r"/models/([^/:]{1,200}):")
_SECONDS = re.compile(r"[0-9]{1,8}(?:\.[0-9]{1,6})?")
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
        answer = _answer(response, code)
        self.add(
            Kind.REQUEST_ENDED, agent, caller=agent or "caller", request=name,
            status=code or None,
            complete=answer.complete, error_class=answer.error_class,
            closed="ended" if code else "reset",
            retry_after=_retry_after(response, self.at), duration=duration,
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


def _retry_after(response: Mapping[str, Any], at: float | None) -> float | None:
    """Seconds, as they are said or from when the answer was given to the date that is."""
    headers = _headers(response)
    value = headers.get("retry-after", "")
    if _SECONDS.fullmatch(value):
        return float(value)
    until, given = _date(value), _date(headers.get("date", ""))
    given = at if given is None else given
    return None if until is None or given is None else max(0.0, until - given)


def _date(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None


class _Answer(NamedTuple):
    """Whether an answer is whole (None: cannot be told), and what its own words say is wrong."""

    complete: bool | None
    error_class: str | None = None


def _answer(response: Mapping[str, Any], code: int | None) -> _Answer:
    """An event stream must hold its own end; a document may say that it is not whole."""
    if code is None or not 200 <= code < 300:
        return _Answer(False)
    content = mapping(response.get("content"))
    body = _body(content)
    if "event-stream" not in text(content.get("mimeType")):
        word = _word(body)
        return _Answer(word not in _WORDS, _WORDS.get(word))
    if body is None:
        return _Answer(None)
    if _WHOLE.search(body):
        return _Answer(True)
    failed, short = _FAILED.search(body), _SHORT.search(body)
    return _Answer(False, _WORDS["failed"] if failed else _WORDS["incomplete"] if short else None)


_WORDS = {"failed": "server", "incomplete": "limit"}
"""Statuses of an answer that is not whole, and the class of error that each is."""


def _word(body: str | None) -> str:
    """The status that an answer in one document says of itself."""
    if body is None or len(body) > LONGEST:
        return ""
    try:
        return text(mapping(json.loads(body)).get("status"), 40)
    except (ValueError, RecursionError):
        return ""


def _body(content: Mapping[str, Any]) -> str | None:
    """The text of an answer, however it is stored; None where it is not."""
    body = content.get("text")
    if not isinstance(body, str):
        return None
    if content.get("encoding") != "base64":
        return body
    try:
        return base64.b64decode(body).decode("utf-8", "replace")
    except ValueError:
        return None


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
