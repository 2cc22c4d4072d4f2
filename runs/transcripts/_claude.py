"""What Claude Code's session files and its stream-json share: messages and their blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fakes.spoken import digest
from runs.core.events import Kind
from runs.transcripts._claude_calls import Answer, Call, answer
from runs.transcripts._claude_notice import Notice
from runs.transcripts._lines import Lines
from runs.transcripts._values import (
    ELSEWHERE,
    TERMINAL,
    error_class,
    first_text,
    integer,
    items,
    length,
    mapping,
    marker,
    status,
    text,
)

SPAWN_TOOLS = frozenset({"Agent", "Task"})
STOP_TOOLS = frozenset({"TaskStop", "KillTask", "KillAgent"})
MESSAGE_TOOLS = frozenset({"SendMessage"})
POLL_TOOLS = frozenset({"TaskOutput", "AgentOutput", "AgentOutputTool"})
QUESTION_TOOLS = frozenset({"AskUserQuestion"})
INTERRUPTED = "[Request interrupted by user"
_POLLED = re.compile(r"<(task_id|task_type|status)>([^<]{1,80})</\1>")
_ID = re.compile(r"a[0-9a-f]{15,17}")
"""What is surely a sub-agent's id, and not a name that somebody gave it."""
_SHELL = re.compile(r"b[0-9a-z]{5,11}")
"""The same of a background command."""
_ENDS = frozenset({"end_turn", "stop_sequence", "max_tokens", "refusal"})


