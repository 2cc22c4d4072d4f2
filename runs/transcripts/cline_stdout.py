"""Standard output of ``cline --json PROMPT``: hook events with ids, and agent events without.

Only ``hook_event`` and ``team_event`` records name their agent. The others are laid on the agent
that is at work: a call of ``spawn_agent`` waits, so it is the last sub-agent that began; where
several run beside each other nobody can say, and such an event names nobody. Sub-agents of one
batch begin in the order of their calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._cline import FINISHED, SPAWN, Calls
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._values import error_class, integer, length, mapping, moment, status, text


class ClineStdout(Lines):
    """One run's output."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "stdout")
        self.facts["agent"] = "cline"
        self._top = ""
        self._parents: dict[str, str] = {}
        self._open: list[str] = []
        self._ended = ""
        self._waiting: list[tuple[str, str]] = []
        self.children: dict[str, str] = {}
        """Sub-agents by the call of ``spawn_agent`` that started each."""
        self._said: dict[str, int] = {}
        self._mates: dict[str, str] = {}
        self._busy: dict[str, bool] = {}
        self._run: dict[str, str] = {}
        self._stopped: dict[str, tuple[float | None, str]] = {}
        self._calls = Calls(self, self.child_of)

    def child_of(self, call: str) -> str:
        """The sub-agent that a call of ``spawn_agent`` started."""
        return self.children.get(call, "")

    def identity(self, record: Mapping[str, Any]) -> str:
        """What names no agent or no call may be several agents' or calls', in equal words."""
        event = mapping(record.get("event"))
        inner = mapping(event.get("event")) or event
        piece = inner.get("contentType") == "text"
        nameless = record.get("type") == "agent_event" and "toolCallId" not in inner
        hooked = record.get("hookEventName") in ("tool_call", "tool_result")
        return f"line {self.line}" if piece or nameless or hooked else ""

    def record(self, record: Mapping[str, Any]) -> None:
        """One record."""
        self.at = moment(record.get("ts"))
        event = mapping(record.get("event"))
        word = text(event.get("type"), 60)
        if self.native == "hook_event":
            self.native = f"hook/{text(record.get('hookEventName'), 60)}"
            self._hook(record)
        elif self.native == "agent_event":
            self._event(event, None)
        elif self.native == "team_event" and word == "agent_event":
            self._event(mapping(event.get("event")), text(event.get("agentId")))
        elif self.native == "team_event":
            self.native = f"team/{word}"
            self._team(event, word)
        elif self.native == "run_result":
            self._result(record)
        else:
            self.other(self.native)

    def _event(self, event: Mapping[str, Any], agent: str | None) -> None:
        """Something that `agent` did; None: the one that is at work."""
        self.native = f"event/{text(event.get('type'), 60)}"
        handler = _EVENTS.get(text(event.get("type"), 60))
        if handler is None:
            self.other(self.native, agent=self._working() if agent is None else agent)
        else:
            handler(self, event, agent)

    # Who

    def _name(self, agent: str) -> str:
        return ROOT if agent == self._top else self._mates.get(agent, agent)

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
        elif word == "agent_start" and agent == self._top:
            self._wakes()
        elif word == "agent_start" and above and agent not in self._parents:
            self._begins(agent, self._name(above))
        elif word in ("agent_end", "agent_error") and agent not in self._mates:
            self._ends(self._name(agent), word)
        else:
            self.other(self.native, agent=self._name(agent) if agent else "")

    def _wakes(self) -> None:
        """The root goes on by itself: with word of runs that have ended, which stands elsewhere."""
        self.add(Kind.TURN_STARTED, ROOT)
        for child in sorted(self._calls.untold):
            self.add(
                Kind.NOTICE_DELIVERED, ROOT, child=child, status="unknown", raw="", form="wake"
            )
        self._calls.untold.clear()

    def _begins(self, agent: str, parent: str) -> None:
        call = next((call for call, whose in self._waiting if whose == parent), "")
        if call:
            self._waiting.remove((call, parent))
            self.children[call] = agent
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

    # Team events: they name a teammate. What it did is in its task's records; those of a run in
    # the background are the queue's, which says that a run was stopped while its task goes on.

    def _team(self, event: Mapping[str, Any], word: str) -> None:
        run = mapping(event.get("run"))
        name = text(event.get("agentId")) or self._calls.runs(run)
        if word == "teammate_spawned":
            own = text(mapping(event.get("teammate")).get("runtimeAgentId"))
            self._mates[own] = name
        if word == "run_started":
            self._run[name] = text(run.get("id"), 40)
        if word == "task_start":
            self._task_begins(name)
        elif word == "task_end":
            result = mapping(event.get("result"))  # an older one gives no status
            word = text(event.get("status") or result.get("finishReason") or "failed", 40)
            self._over(name, word, length(result.get("text")))
        else:
            if word in ("run_cancelled", "run_interrupted"):
                self._stopped[name] = (self.at, text(run.get("status"), 40))
            self.other(self.native, agent=name)

    def _task_begins(self, name: str) -> None:
        call, background = self._calls.last.get(name, ("", False))
        again = name in self._busy
        self._busy[name] = True
        self._stopped.pop(name, None)
        if again:
            self.add(Kind.AGENT_RESUMED, name, by=ROOT, call=call, run=self._run.get(name))
        else:
            told = {"name": name, "background": background, "call": call}
            self.add(Kind.AGENT_STARTED, name, parent=ROOT, run=self._run.get(name), **told)

    def finish(self) -> None:
        """A teammate whose run was stopped, and that never said itself that it ended."""
        for name, (at, word) in self._stopped.items():
            if self._busy.get(name):
                self.at = at
                self._over(name, word, None)

    def _over(self, name: str, word: str, size: int | None) -> None:
        self._busy[name] = False
        own = self._run.pop(name, None)
        if self._calls.last.get(name, ("", False))[1]:
            self._calls.untold.add(name)
        ours = FINISHED.get(word) or status(word)
        done = ours == "completed"
        more = {"text_length": size, "has_result": bool(size)} if done and size is not None else {}
        self.add(Kind.AGENT_ENDED, name, status=ours, raw=word, run=own, **more)

    # Agent events

    def _content(self, event: Mapping[str, Any], agent: str | None) -> None:
        agent = self._working() if agent is None else agent
        if event.get("contentType") != "tool":
            size = length(event.get("text"))
            self.add(Kind.DELTA, agent, text_length=size, what="text")
            return
        call, tool = text(event.get("toolCallId")), text(event.get("toolName"))
        if tool == SPAWN:
            self._waiting.append((call, agent))
        self._calls.asked(agent, call, tool, mapping(event.get("input")))

    def _content_end(self, event: Mapping[str, Any], agent: str | None) -> None:
        agent = self._working() if agent is None else agent
        if event.get("contentType") != "tool":
            self._said[agent] = length(event.get("text"))
            self.other(self.native, agent=agent)
            return
        call, output = text(event.get("toolCallId")), event.get("output")
        failed = bool(event.get("error") or mapping(output).get("error"))
        self._calls.answered(agent, call, text(event.get("toolName")), output, failed)
        self._waiting = [one for one in self._waiting if one[0] != call]

    def _iteration_end(self, event: Mapping[str, Any], agent: str | None) -> None:
        agent = self._working() if agent is None else agent
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

    def _error(self, event: Mapping[str, Any], agent: str | None) -> None:
        """An error; a fatal one comes after the hook that ended its agent."""
        again = event.get("recoverable")
        if agent is None:
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

    def _done(self, event: Mapping[str, Any], agent: str | None) -> None:
        """The last word of an agent; it comes after the hook that ended it."""
        if agent is None:
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
        """By ts and the types hook_event, agent_event, team_event and run_result."""
        found = records(head)
        types = ("hook_event", "agent_event", "team_event", "run_result")
        mine = [one for one in found if one.get("type") in types and "ts" in one]
        return 0.9 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one run's output."""
        return ClineStdout(file)


READER = ClineStdoutFormat()
