"""Copilot's tool calls: spawning, asking about, messaging and stopping sub-agents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runs.core.events import Kind
from runs.transcripts._values import TERMINAL, first_text, length, mapping, status, text

if TYPE_CHECKING:
    from runs.transcripts._copilot import Copilot

SPAWN_TOOLS = frozenset({"task"})
POLL_TOOLS = frozenset({"read_agent"})
MESSAGE_TOOLS = frozenset({"write_agent"})
STOP_TOOLS = frozenset({"stop_agent", "cancel_agent", "kill_agent"})
_NAMED_ID = re.compile(r"agent_id:\s*([\w-]+)")
_NO_RESPONSE = re.compile(r"Agent completed but produced no response\.?\s*$")
"""What the runtime itself puts in the place of an empty result."""
_NAMED_STATUS = re.compile(r"status:\s*([\w-]+)")


@dataclass(slots=True)
class Tool:
    """A tool call that was begun."""

    name: str
    agent: str
    arguments: Mapping[str, Any]


def background_mode(mode: Any) -> bool | None:
    """Whether an execution mode is the background; None where it says nothing."""
    return {"background": True, "sync": False}.get(text(mode))


def _tool_start(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    call, name = text(data.get("toolCallId")), text(data.get("toolName"))
    arguments = mapping(data.get("arguments"))
    if len(reader.tools) < 200_000:
        reader.tools[call] = Tool(name, agent, arguments)
    reader.add(Kind.TOOL_STARTED, agent, call=call, tool=name)
    if name in SPAWN_TOOLS:
        reader.add(
            Kind.SPAWN_REQUESTED,
            agent,
            call=call,
            name=text(arguments.get("name")),
            role=text(arguments.get("agent_type")),
            background=background_mode(arguments.get("mode")),
            model=text(arguments.get("model")) or None,
            prompt_length=length(arguments.get("prompt")),
        )
    elif name in MESSAGE_TOOLS:
        child = reader.canonical(arguments.get("agent_id"))
        if child in reader.children and reader.children[child].ended:
            reader.children[child].ended = False
            reader.add(Kind.AGENT_RESUMED, child, by=agent, call=call, reason="message")
    elif name in STOP_TOOLS:
        reader.add(
            Kind.CANCEL_REQUESTED,
            agent,
            target=reader.canonical(arguments.get("agent_id")),
            by="parent",
            raw=name,
        )
    elif name == "task_complete" and agent in reader.children:
        reader.children[agent].text_length = length(arguments.get("summary"))


def _tool_end(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    call = text(data.get("toolCallId"))
    tool = reader.tools.get(call)
    if tool is not None and tool.name not in SPAWN_TOOLS:
        del reader.tools[call]
    ok = data.get("success")
    said = mapping(data.get("result")).get("content")
    error = mapping(data.get("error"))
    reader.add(
        Kind.TOOL_ENDED,
        agent,
        call=call,
        tool=tool.name if tool else text(data.get("toolName")),
        ok=bool(ok) if isinstance(ok, bool) else None,
        text_length=length(said),
        denied=text(error.get("code")) in {"denied", "rejected"},
    )
    if tool is None:
        return
    telemetry = mapping(mapping(data.get("toolTelemetry")).get("properties"))
    words = first_text(said) or text(error.get("message"), 2000)
    if tool.name in SPAWN_TOOLS:
        _answered(reader, tool, call, ok is not False, words, telemetry)
    elif tool.name in POLL_TOOLS:
        _polled(reader, tool, agent, call, words, telemetry)


def _answered(
    reader: Copilot, tool: Tool, call: str, ok: bool, words: str, telemetry: Mapping[str, Any]
) -> None:
    mode = text(telemetry.get("execution_mode")) or text(tool.arguments.get("mode"))
    sync = call in reader.sync_calls or (call not in reader.by_call and mode == "sync")
    named = _NAMED_ID.search(words[:400])
    child = reader.by_call.get(call, "")
    if not child and named:
        # Up to 1.0.79 the answer uses the given name, the events the call's id.
        child = call if named[1] == tool.arguments.get("name") else named[1]
    if named and child:
        reader.by_name.setdefault(named[1], child)
    handle = named is not None and named[1] in (child, tool.arguments.get("name"))
    if sync and _goes_on(reader, child, handle, words, telemetry):
        sync, mode = False, "background"
    reader.add(
        Kind.SPAWN_ANSWERED,
        tool.agent,
        call=call,
        ok=ok or bool(child),
        child=child,
        refusal=None if ok or child else "error",
        background=not sync if sync or mode else None,
        has_result=bool(words) and not _NO_RESPONSE.match(words) if sync else None,
    )
    if sync and child:
        words = "" if ok and _NO_RESPONSE.match(words) else words
        reader.tell(
            tool.agent, child, "completed" if ok else "failed", "tool_result",
            "success" if ok else "failure",
            call=call, text_length=len(words) if ok else None,
            has_result=bool(words), error_passed=None if ok else bool(words),
        )  # fmt: skip


def _goes_on(
    reader: Copilot,
    child: str,
    handle: bool,
    words: str,
    telemetry: Mapping[str, Any],
) -> bool:
    """Whether the answer to a call that waited hands out the child that still runs, in place of
    its result: the call was moved to the background."""
    if text(telemetry.get("execution_mode")) == "background":
        return True
    known = reader.children.get(child)
    if not handle or known is None or known.ended:
        return False
    said = _NAMED_STATUS.search(words[:400])
    return said is None or status(said[1]) not in TERMINAL


def _polled(
    reader: Copilot, tool: Tool, agent: str, call: str, words: str, telemetry: Mapping[str, Any]
) -> None:
    raw = text(telemetry.get("status"))
    if not raw:
        found = _NAMED_STATUS.search(words[:400])
        raw = found[1] if found else ""
    child = reader.canonical(tool.arguments.get("agent_id") or telemetry.get("agent_id"))
    ours = status(raw)
    if child and ours != "unknown":
        reader.tell(
            agent, child, ours, "poll", raw, call=call,
            has_result=bool(words) if ours in TERMINAL or ours == "idle" else None,
            error_passed=bool(words) if ours == "failed" else None,
        )  # fmt: skip


TOOLS: Mapping[str, Callable[[Copilot, Mapping[str, Any], str], None]] = {
    "tool.execution_start": _tool_start,
    "tool.execution_complete": _tool_end,
}