class Claude(Lines):
    """Messages of Claude Code, of the root or of a sub-agent."""

    def __init__(self, file: str, source: str) -> None:
        super().__init__(file, source)
        self.facts["agent"] = "claude"
        self.calls: dict[str, Call] = {}
        self.by_call: dict[str, str] = {}
        self.ended: dict[str, set[str]] = {}
        self.queued: set[tuple[str, str]] = set()

    # Terminals and notices

    def end_run(self, agent: str, ours: str, raw: str, run: str | None = None, **more: Any) -> None:
        """The run of a sub-agent ended; said once per run in this file."""
        self.ended.setdefault(agent, set()).add(run or "")
        self.add(Kind.AGENT_ENDED, agent, status=ours, raw=raw, run=run, **more)

    def resume(self, agent: str, by: str, call: str = "", reason: str = "message") -> None:
        """A sub-agent that ended gets work again."""
        if self.has_ended(agent, ""):
            self.ended[agent].discard("")
            self.queued.discard((agent, ""))
            self.add(Kind.AGENT_RESUMED, agent, by=by, call=call, reason=reason)
        elif _ID.fullmatch(agent) and agent not in self.by_call.values():
            # Spawned in another file: whether it had ended is to be seen there.
            self.add(Kind.AGENT_RESUMED, agent, by=by, call=call, reason=ELSEWHERE)

    def is_shell(self, notice: Notice) -> bool:
        """Whether a notification is about a background command, not about an agent.

        One of a call that another file has is about a command that a sub-agent left running.
        """
        call = self.calls.get(notice.call)
        if call is not None:
            return call.tool not in SPAWN_TOOLS | MESSAGE_TOOLS
        known = notice.task in self.by_call.values() or not notice.call
        return not known and _SHELL.fullmatch(notice.task) is not None

    def deliver(self, notice: Notice, agent: str, form: str, run: str | None = None) -> None:
        """`agent` is told; the runtime's word about the end is a terminal, if it is the first."""
        if self.is_shell(notice):
            self.other("task-notification", summary="a background command", agent=agent)
            return
        run = run or notice.run
        key = (notice.task, run or "")
        if key in self.queued or (notice.task, "") in self.queued:
            self.queued -= {key, (notice.task, "")}
        elif notice.status in TERMINAL:
            self.end_run(
                notice.task, notice.status, notice.raw, run, call=notice.call,
                text_length=notice.text_length, duration=notice.duration,
            )  # fmt: skip
        self.add(
            Kind.NOTICE_DELIVERED,
            agent,
            child=notice.task,
            status=notice.status,
            raw=notice.raw,
            call=notice.call,
            form=form,
            text_length=notice.text_length,
            has_result=None if notice.text_length is None else notice.text_length > 0,
            run=run,
            digest=notice.digest,
        )

    # Messages

    def assistant(self, record: Mapping[str, Any], agent: str) -> None:
        """What the model said: text, tool calls, or an error in its place."""
        message = mapping(record.get("message"))
        blocks = items(message.get("content"))
        size = length(message.get("content"))
        calls = [one for one in blocks if mapping(one).get("type") == "tool_use"]
        reason = text(message.get("stop_reason"), 40)
        failed = record.get("isApiErrorMessage") is True
        final = (failed or reason in _ENDS) and not calls if reason or failed else None
        self.add(
            Kind.AGENT_MESSAGE,
            agent,
            text_length=size,
            final=final,
            finish=reason,
            tool_calls=len(calls),
            model=text(message.get("model")),
            error=failed,
            empty=bool(final) and not size,
            digest=digest(first_text(message.get("content"))),
        )
        if failed:
            self._api_error(record, agent)
        for block in calls:
            self._tool_use(mapping(block), agent)

    def _api_error(self, record: Mapping[str, Any], agent: str) -> None:
        code = integer(record.get("apiErrorStatus"))
        word = text(record.get("error"), 80)
        found = error_class(word, code)
        self.add(
            Kind.ERROR,
            agent,
            # Without a status there was no answer to have one: the stream broke.
            error_class="stream" if found == "other" and code is None else found,
            http_status=code,
            raw=word or "isApiErrorMessage",
            will_retry=False,
        )

    def _tool_use(self, block: Mapping[str, Any], agent: str) -> None:
        call, name = text(block.get("id")), text(block.get("name"))
        given = mapping(block.get("input"))
        background = given.get("run_in_background")
        if len(self.calls) < 200_000:
            self.calls[call] = Call(
                name, agent, background if isinstance(background, bool) else None
            )
        apart = background is True and name not in SPAWN_TOOLS
        self.add(Kind.TOOL_STARTED, agent, call=call, tool=name, background=apart or None)
        if name in SPAWN_TOOLS:
            self.add(
                Kind.SPAWN_REQUESTED,
                agent,
                call=call,
                name=text(given.get("description")),
                role=text(given.get("subagent_type")),
                background=self.calls[call].background if call in self.calls else None,
                model=text(given.get("model")) or None,
                prompt_length=length(given.get("prompt")),
                task=marker(given.get("prompt")) or None,
            )
        elif name in STOP_TOOLS:
            target = text(given.get("task_id") or given.get("agent_id"))
            self.add(Kind.CANCEL_REQUESTED, agent, target=target, by="parent", raw=name)
        elif name in MESSAGE_TOOLS:
            self.resume(text(given.get("to")), agent, call)
        elif name in QUESTION_TOOLS:
            self.add(Kind.QUESTION_ASKED, agent, id=call, what="question", tool=name)

    def tool_results(self, record: Mapping[str, Any], agent: str, result: Any) -> bool:
        """The answers in a user record; whether there were any."""
        found = False
        for block in items(mapping(record.get("message")).get("content")):
            one = mapping(block)
            if one.get("type") == "tool_result":
                found = True
                self._tool_result(one, agent, result)
        return found

    def _tool_result(self, block: Mapping[str, Any], agent: str, result: Any) -> None:
        number_of = text(block.get("tool_use_id"))
        call = self.calls.get(number_of)
        failed = block.get("is_error") is True
        self.add(
            Kind.TOOL_ENDED,
            agent,
            call=number_of,
            tool=call.tool if call else "",
            ok=not failed,
            text_length=length(block.get("content")),
        )
        told = mapping(result)
        if (call is not None and call.tool in SPAWN_TOOLS) or (
            call is None and told.get("agentId") and "status" in told
        ):
            self._spawn_result(number_of, call or Call("Agent", agent), answer(block, told))
        elif call.tool in POLL_TOOLS if call is not None else "retrieval_status" in told:
            self._polled(number_of, agent, mapping(told.get("task")), block)
        elif call is not None and call.tool in QUESTION_TOOLS:
            word = "error" if failed else "answered"
            self.add(Kind.QUESTION_ANSWERED, agent, id=number_of, answer=word)

    def _polled(
        self, call: str, agent: str, task: Mapping[str, Any], block: Mapping[str, Any]
    ) -> None:
        """The state of a task that the agent asked for itself; a shell's is none of an agent."""
        words = first_text(block.get("content"))
        said = dict(_POLLED.findall(words[:2000])) | {
            key: text(value) for key, value in task.items() if isinstance(value, str)
        }
        child, raw = said.get("task_id", ""), said.get("status", "")
        if not child or "agent" not in said.get("task_type", "agent"):
            return
        ours = status(raw)
        size = length(task.get("output") or task.get("result") or words)
        self.add(
            Kind.NOTICE_DELIVERED, agent, child=child, status=ours, raw=raw, call=call,
            form="poll", text_length=size if ours in TERMINAL else None,
            has_result=size > 0 if ours in TERMINAL else None,
        )  # fmt: skip

    def _spawn_result(self, number_of: str, call: Call, said: Answer) -> None:
        child = said.child or self.by_call.get(number_of, "")
        if child:
            self.by_call[number_of] = child
        launched = said.launched
        if launched is None:
            # A launch is what did not end yet; a side chain in this very file, which has the
            # call's id, is over with its answer.
            apart = bool(child) and child != number_of
            launched = call.background is True or (apart and not self.has_ended(child))
        self.add(
            Kind.SPAWN_ANSWERED,
            call.agent,
            call=number_of,
            ok=bool(child) or not said.failed,
            child=child,
            refusal="error" if said.failed and not child else None,
            background=launched if launched or said.word else call.background,
            status=said.word or None,
            has_result=None if launched else said.size > 0,
            model=said.model or None,
        )
        if not launched and not (said.failed and call.background):
            self._spawn_over(number_of, call, child, said)

    def _spawn_over(self, number_of: str, call: Call, child: str, said: Answer) -> None:
        if child and said.status in TERMINAL and not self.has_ended(child):
            self.end_run(child, said.status, said.raw, call=number_of, text_length=said.size,
                         has_result=said.size > 0, duration=said.duration)  # fmt: skip
        self.add(
            Kind.NOTICE_DELIVERED,
            call.agent,
            child=child,
            status=said.status,
            raw="is_error" if said.failed and not said.word else said.raw,
            call=number_of,
            form="tool_result",
            has_result=said.size > 0,
            text_length=said.size,
            error_passed=said.size > 0 if said.failed else None,
        )

    def has_ended(self, agent: str, run: str | None = None) -> bool:
        """Whether the end of a sub-agent's run of that name (of any, without one) was said."""
        runs = self.ended.get(agent, set())
        return bool(runs) if run is None else run in runs

    def interruption(self, record: Mapping[str, Any], agent: str) -> bool:
        """Whether a user record is the mark that somebody pressed Esc."""
        if not first_text(mapping(record.get("message")).get("content")).startswith(INTERRUPTED):
            return False
        # Esc ends the turn; sub-agents in the background are meant to go on.
        self.add(Kind.ABORTED, agent, reason="interrupted by user", by="user")
        return True
