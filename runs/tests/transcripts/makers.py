"""Small logs in the shapes of Copilot and Claude Code, for variants of the known failures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

START = datetime(2026, 10, 5, 9, tzinfo=UTC).timestamp()


def stamp(at: float) -> str:
    """Seconds since the start as ISO time."""
    return datetime.fromtimestamp(START + at, UTC).isoformat(timespec="milliseconds")


class CopilotLog:
    """Records of a Copilot session, in order of calls."""

    def __init__(self, version: str = "1.0.102") -> None:
        self.records: list[dict[str, Any]] = []
        self.put(0, "session.start", sessionId="s", copilotVersion=version, selectedModel="m")
        self.put(0.1, "user.message", content="go")

    def put(self, at: float, type: str, agent: str = "", **data: Any) -> CopilotLog:
        """One record; it hangs on the one before it."""
        number = len(self.records)
        record = {
            "type": type,
            "data": data,
            "id": f"e{number}",
            "timestamp": stamp(at),
            "parentId": f"e{number - 1}" if number else None,
        }
        if agent:
            record["agentId"] = agent
        self.records.append(record)
        return self

    def spawn(
        self, at: float, agent: str, call: str, owner: str = "", mode: str = "background"
    ) -> CopilotLog:
        """A `task` call, its child, and for a background child the answer."""
        arguments = {"name": f"n-{agent}", "agent_type": "general-purpose", "mode": mode}
        self.put(at, "tool.execution_start", owner, toolCallId=call, toolName="task",
                 arguments=arguments)  # fmt: skip
        self.put(at + 0.01, "subagent.started", agent, toolCallId=call, agentName="gp",
                 agentDisplayName=f"n-{agent}", executionMode=mode)  # fmt: skip
        if mode == "background":
            self.answer(at + 0.02, call, f"Agent started in background with agent_id: {agent}.",
                        owner=owner)  # fmt: skip
        return self

    def answer(
        self, at: float, call: str, words: str, ok: bool = True, owner: str = ""
    ) -> CopilotLog:
        """The end of a tool call."""
        result = {"result": {"content": words}} if ok else {"error": {"message": words}}
        return self.put(at, "tool.execution_complete", owner, toolCallId=call, success=ok, **result)

    def say(self, at: float, words: str, agent: str = "") -> CopilotLog:
        """A turn with a final message."""
        self.put(at - 0.1, "assistant.turn_start", agent, turnId="0")
        self.put(at, "assistant.message", agent, content=words, toolRequests=[])
        return self.put(at + 0.01, "assistant.turn_end", agent, turnId="0")

    def end(self, at: float, agent: str, call: str, how: str = "completed") -> CopilotLog:
        """A terminal."""
        return self.put(at, f"subagent.{how}", agent, toolCallId=call, durationMs=1)

    def tell(self, at: float, agent: str, status: str = "completed", owner: str = "") -> CopilotLog:
        """A notification to the spawner."""
        kind = {"type": "agent_completed", "agentId": agent, "status": status}
        return self.put(at, "system.notification", owner, content="…", kind=kind)

    def close(self, at: float) -> list[dict[str, Any]]:
        """The root's last word and the shutdown."""
        self.say(at - 0.2, "All done.")
        self.put(at, "session.shutdown", shutdownType="routine")
        return self.records


class ClaudeLog:
    """Records of a Claude Code session file, or of a sub-agent's."""

    def __init__(self, agent: str = "") -> None:
        self.agent = agent
        self.records: list[dict[str, Any]] = []

    def put(self, at: float, type: str, content: Any, **more: Any) -> ClaudeLog:
        """One message record."""
        number = len(self.records)
        message = {"role": type, "content": content, **more.pop("message", {})}
        record = {
            "parentUuid": f"{self.agent}u{number - 1}" if number else None,
            "isSidechain": bool(self.agent),
            "sessionId": "s",
            "version": "2.1.300",
            "type": type,
            "uuid": f"{self.agent}u{number}",
            "timestamp": stamp(at),
            "message": message,
            **more,
        }
        if self.agent:
            record["agentId"] = self.agent
        self.records.append(record)
        return self

    def say(self, at: float, words: str, stop: str = "end_turn", **more: Any) -> ClaudeLog:
        """What the model said."""
        block = [{"type": "text", "text": words}]
        return self.put(at, "assistant", block, message={"stop_reason": stop, "model": "m"}, **more)

    def use(self, at: float, call: str, name: str, **given: Any) -> ClaudeLog:
        """A tool call."""
        block = [{"type": "tool_use", "id": call, "name": name, "input": given}]
        return self.put(at, "assistant", block, message={"stop_reason": "tool_use"})

    def result(
        self, at: float, call: str, words: str, told: Any = None, error: bool = False
    ) -> ClaudeLog:
        """A tool result."""
        block = {"type": "tool_result", "tool_use_id": call, "content": words}
        if error:
            block["is_error"] = True  # type: ignore[assignment]
        more = {} if told is None else {"toolUseResult": told}
        return self.put(at, "user", [block], **more)

    def launch(self, at: float, call: str, agent: str) -> ClaudeLog:
        """A background sub-agent."""
        self.use(at, call, "Agent", description="d", prompt=f"p {agent}", run_in_background=True)
        told = {"status": "async_launched", "agentId": agent}
        return self.result(at + 0.1, call, f"agentId: {agent}", told)

    def notice(self, agent: str, call: str, status: str = "completed") -> str:
        """The text of a notification."""
        return (
            f"<task-notification>\n<task-id>{agent}</task-id>\n<tool-use-id>{call}</tool-use-id>\n"
            f"<status>{status}</status>\n<summary>done</summary>\n</task-notification>"
        )

    def queue(self, at: float, content: str | None) -> ClaudeLog:
        """A queue record: with a content it is put in, without one taken out."""
        record = {"type": "queue-operation", "sessionId": "s", "timestamp": stamp(at),
                  "operation": "dequeue" if content is None else "enqueue"}  # fmt: skip
        if content is not None:
            record["content"] = content
        self.records.append(record)
        return self

    def told(self, at: float, agent: str, call: str, status: str = "completed") -> ClaudeLog:
        """A notification that is queued, taken out and delivered."""
        words = self.notice(agent, call, status)
        self.queue(at, words).queue(at + 0.1, None)
        return self.put(at + 0.2, "user", words)


def claude_child(agent: str, end: float, words: str = "done", **more: Any) -> list[dict[str, Any]]:
    """A sub-agent's own file that ends with an answer."""
    log = ClaudeLog(agent).put(1, "user", f"p {agent}")
    return log.say(end, words, **more).records
