"""Standard output of ``pi --mode json -p PROMPT``: the root's events; they have no times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._pi import ENDS, SPAWN, Pi
from runs.transcripts._sniff import records
from runs.transcripts._values import EMPTY, integer, items, length, mapping, seconds, text


class PiStdout(Pi):
    """One run's output."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "stdout")

    def record(self, record: Mapping[str, Any]) -> None:
        """One event."""
        handler = _EVENTS.get(self.native)
        if handler is None:
            self.other(self.native, agent=ROOT)
        else:
            handler(self, record)

    def _update(self, record: Mapping[str, Any]) -> None:
        event = mapping(record.get("assistantMessageEvent"))
        word = text(event.get("type"), 40)
        if not word.endswith("_delta"):
            self.other(self.native, summary=word, agent=ROOT)
            return
        what = "tool" if word == "toolcall_delta" else "text"
        self.add(Kind.DELTA, ROOT, text_length=length(event.get("delta")), what=what)

    def _message_end(self, record: Mapping[str, Any]) -> None:
        message = mapping(record.get("message"))
        role = message.get("role")
        if role == "assistant":
            self.assistant(message, ROOT)
        elif role == "user":
            self.add(Kind.USER_MESSAGE, ROOT, text_length=length(message.get("content")))
        else:  # a tool's result, which its own event tells
            self.other(self.native, summary=text(role, 40), agent=ROOT)

    def _tool_start(self, record: Mapping[str, Any]) -> None:
        call, tool = text(record.get("toolCallId")), text(record.get("toolName"))
        self.add(Kind.TOOL_STARTED, ROOT, call=call, tool=tool)
        if tool == SPAWN:
            self.asked(call, mapping(record.get("args")), ROOT)

    def _tool_update(self, record: Mapping[str, Any]) -> None:
        if record.get("toolName") == SPAWN:
            details = mapping(record.get("partialResult")).get("details")
            self.progress(text(record.get("toolCallId")), details, ROOT)

    def _tool_end(self, record: Mapping[str, Any]) -> None:
        call, tool = text(record.get("toolCallId")), text(record.get("toolName"))
        result = mapping(record.get("result"))
        failed = record.get("isError") is True
        size = length(result.get("content"))
        self.add(Kind.TOOL_ENDED, ROOT, call=call, tool=tool, ok=not failed, text_length=size)
        if tool == SPAWN:
            self.results(call, result, failed, ROOT)

    def _retry(self, record: Mapping[str, Any]) -> None:
        self.add(
            Kind.MODEL_RETRY,
            ROOT,
            attempt=integer(record.get("attempt")),
            of=integer(record.get("maxAttempts")),
            delay=seconds(record.get("delayMs")),
        )

    def _agent_end(self, record: Mapping[str, Any]) -> None:
        """The end of the root's turn; after an error it may begin again."""
        said = [mapping(one) for one in items(record.get("messages"))]
        last = next((one for one in reversed(said) if one.get("role") == "assistant"), EMPTY)
        word = text(last.get("stopReason"), 40)
        failed = ENDS.get(word) != "completed"
        self.add(Kind.TURN_ENDED, ROOT, status=ENDS.get(word, "unknown"), raw=word)
        size = length(last.get("content"))
        self.add(Kind.RESULT, ROOT, status=word, is_error=failed, text_length=size)


_EVENTS = {
    "session": PiStdout.header,
    "message_update": PiStdout._update,
    "message_end": PiStdout._message_end,
    "tool_execution_start": PiStdout._tool_start,
    "tool_execution_update": PiStdout._tool_update,
    "tool_execution_end": PiStdout._tool_end,
    "auto_retry_start": PiStdout._retry,
    "agent_end": PiStdout._agent_end,
}


class PiStdoutFormat(Format):
    """A headless run."""

    name = "pi-json"
    title = "pi run output"
    source = "stdout"
    agent = "pi"
    clock = "none"

    def sniff(self, head: bytes, name: str) -> float:
        """By its header, and the events that follow it at once."""
        found = records(head)
        types = {str(one.get("type")) for one in found}
        header = any(
            one.get("type") == "session" and {"version", "id", "cwd"} <= one.keys() for one in found
        )
        return 0.9 if header and types & {"agent_start", "turn_start", "message_start"} else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one run's output."""
        return PiStdout(file)


READER = PiStdoutFormat()
