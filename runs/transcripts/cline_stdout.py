"""Standard output of ``cline --json PROMPT``: hook events with ids, and agent events without.

Only ``hook_event`` records name their agent. The others are laid on the agent that is at
work: a spawning call waits, so it is the last sub-agent that began; where several run beside
each other nobody can say, and such an event names nobody. Sub-agents of one batch begin in
the order of their calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakes.targeting import TASK_PATTERN
from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._values import error_class, integer, length, mapping, moment, status, text

SPAWN = "spawn_agent"
FINISHED = {"max_iterations": "failed", "mistake_limit": "failed"}
"""Words of its own for an end; the others are everybody's."""


class ClineStdout(Lines):
    """One run's output."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "stdout")
        self.facts["agent"] = "cline"
        self._top = ""
        self._parents: dict[str, str] = {}
        self._open: list[str] = []
        self._ended = ""
        self._calls: dict[str, tuple[str, str]] = {}
        self._waiting: list[tuple[str, str]] = []
        self._children: dict[str, str] = {}
        self._said: dict[str, int] = {}

    def record(self, record: Mapping[str, Any]) -> None:
        """One record."""
        self.at = moment(record.get("ts"))
        if self.native == "hook_event":
            self.native = f"hook/{text(record.get('hookEventName'), 60)}"
            self._hook(record)
        elif self.native == "agent_event":
            event = mapping(record.get("event"))
            self.native = f"event/{text(event.get('type'), 60)}"
            handler = _EVENTS.get(text(event.get("type"), 60))
            if handler is None:
                self.other(self.native, agent=self._working())
            else:
                handler(self, event)
        elif self.native == "run_result":
            self._result(record)
        else:
            self.other(self.native)

    # Who

    def _name(self, agent: str) -> str:
        return ROOT if agent == self._top else agent

    def _working(self) -> str:
        """The agent that is at work; nobody where several sub-agents are."""
        if not self._open:
            return ROOT
        chain = all(
            self._parents.get(below) == above
            for above, below in zip(self._open, self._open[1:], strict=False)
        )
        return self._open[-1] if chain else ""

    # Hook events

    def _hook(self, record: Mapping[str, Any]) -> None:
        agent, above = text(record.get("agentId")), text(record.get("parentAgentId"))
        word = text(record.get("hookEventName"), 60)
        if word == "agent_start" and not above and not self._top:
            self._top = agent
            self.add(Kind.SESSION_STARTED, ROOT, session=text(record.get("taskId")))
        elif word == "agent_start" and above and agent not in self._parents:
            self._begins(agent, self._name(above))
        elif word in ("agent_end", "agent_error"):
            self._ends(self._name(agent), word)
        else:
            self.other(self.native, agent=self._name(agent) if agent else "")

    def _begins(self, agent: str, parent: str) -> None:
        call = next((call for call, whose in self._waiting if whose == parent), "")
        if call:
            self._waiting.remove((call, parent))
            self._children[call] = agent
        self._parents[agent] = parent
        self._open.append(agent)
        self.add(Kind.AGENT_STARTED, agent, parent=parent, background=False, call=call)

    def _ends(self, agent: str, word: str) -> None:
        ours = "failed" if word == "agent_error" else "completed"
        self._ended = agent
        if agent == ROOT:
            self.add(Kind.TURN_ENDED, ROOT, status=ours, raw=word)
            return
        if agent in self._open:
            self._open.remove(agent)
        self.add(Kind.AGENT_ENDED, agent, status=ours, raw=word)

    # Agent events

    def _content(self, event: Mapping[str, Any]) -> None:
        agent = self._working()
        if event.get("contentType") != "tool":
            size = length(event.get("text"))
            self.add(Kind.DELTA, agent, text_length=size, what="text")
            return
        call, tool = text(event.get("toolCallId")), text(event.get("toolName"))
        self._calls[call] = (agent, tool)
        self.add(Kind.TOOL_STARTED, agent, call=call, tool=tool)
        if tool == SPAWN:
            given = mapping(event.get("input"))
            marker = TASK_PATTERN.search(text(given.get("task"), 2000))
            self._waiting.append((call, agent))
            self.add(
                Kind.SPAWN_REQUESTED,
                agent,
                call=call,
                background=False,
                prompt_length=length(given.get("task")),
                task=marker[1] if marker else None,
            )

    def _content_end(self, event: Mapping[str, Any]) -> None:
        if event.get("contentType") != "tool":
            self._said[self._working()] = length(event.get("text"))
            self.other(self.native, agent=self._working())
            return
        call = text(event.get("toolCallId"))
        agent, tool = self._calls.get(call, (self._working(), text(event.get("toolName"))))
        output = mapping(event.get("output"))
        failed = bool(event.get("error") or output.get("error"))
        size = length(event.get("output"))
        self.add(Kind.TOOL_ENDED, agent, call=call, tool=tool, ok=not failed, text_length=size)
        if tool == SPAWN:
            self._answered(agent, call, output, failed)

    def _answered(self, agent: str, call: str, output: Mapping[str, Any], failed: bool) -> None:
        child = self._children.get(call, "")
        self._waiting = [one for one in self._waiting if one[0] != call]
        raw = text(output.get("finishReason"), 40)
        size = length(output.get("text"))
        self.add(
            Kind.SPAWN_ANSWERED,
            agent,
            call=call,
            ok=bool(child) or not failed,
            child=child,
            refusal=None if child or not failed else "error",
            background=False,
            has_result=size > 0,
        )
        if not child:
            return
        ours = "failed" if failed else FINISHED.get(raw) or status(raw)
        done = ours == "completed"
        self.add(
            Kind.NOTICE_DELIVERED,
            agent,
            child=child,
            status=ours,
            raw=raw or "error",
            call=call,
            form="tool_result",
            has_result=size > 0 if done else None,
            text_length=size if done else None,
            error_passed=None if done else failed or size > 0,
        )

    def _iteration_end(self, event: Mapping[str, Any]) -> None:
        agent = self._working()
        size = self._said.pop(agent, 0)
        calls = integer(event.get("toolCallCount")) or 0
        self.add(
            Kind.AGENT_MESSAGE,
            agent,
            text_length=size,
            final=not calls,
            tool_calls=calls,
            empty=not size and not calls,
        )

    def _error(self, event: Mapping[str, Any]) -> None:
        """An error; a fatal one comes after the hook that ended its agent."""
        again = event.get("recoverable")
        agent = self._ended if again is False and self._ended else self._working()
        self._ended = ""
        word = text(event.get("errorClass"), 60)
        self.add(
            Kind.ERROR,
            agent,
            error_class=error_class(word),
            raw=word,
            will_retry=again if isinstance(again, bool) else None,
            detail=text(mapping(event.get("error")).get("message"), 300),
        )

    def _done(self, event: Mapping[str, Any]) -> None:
        """The last word of an agent; it comes after the hook that ended it."""
        agent, self._ended = self._ended or self._working(), ""
        self.other(self.native, summary=text(event.get("reason"), 60), agent=agent)

    def _result(self, record: Mapping[str, Any]) -> None:
        word = text(record.get("finishReason"), 60)
        self.facts.setdefault("model", text(mapping(record.get("model")).get("id")))
        self.add(
            Kind.RESULT,
            ROOT,
            status=word,
            is_error=word != "completed",
            text_length=length(record.get("text")),
        )


_EVENTS = {
    "content_start": ClineStdout._content,
    "content_end": ClineStdout._content_end,
    "iteration_end": ClineStdout._iteration_end,
    "error": ClineStdout._error,
    "done": ClineStdout._done,
}


class ClineStdoutFormat(Format):
    """A headless run."""

    name = "cline-json"
    title = "Cline run output"
    source = "stdout"
    agent = "cline"

    def sniff(self, head: bytes, name: str) -> float:
        """By ts and the types hook_event, agent_event and run_result."""
        found = records(head)
        types = ("hook_event", "agent_event", "run_result")
        mine = [one for one in found if one.get("type") in types and "ts" in one]
        return 0.9 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one run's output."""
        return ClineStdout(file)


READER = ClineStdoutFormat()
