"""The notes of an extension: what each process of pi says of itself (view ``hooks``).

A sub-agent is a process whose parent is another pi; it is named as in the stream, by the call
whose task its prompt repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._pi import ENDS
from runs.transcripts._sniff import records
from runs.transcripts._values import moment, text

PREFIX = "Task: "
"""What the extension puts before a task."""


class PiNotes(Lines):
    """All processes of one run, in the order of their notes."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "hooks")
        self.facts["agent"] = "pi"
        self._agents: dict[str, str] = {}
        self._waiting: dict[str, tuple[str, str]] = {}
        self._words: dict[str, str] = {}

    def record(self, record: Mapping[str, Any]) -> None:
        """One note."""
        self.at = moment(record.get("at"))
        process, above = text(record.get("pid"), 20), text(record.get("ppid"), 20)
        agent = self._agents.get(process, "")
        if self.native == "agent_end":
            self._words[process] = text(record.get("stopReason"), 40)
        if self.native == "session_start" and not self._agents:
            self._agents[process] = ROOT
            version = text(record.get("version"), 60)
            self.facts["version"] = version
            self.add(Kind.SESSION_STARTED, ROOT, version=version)
        elif self.native == "subagent":
            self._waiting[text(record.get("call"))] = (agent, text(record.get("task"), 4000))
            self.other(self.native, agent=agent)
        elif self.native == "prompt" and not agent and above in self._agents:
            self._begins(process, self._agents[above], text(record.get("prompt"), 4000))
        elif self.native == "session_shutdown" and agent:
            self._ends(process, agent)
        else:
            self.other(self.native, agent=agent)

    def _begins(self, process: str, parent: str, prompt: str) -> None:
        task = prompt.removeprefix(PREFIX)
        call = next((call for call, asked in self._waiting.items() if asked == (parent, task)), "")
        if not call:
            self.other(self.native)
            return
        del self._waiting[call]
        self._agents[process] = call
        self.add(Kind.AGENT_STARTED, call, parent=parent, call=call)

    def _ends(self, process: str, agent: str) -> None:
        """A process leaves in order. Its turns may have failed and been tried again before."""
        word = self._words.pop(process, "")
        if agent == ROOT or word not in ENDS:
            self.other(self.native, agent=agent)
        else:
            self.add(Kind.AGENT_ENDED, agent, status=ENDS[word], raw=word)


class PiNotesFormat(Format):
    """One JSON object a note; the extension is ours, and its words are pi's."""

    name = "pi-notes"
    title = "pi process notes"
    source = "hooks"
    agent = "pi"

    def sniff(self, head: bytes, name: str) -> float:
        """By the first note of a process."""
        found = records(head)
        begun = [
            one
            for one in found
            if one.get("type") == "session_start" and {"pid", "ppid", "version"} <= one.keys()
        ]
        return 0.9 if begun else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of all processes of one run."""
        return PiNotes(file)


READER = PiNotesFormat()
