"""Copilot's standard output with ``--output-format json``: stored and ephemeral records."""

from __future__ import annotations

from runs.transcripts._base import Format, Reader
from runs.transcripts._copilot import Copilot
from runs.transcripts._sniff import records


class CopilotStdout(Format):
    """``copilot -p … --output-format json``."""

    name = "copilot-stdout-jsonl"
    title = "Copilot standard output"
    source = "stdout"
    agent = "copilot"

    def sniff(self, head: bytes, name: str) -> float:
        """By the envelope, and by records that are never stored."""
        found = [one for one in records(head) if "type" in one]
        shaped = [one for one in found if {"data", "id", "timestamp", "parentId"} <= one.keys()]
        if not shaped or len(shaped) * 2 < len(found):
            return 0.0
        live = any(one.get("ephemeral") for one in found)
        return 0.9 if live else 0.85 if "stdout" in name else 0.4

    def reader(self, file: str) -> Reader:
        """A reader of one run's output."""
        return Copilot(file, "stdout")


READER = CopilotStdout()
