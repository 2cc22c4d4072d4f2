"""What Cline's stream and its stored messages share: calls that delegate, and what they return.

``spawn_agent`` waits for a sub-agent that only the stream names. A teammate has the name that its
parent gave it: ``team_run_task`` hands it a task, in the background as a run with an id;
``team_await_runs`` and ``team_list_runs`` tell of runs, and ``team_cancel_run`` stops one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fakes.targeting import TASK_PATTERN
from runs.core.events import Kind
from runs.transcripts._lines import Lines
from runs.transcripts._values import EMPTY, TERMINAL, items, length, mapping, status, text

SPAWN, TASK = "spawn_agent", "team_run_task"
WAIT, LIST, CANCEL = "team_await_runs", "team_list_runs", "team_cancel_run"
FINISHED = {"max_iterations": "failed", "mistake_limit": "failed"}
"""Words of its own for an end; the others are everybody's."""
_BROKE = re.compile(r'\b(run_\d{1,9})(?:" (?:was )?|:)(failed|cancelled|interrupted)\b')
"""The fixed form in which an error of a wait names a run and how it ended."""


class Calls:
    """The calls of one file. `reader` takes the events; `child_of` gives whom a call started."""

    def __init__(self, reader: Lines, child_of: Callable[[str], str]) -> None:
        self._reader = reader
        self._child_of = child_of
        self._made: dict[str, tuple[str, str, Mapping[str, Any]]] = {}
        self._runs: dict[str, str] = {}
        self._first: dict[str, str] = {}
        self.last: dict[str, tuple[str, bool]] = {}
        """By teammate: the call that gave it its last task, and whether in the background."""
        self.untold: set[str] = set()
        """Teammates whose runs in the background have ended, and of which no call has told."""

    def owner(self, call: str) -> str | None:
        """The agent that made this call; None where it was not seen."""
        made = self._made.get(call)
        return made[0] if made else None

    def runs(self, run: Any) -> str:
        """The teammate whose run this is, by an object that names both, which is remembered."""
        name, own = text(mapping(run).get("agentId")), text(mapping(run).get("id"), 40)
        if name and own:
            self._runs[own] = name
        return name

    def asked(self, agent: str, call: str, tool: str, given: Mapping[str, Any]) -> None:
        """`agent` calls a tool."""
        say = self._reader.add
        self._made[call] = (agent, tool, given)
        say(Kind.TOOL_STARTED, agent, call=call, tool=tool)
        if tool == SPAWN:
            self._spawn(agent, call, "", False, given)
        elif tool == TASK:
            name, background = text(given.get("agentId")), given.get("runMode") == "async"
            self.last[name] = (call, background)
            if name not in self._first:
                self._first[name] = call
                self._spawn(agent, call, name, background, given)
        elif tool == CANCEL:
            target = self._runs.get(text(given.get("runId"), 40), "")
            say(Kind.CANCEL_REQUESTED, agent, target=target, by="parent", raw=tool)

    def _spawn(
        self, agent: str, call: str, name: str, background: bool, given: Mapping[str, Any]
    ) -> None:
        marker = TASK_PATTERN.search(text(given.get("task"), 2000))
        self._reader.add(
            Kind.SPAWN_REQUESTED,
            agent,
            call=call,
            name=name,
            background=background,
            prompt_length=length(given.get("task")),
            task=marker[1] if marker else None,
        )

    def answered(self, agent: str, call: str, tool: str, output: Any, failed: bool) -> None:
        """A call has returned; who made it counts more than `agent`, if that is known."""
        agent, tool, given = self._made.get(call, (agent, tool, EMPTY))
        size = length(output)
        self._reader.add(
            Kind.TOOL_ENDED, agent, call=call, tool=tool, ok=not failed, text_length=size
        )
        if tool == SPAWN:
            self._spawned(agent, call, mapping(output), failed)
        elif tool == TASK:
            self._tasked(agent, call, text(given.get("agentId")), mapping(output), failed)
        elif tool == WAIT and failed:
            for run, word in _BROKE.findall(text(mapping(output).get("error"), 4000)):
                self._told(agent, call, self._runs.get(run, ""), word, "wait", error=True, run=run)
        elif tool == CANCEL and not failed:
            run, word = text(mapping(output).get("runId"), 40), mapping(output).get("status")
            self._told(agent, call, self._runs.get(run, ""), text(word, 40), "tool_result", run=run)
        elif tool in (WAIT, LIST):
            for run in items(output) if isinstance(output, list) else [output]:
                self._run(agent, call, mapping(run), "wait" if tool == WAIT else "poll")

    def _spawned(self, agent: str, call: str, output: Mapping[str, Any], failed: bool) -> None:
        child, raw = self._child_of(call), text(output.get("finishReason"), 40)
        size = length(output.get("text"))
        self._accepted(agent, call, child, failed, has_result=size > 0)
        word = "failed" if failed else FINISHED.get(raw) or status(raw)
        raw = raw or "error"
        if child or not failed:
            self._told(agent, call, child, word, "tool_result", raw, size, failed or size > 0)

    def _tasked(
        self, agent: str, call: str, name: str, output: Mapping[str, Any], failed: bool
    ) -> None:
        """A teammate has its task, or, where the call waits, has ended.

        The end of such a call is all that it says of the task's: its `status` says running.
        """
        own, waits = text(output.get("runId"), 40), output.get("mode") == "sync"
        if own:
            self._runs[own] = name
        size = length(output.get("text"))
        if self._first.get(name) == call:
            self._accepted(agent, call, name, failed, has_result=size > 0 if waits else None)
        if waits and not failed:
            self._told(agent, call, name, "completed", "tool_result", "sync", size)

    def _accepted(
        self, agent: str, call: str, child: str, failed: bool, has_result: bool | None
    ) -> None:
        started = bool(child) and not (failed and child in self._first)
        self._reader.add(
            Kind.SPAWN_ANSWERED,
            agent,
            call=call,
            ok=started or not failed,
            child=child if started else "",
            refusal="error" if failed and not started else None,
            background=self.last[child][1] if child in self.last else False,
            has_result=has_result,
        )

    def _run(self, agent: str, call: str, run: Mapping[str, Any], form: str) -> None:
        """A run as a call describes it; of its answer there is a preview."""
        name, raw = self.runs(run), text(run.get("status"), 40)
        said = length(mapping(run.get("resultSummary")).get("textPreview"))
        if name:
            own, error = text(run.get("id"), 40), bool(run.get("error"))
            self._told(agent, call, name, raw, form, size=said, error=error, run=own)

    def told(self, agent: str, child: str, run: str, word: str, *, error: bool) -> None:
        """`agent` is told by a message that nobody asked for; it has a status, and no answer."""
        self._told(agent, "", child, word, "notification", size=None, error=error, run=run)

    def _told(
        self,
        agent: str,
        call: str,
        child: str,
        word: str,
        form: str,
        raw: str = "",
        size: int | None = 0,
        error: bool = False,
        run: str = "",
    ) -> None:
        ours = status(word)
        done = ours == "completed"
        if ours in TERMINAL:
            self.untold.discard(child)
        self._reader.add(
            Kind.NOTICE_DELIVERED,
            agent,
            child=child,
            status=ours,
            raw=raw or word,
            call=call,
            form=form,
            has_result=size > 0 if done and size is not None else None,
            text_length=size if done and form == "tool_result" else None,
            error_passed=error if ours == "failed" else None,
            run=run or None,
        )
