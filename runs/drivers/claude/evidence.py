"""The evidence of a run of Claude Code: a sub-agent's own file while it grows, hooks, a log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from runs.core.events import Draft, Kind
from runs.transcripts._claude_session import ClaudeSession

HOOKS = (
    *("SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "StopFailure"),
    *("SubagentStart", "SubagentStop"),
)
"""What is listened to: the lifecycle, not every tool."""
_NOTE = (
    "said=$(cat | tr '\\n' ' '); "
    'printf \'{{"received_at":%s,"payload":%s}}\\n\' "$(date +%s.%3N)" "$said" >> {place}'
)


def settings(place: Path) -> str:
    """Its ``settings.json``: each hook appends what it is handed to `place`, with the time."""
    command = _NOTE.format(place=place)
    hook = [{"matcher": "", "hooks": [{"type": "command", "command": command}]}]
    return json.dumps({"hooks": dict.fromkeys(HOOKS, hook)}, indent=1)


class LiveSubagent(ClaudeSession):
    """A sub-agent's own file. It has no record of the end: its last message is one.

    Whose child it is stands elsewhere (the stream, the parent's file).
    """

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._last: Draft | None = None
        self._error = ""

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """Drafts of one line."""
        return [self._seen(draft) for draft in super().feed(line, number, offset)]

    def end(self) -> Iterable[Draft]:
        """The stored end, where the last message of the file is one."""
        yield from super().end()
        last = self._last
        if last is None:
            return
        failed = bool(last.data.get("error"))
        if failed or last.data.get("final"):
            size = last.data.get("text_length")
            data: dict[str, Any] = {
                "status": "failed" if failed else "completed",
                "raw": last.native,
                "error_class": self._error if failed else None,
                "text_length": size,
                "has_result": bool(size),
                "detail": "inferred from the last record",
            }
            yield replace(last, kind=Kind.AGENT_ENDED, native_id="", data=data)

    def _seen(self, draft: Draft) -> Draft:
        if draft.kind is Kind.AGENT_STARTED:
            return replace(draft, data={**draft.data, "parent": ""})
        if draft.kind is Kind.AGENT_MESSAGE:
            self._last = draft
        elif draft.kind is Kind.ERROR:
            self._error = str(draft.data.get("error_class") or "")
        elif draft.kind in (Kind.USER_MESSAGE, Kind.TOOL_STARTED, Kind.TOOL_ENDED):
            self._last = None
        return draft
