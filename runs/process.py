"""Start an agent's binary under the minder, in the seal, and end its whole tree.

    async with prepare(workspace, seal, binary_folder=binary.folder) as stage:
        base_url = stage.base_url            # known before the agent starts
        await provider.start(sock=stage.listener)
        running = await stage.launch(driver.launch(context))
        ... read running.stdout / running.stderr ...
        ended = await running.wait()

Leaving the block, by whichever way, leaves no process of the agent. When this
process is killed, the minder sees its socket close and kills everything too.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runs.seal import Seal
from runs.workspace import Workspace

if TYPE_CHECKING:
    from runs.driver import Launch

OnNetwork = Callable[[dict[str, Any]], None]
"""Takes ``{"host", "address", "port", "what"}`` of one attempt, as in `network.attempt`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of every process of the agent."""

    file_mib: int = 2048
    """Largest file that it may write."""
    open_files: int = 8192
    processes: int = 4096
    """Only in force inside a seal that has its own users."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the agent's own process ended. Exactly one of `code` and `signal` is set,
    unless `lost`: the minder itself died, so nobody saw it."""

    code: int | None = None
    signal: int | None = None
    left: int = 0
    """Processes that it left behind (killed by us)."""
    lost: bool = False


@dataclass(slots=True, kw_only=True)
class Running:
    """The started agent."""

    pid: int
    """As this machine sees it (0: not known)."""
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader
    """Bytes; `await read(n)`. Reading slowly makes the agent wait, nothing piles up."""
    stdin: asyncio.StreamWriter | None

    async def wait(self) -> Ended:
        """Until the agent's own process has ended and all of its tree is gone."""
        raise NotImplementedError

    async def kill(self, grace: float = 2.0) -> Ended:
        """TERM, `grace` seconds, KILL, for the whole tree; returns when nothing is left."""
        raise NotImplementedError

    def samples(self, every: float = 0.5) -> AsyncIterator[dict[str, Any]]:
        """``{"rss": bytes, "cpu": percent of one core, "processes": n}`` until the end."""
        raise NotImplementedError


@dataclass(slots=True, kw_only=True)
class Stage:
    """The seal stands, nothing of the agent runs yet."""

    listener: socket.socket | None
    """Listening TCP socket for the provider, inside the seal; yours to serve and close."""
    host: str = "127.0.0.1"
    port: int = 0
    """As the agent sees it."""
    network: list[dict[str, Any]] = field(default_factory=list)
    """Attempts so far to leave the sealed network."""

    @property
    def base_url(self) -> str:
        """``http://127.0.0.1:PORT`` of the provider, without a path."""
        return f"http://{self.host}:{self.port}"

    async def launch(self, launch: Launch, *, path: Sequence[Path] = ()) -> Running:
        """Write the launch's files and views, start the agent in ``work``.

        `path`: folders that come first on its PATH. HarnessError when it cannot be started
        (not there, not executable), with the system's reason.
        """
        raise NotImplementedError


@asynccontextmanager
async def prepare(
    workspace: Workspace,
    seal: Seal,
    *,
    binary_folder: Path | None = None,
    readonly: Sequence[Path] = (),
    on_network: OnNetwork | None = None,
    want_listener: bool = True,
    limits: Limits | None = None,
) -> AsyncIterator[Stage]:
    """Raise the seal and the minder for one run.

    `binary_folder` and `readonly` are visible inside at their own paths, read-only
    (see `runs.seal.folders_of` for interpreters). HarnessError when the seal cannot be raised.
    """
    raise NotImplementedError
    yield
