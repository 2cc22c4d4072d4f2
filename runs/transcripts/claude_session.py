"""Claude Code's session file, the root's: ``projects/SLUG/SESSION.jsonl``."""

from __future__ import annotations

from runs.transcripts._base import Format, Reader
from runs.transcripts._claude_session import ClaudeSession, sureness


class ClaudeSessionFormat(Format):
    """The root's file, with the spawns, the queue and the delivered notices."""

    name = "claude-session-jsonl"
    title = "Claude Code session"
    source = "session"
    agent = "claude"

    def sniff(self, head: bytes, name: str) -> float:
        """By uuid, parentUuid, isSidechain and sessionId, without an agentId."""
        return sureness(head, of_child=False)

    def reader(self, file: str) -> Reader:
        """A reader of one session."""
        return ClaudeSession(file)


READER = ClaudeSessionFormat()
