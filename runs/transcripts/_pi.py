"""What pi's stream and its session file share: messages, and results of its ``subagent`` tool.

A sub-agent has no id of its own: it is named by its call, and by its place in the call where
one call starts several. Its details hold the messages of its process; the model of the parent
gets a text and ``isError``, and nothing else of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakes.targeting import TASK_PATTERN
from runs.core.events import ROOT, Kind
from runs.transcripts._lines import Lines
from runs.transcripts._values import (
    EMPTY,
    first_text,
    integer,
    items,
    length,
    mapping,
    moment,
    text,
)

SPAWN = "subagent"
ENDS = {
    "stop": "completed",
    "length": "completed",
    "error": "failed",
    "aborted": "cancelled",
}
"""By the reason for which a process's last message stopped."""


class Pi(Lines):
    """The root's messages and the sub-agents in its tool results."""

    def __init__(self, file: str, source: str) -> None:
        super().__init__(file, source)
        self.facts["agent"] = "pi"
        self._seen: dict[str, int] = {}

    def header(self, record: Mapping[str, Any]) -> None:
        """The first line of both."""
        session = text(record.get("id"))
        self.facts["session"] = session
        cwd = text(record.get("cwd"), 400)
        self.add(Kind.SESSION_STARTED, ROOT, session=session, cwd=cwd)

    def assistant(self, message: Mapping[str, Any], agent: str) -> None:
        """A whole message of a model, and the error that it ended with."""
        parts = [mapping(part) for part in items(message.get("content"))]
        finish = text(message.get("stopReason"), 40)
        calls = sum(part.get("type") == "toolCall" for part in parts)
        size = sum(length(part.get("text")) for part in parts if part.get("type") == "text")
        failed = finish in ("error", "aborted")
        self.add(
            Kind.AGENT_MESSAGE,
            agent,
            text_length=size,
            final=not calls and not failed,
            finish=finish,
            tool_calls=calls,
            model=text(message.get("model")) or None,
            error=failed,
            empty=not size and not calls and not failed,
        )
        if failed:
            self.add(
                Kind.ERROR,
                agent,
                error_class="aborted" if finish == "aborted" else "other",
                raw=finish,
                detail=text(message.get("errorMessage"), 300),
            )

    def called(self, part: Mapping[str, Any], agent: str) -> None:
        """A part of a message that calls a tool; nothing where it is another part."""
        if part.get("type") != "toolCall":
            return
        call, tool = text(part.get("id")), text(part.get("name"))
        self.add(Kind.TOOL_STARTED, agent, call=call, tool=tool)
        if tool == SPAWN:
            self.asked(call, mapping(part.get("arguments")), agent)

    def answered(self, message: Mapping[str, Any], agent: str) -> None:
        """A message with a tool's result."""
        call, tool = text(message.get("toolCallId")), text(message.get("toolName"))
        failed = message.get("isError") is True
        size = length(message.get("content"))
        self.add(Kind.TOOL_ENDED, agent, call=call, tool=tool, ok=not failed, text_length=size)
        if tool == SPAWN:
            self.results(call, message, failed, agent)

    def asked(self, call: str, given: Mapping[str, Any], agent: str) -> None:
        """A call of the spawn tool by `agent`."""
        many = items(given.get("tasks")) or items(given.get("chain"))
        size = length(given.get("task")) or sum(length(mapping(one).get("task")) for one in many)
        marker = TASK_PATTERN.search(text(given.get("task"), 2000))
        self.add(
            Kind.SPAWN_REQUESTED,
            agent,
            call=call,
            task=marker[1] if marker else None,
            role=text(given.get("agent")),
            background=False,
            prompt_length=size,
        )

    def progress(self, call: str, details: Any, parent: str) -> None:
        """What the sub-agents of a call of `parent` have said since the last look."""
        for child, one in _named(call, details):
            if one.get("agentSource") == "unknown":
                continue  # not started: it waits for its turn, or nobody has that name
            messages, written = [mapping(each) for each in items(one.get("messages"))], self.at
            if child not in self._seen:
                self._seen[child] = 0
                self._then(messages[0] if messages else EMPTY)
                self.add(
                    Kind.AGENT_STARTED,
                    child,
                    parent=parent,
                    role=text(one.get("agent")),
                    background=False,
                    call=call,
                )
            seen = self._seen[child]
            self._seen[child] = max(seen, len(messages))
            for message in messages[seen:]:
                self._then(message)
                self._below(message, child)
            self.at = written

    def _then(self, message: Mapping[str, Any]) -> None:
        """What follows was at the time of this message, in a file that has times."""
        if self.at is not None:
            self.at = moment(message.get("timestamp")) or self.at

    def _below(self, message: Mapping[str, Any], child: str) -> None:
        """A message of a sub-agent, which may have sub-agents of its own."""
        if message.get("role") == "assistant":
            self.assistant(message, child)
            for part in items(message.get("content")):
                self.called(mapping(part), child)
        elif message.get("role") == "toolResult":
            self.answered(message, child)

    def results(self, call: str, result: Mapping[str, Any], is_error: bool, agent: str) -> None:
        """The end of a call: how each process ended, and what the model is told."""
        details = result.get("details")
        self.progress(call, details, agent)
        size = len(first_text(result.get("content")))
        found = _named(call, details)
        started = [child for child, _ in found if child in self._seen]
        self.add(
            Kind.SPAWN_ANSWERED,
            agent,
            call=call,
            ok=bool(started),
            child=started[0] if len(started) == 1 else "",
            refusal=None if started else "error",
            background=False,
            has_result=size > 0,
        )
        for child, one in found:
            if child not in started:
                continue
            self._ended(child, call, one)
            self.add(
                Kind.NOTICE_DELIVERED,
                agent,
                child=child,
                status="failed" if is_error else "completed",
                raw=f"isError {str(is_error).lower()}",
                call=call,
                form="tool_result",
                has_result=None if is_error else size > 0,
                text_length=None if is_error else size,
                error_passed=size > 0 if is_error else None,
            )

    def _ended(self, child: str, call: str, one: Mapping[str, Any]) -> None:
        code, word = integer(one.get("exitCode")), text(one.get("stopReason"), 40)
        ours = "failed" if code else ENDS.get(word)
        if ours is None:
            return
        said = [mapping(each) for each in items(one.get("messages"))]
        last = next((each for each in reversed(said) if each.get("role") == "assistant"), EMPTY)
        parts = [mapping(part) for part in items(last.get("content"))]
        size = sum(length(part.get("text")) for part in parts if part.get("type") == "text")
        raw = f"exit {code}" if code else word
        self.add(
            Kind.AGENT_ENDED,
            child,
            status=ours,
            raw=raw,
            call=call,
            text_length=size,
            has_result=size > 0,
            detail=text(one.get("errorMessage"), 300),
        )


def _named(call: str, details: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """The results of a call, each with the name of its sub-agent."""
    found = [mapping(one) for one in items(mapping(details).get("results"))]
    alone = mapping(details).get("mode") == "single"
    return [(call if alone else f"{call}.{n}", one) for n, one in enumerate(found, 1)]
