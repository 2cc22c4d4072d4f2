"""Standard output of ``gemini -p PROMPT --output-format stream-json``: the root's events only.

It says nothing of sub-agents but the status of the call that started one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakes.targeting import TASK_PATTERN
from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._values import (
    TERMINAL,
    error_class,
    length,
    mapping,
    moment,
    status,
    text,
)

SPAWN = "invoke_agent"
TYPES = frozenset({"init", "message", "tool_use", "tool_result", "error", "result"})


class GeminiStdout(Lines):
    """One run's output."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "stdout")
        self.facts["agent"] = "gemini"
        self._tools: dict[str, tuple[str, str]] = {}

    def record(self, record: Mapping[str, Any]) -> None:
        """One event."""
        self.at = moment(record.get("timestamp"))
        handler = _EVENTS.get(self.native)
        if handler is None:
            self.other(self.native, agent=ROOT)
        else:
            handler(self, record)

    def child_of(self, prompt: str) -> str:
        """The sub-agent that works on this prompt; empty where nothing says it."""
        return ""

    def _init(self, record: Mapping[str, Any]) -> None:
        session, model = text(record.get("session_id")), text(record.get("model"))
        self.facts.update(session=session, model=model)
        self.add(Kind.SESSION_STARTED, ROOT, session=session, model=model)

    def _message(self, record: Mapping[str, Any]) -> None:
        size = length(record.get("content"))
        if record.get("role") == "user":
            self.add(Kind.USER_MESSAGE, ROOT, text_length=size)
        elif record.get("delta") is True:
            self.add(Kind.DELTA, ROOT, text_length=size, what="text")
        else:
            self.add(Kind.AGENT_MESSAGE, ROOT, text_length=size)

    def _tool_use(self, record: Mapping[str, Any]) -> None:
        call, tool = text(record.get("tool_id")), text(record.get("tool_name"))
        given = mapping(record.get("parameters"))
        prompt = text(given.get("prompt"), 4000)
        self._tools[call] = (tool, prompt)
        self.add(Kind.TOOL_STARTED, ROOT, call=call, tool=tool)
        if tool == SPAWN:
            marker = TASK_PATTERN.search(prompt)
            self.add(
                Kind.SPAWN_REQUESTED,
                ROOT,
                call=call,
                role=text(given.get("agent_name")),
                background=False,
                prompt_length=length(given.get("prompt")),
                task=marker[1] if marker else None,
            )

    def _tool_result(self, record: Mapping[str, Any]) -> None:
        call, word = text(record.get("tool_id")), text(record.get("status"), 40)
        tool, prompt = self._tools.pop(call, ("", ""))
        ok = status(word) == "completed"
        self.add(Kind.TOOL_ENDED, ROOT, call=call, tool=tool, ok=ok)
        if tool == SPAWN:
            self.spawned(call, word, self.child_of(prompt))

    def spawned(self, call: str, word: str, child: str) -> None:
        """The call that started `child` has ended with this word."""
        ours = status(word)
        failed = ours != "completed"
        self.add(
            Kind.SPAWN_ANSWERED,
            ROOT,
            call=call,
            ok=bool(child) or not failed,
            child=child,
            refusal="error" if failed and not child else None,
            background=False,
        )
        if ours in TERMINAL and (child or not failed):  # its call names it where nothing else does
            self.add(Kind.AGENT_ENDED, child, status=ours, raw=word, call=call)

    def _error(self, record: Mapping[str, Any]) -> None:
        word = text(record.get("severity"), 40)
        detail = text(record.get("message"), 300)
        self.add(Kind.ERROR, ROOT, error_class="other", raw=word, detail=detail)

    def _result(self, record: Mapping[str, Any]) -> None:
        word = text(record.get("status"), 40)
        error = mapping(record.get("error"))
        if error:
            kind = text(error.get("type"), 80)
            self.add(
                Kind.ERROR,
                ROOT,
                error_class=error_class(kind),
                raw=kind,
                detail=text(error.get("message"), 300),
            )
        self.add(Kind.RESULT, ROOT, status=word, is_error=word != "success")


_EVENTS = {
    "init": GeminiStdout._init,
    "message": GeminiStdout._message,
    "tool_use": GeminiStdout._tool_use,
    "tool_result": GeminiStdout._tool_result,
    "error": GeminiStdout._error,
    "result": GeminiStdout._result,
}


class GeminiStdoutFormat(Format):
    """A headless run."""

    name = "gemini-stream-json"
    title = "Gemini CLI stream-json"
    source = "stdout"
    agent = "gemini"

    def sniff(self, head: bytes, name: str) -> float:
        """By its first event, which has a session and nothing that others' first events have."""
        found = records(head)
        mine = [one for one in found if text(one.get("type")) in TYPES and "timestamp" in one]
        init = any(
            one.get("type") == "init" and {"session_id", "model"} <= one.keys() for one in mine
        )
        return 0.9 if init and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one run's output."""
        return GeminiStdout(file)


READER = GeminiStdoutFormat()
