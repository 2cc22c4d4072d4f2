"""Claude Code's file of one sub-agent: ``SESSION/subagents/agent-ID.jsonl``."""

from __future__ import annotations

from runs.transcripts._base import Format, Reader
from runs.transcripts._claude_session import ClaudeSession, sureness


class ClaudeSubagentFormat(Format):
    """The shape of the root's file; every record has the sub-agent's id."""

    name = "claude-subagent-jsonl"
    title = "Claude Code sub-agent"
    source = "session"
    agent = "claude"

    def sniff(self, head: bytes, name: str) -> float:
        """By the transcript's keys and an agentId."""
        return sureness(head, of_child=True)

    def reader(self, file: str) -> Reader:
        """A reader of one sub-agent's transcript."""
        return ClaudeSession(file)


READER = ClaudeSubagentFormat()
