"""Codex's ``config.toml``: the limits on sub-agents that are in force."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._documents import Document
from runs.transcripts._values import integer, mapping, text

LIMITS = {
    "max_threads": "max_threads",
    "max_concurrent_threads_per_session": "max_threads",
    "max_concurrent_agents": "max_threads",
    "max_depth": "max_depth",
    "job_max_runtime_seconds": "max_runtime",
    "request_max_retries": "request_max_retries",
    "stream_max_retries": "stream_max_retries",
    "stream_idle_timeout_ms": "stream_idle_timeout_ms",
}
"""Keys of the file, and the names of the limits."""


class Config(Document):
    """One file."""

    def __init__(self, file: str, source: str) -> None:
        super().__init__(file, source)
        self._lines: list[str] = []

    def parse(self, data: bytes) -> Any:
        """TOML; also remembers the lines, to say where a limit stands."""
        words = data.decode("utf-8")
        self._lines = words.splitlines()
        try:
            return tomllib.loads(words)
        except tomllib.TOMLDecodeError as bad:
            raise ValueError(str(bad)) from bad

    def document(self, data: Any) -> None:
        """The limits, wherever they stand, and the model."""
        found = mapping(data)
        self.facts["agent"] = "codex"
        self.facts["model"] = text(found.get("model"))
        self._look(found, 0)

    def _look(self, table: Mapping[str, Any], depth: int) -> None:
        for key, value in table.items():
            if isinstance(value, dict) and depth < 8:
                self._look(value, depth + 1)
            elif key in LIMITS and integer(value) is not None:
                self.line = self._line_of(key)
                self.native = key
                self.add(Kind.LIMIT, "", name=LIMITS[key], value=integer(value))

    def _line_of(self, key: str) -> int:
        for place, line in enumerate(self._lines, 1):
            if line.split("=", 1)[0].strip().rpartition(".")[2] == key and place > self.line:
                return place
        return 1


class CodexConfig(Format):
    """A configuration file."""

    name = "codex-config"
    title = "Codex configuration"
    source = "config"
    agent = "codex"
    clock = "none"
    whole = True

    def sniff(self, head: bytes, name: str) -> float:
        """TOML with keys that only Codex has."""
        if not name.endswith(".toml"):
            return 0.0
        try:
            found = tomllib.loads(head.decode("utf-8", "replace"))
        except (tomllib.TOMLDecodeError, RecursionError):
            return 0.3 if name.rpartition("/")[2] == "config.toml" else 0.0
        known = {"agents", "features", "model_providers", "model_provider", "approval_policy",
                 "sandbox_mode", "model", "mcp_servers"}  # fmt: skip
        return 0.9 if known & found.keys() else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one configuration."""
        return Config(file, self.source)


READER = CodexConfig()
