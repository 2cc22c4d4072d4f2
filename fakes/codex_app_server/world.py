"""What all turns of one process share."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fakes.codex_app_server.payloads import thread_status
from fakes.codex_app_server.protocol import Protocol
from fakes.codex_app_server.scenario import Scenario, load
from fakes.codex_app_server.store import Store
from fakes.codex_app_server.transcript import Transcript
from fakes.codex_app_server.wire import Wire

if TYPE_CHECKING:
    from fakes.codex_app_server.agents import Agent
    from fakes.codex_app_server.turn import Turn


@dataclass
class World:
    """One process of the fake."""

    folder: Path
    protocol: Protocol
    transcript: Transcript
    store: Store
    wire: Wire
    agents: dict[str, Agent] = field(default_factory=dict)
    """Sub-agents by the name that the script gives them."""
    running: dict[str, Turn] = field(default_factory=dict)
    """The open turn of a thread, by thread."""
    loaded: dict[str, str] = field(default_factory=dict)
    """Status of the threads that this process knows, by thread."""
    usage: dict[str, dict[str, int]] = field(default_factory=dict)
    """Tokens so far, by thread."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def scenario(self) -> Scenario:
        """The script as it is now; ScenarioError."""
        return load(self.folder)

    def status(self, thread: str, status: str) -> None:
        """A thread goes over to that status, and says so."""
        self.loaded[thread] = status
        params = {"threadId": thread, "status": thread_status(status)}
        self.wire.notify("thread/status/changed", params)


def world(folder: Path, version: str = "", bundle: Path | None = None) -> World:
    """A new process of the fake on a state folder, speaking as :class:`Protocol` says."""
    protocol = Protocol(version, bundle)
    transcript = Transcript(folder)
    return World(folder, protocol, transcript, Store(folder), Wire(transcript, protocol))
