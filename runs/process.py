"""Start an agent's binary under the minder, in the seal, and end its whole tree.

    async with prepare(workspace, seal, binary_folder=binary.folder) as stage:
        await provider.start(sock=stage.listener)
        running = await stage.launch(driver.launch(context))   # knows stage.base_url
        ... read running.stdout / running.stderr ...
        ended = await running.wait()

Leaving the block, by whichever way, leaves no process of the agent. When this
process is killed, the minder sees its socket close and kills everything too.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from runs import bubblewrap
from runs.control import Control
from runs.errors import HarnessError
from runs.outer import Outer
from runs.sample import Sampler, kill_strays
from runs.seal import Seal
from runs.streams import Streams
from runs.workspace import MIB, Workspace

if TYPE_CHECKING:
    from runs.driver import Launch

OnNetwork = Callable[[dict[str, Any]], None]
"""Takes ``{"host", "address", "port", "what"}`` of one attempt, as in `network.attempt`."""

MOST_ATTEMPTS: Final = 1000
_ANSWER: Final = 6.0
"""Seconds that the minder gets to report after the grace; a stopped one never does."""
_RAISE: Final = 60.0
"""Seconds that a busy machine may take to raise the seal or start a binary."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of every process of the agent."""

    file_mib: int = 2048
    """Largest file that it may write."""
    open_files: int = 8192
    processes: int = 4096
    """Only in force inside a seal that has its own users."""

    def as_dict(self, own_user: bool) -> dict[str, int]:
        """By the names of the system (``RLIMIT_…``)."""
        limits = {"FSIZE": self.file_mib * MIB, "NOFILE": self.open_files, "CORE": 0}
        return limits | ({"NPROC": self.processes} if own_user else {})


@dataclass(frozen=True, slots=True)
class Ended:
    """How the agent's own process ended. Exactly one of `code` and `signal` is set,
    unless `lost`: the minder itself died, so nobody saw it."""

    code: int | None = None
    signal: int | None = None
    left: int = 0
    """Processes that it left behind (killed by us)."""
    lost: bool = False
    crowded: bool = False
    """It was ended because it had become too many processes."""


class Running:
    """The started agent."""

    def __init__(
        self,
        pid: int,
        control: Control,
        outer: Outer,
        streams: Streams,
    ) -> None:
        self.pid = pid
        """As this machine sees it (0: it was gone before it could be found)."""
        self.stdout, self.stderr, self.stdin = streams.stdout, streams.stderr, streams.stdin
        """Bytes; `await read(n)`. Reading slowly makes the agent wait, nothing piles up. Read
        to the end inside of `prepare`: what is unread in the pipe afterwards is dropped."""
        self.sampler = Sampler(outer.minder or outer.pid)
        self._transports = streams.transports
        self._control = control
        self._outer = outer

    async def wait(self) -> Ended:
        """Until the agent's own process has ended and all of its tree is gone."""
        message = await asyncio.shield(self._control.ended)
        await self._outer.gone()
        if message is None:
            await asyncio.to_thread(self.sampler.kill_survivors)
            return Ended(lost=True)
        return Ended(
            code=message.get("code"),
            signal=message.get("signal"),
            left=int(message.get("left", 0)),
            crowded=bool(message.get("crowded")),
        )

    async def kill(self, grace: float = 2.0) -> Ended:
        """TERM, `grace` seconds, KILL, for the whole tree; returns when nothing is left."""
        if not self._control.ended.done():
            await self._control.send({"what": "kill", "grace": grace})
            done, _ = await asyncio.wait([self._control.ended], timeout=grace + _ANSWER)
            if not done:
                self.sampler.tree()
                self._outer.kill()
        return await self.wait()

    def close(self) -> None:
        """Close our ends of the standard streams."""
        for transport in self._transports:
            transport.close()

    def sample(self) -> dict[str, Any]:
        """``{"rss": bytes, "cpu": percent of one core, "processes": n}`` now."""
        return self.sampler.measure()

    async def samples(self, every: float = 0.5) -> AsyncIterator[dict[str, Any]]:
        """Measurements until the agent has ended, `every` so many seconds."""
        while not self._control.ended.done():
            yield await asyncio.to_thread(self.sampler.measure)
            await asyncio.wait([self._control.ended], timeout=every)


class Stage:
    """The seal stands, nothing of the agent runs yet."""

    host: Final = "127.0.0.1"

    def __init__(self, workspace: Workspace, seal: Seal, limits: Limits) -> None:
        self.listener: socket.socket | None = None
        """Listening TCP socket for the provider, inside the seal; yours to serve and close."""
        self.port = 0
        """As the agent sees it."""
        self.sees: tuple[str, ...] = ()
        """What of the agent's attempts to leave can be noted: ``names``, ``addresses``."""
        self.network: list[dict[str, Any]] = []
        """Attempts so far to leave the sealed network."""
        self.running: Running | None = None
        self._workspace = workspace
        self._seal = seal
        self._limits = limits
        self._control: Control
        self._outer: Outer

    @property
    def base_url(self) -> str:
        """``http://127.0.0.1:PORT`` of the provider, without a path."""
        return f"http://{self.host}:{self.port}"

    async def launch(self, launch: Launch, *, path: Sequence[Path] = ()) -> Running:
        """Write the launch's files and views, start the agent in ``work``.

        `path`: folders that come first on its PATH. HarnessError when it cannot be started
        (not there, not executable), with the system's reason.
        """
        workspace = self._workspace
        await asyncio.to_thread(workspace.lay, launch.views)
        await asyncio.to_thread(workspace.write, launch.files)
        order = {
            "what": "launch",
            "argv": list(launch.argv),
            "env": workspace.environment(launch.env, path),
            "cwd": str(workspace.inside.work),
            "limits": self._limits.as_dict(self._seal.own_user),
        }
        streams = await Streams.open(launch.stdin == "pipe")
        try:
            await self._control.send(order, streams.theirs)
        finally:
            streams.close_theirs()
        message = await _within(self._control.started, "start the agent")
        if message is None or message["what"] == "failed":
            why = message["why"] if message else "the minder is gone"
            raise HarnessError(f"{launch.argv[0]} cannot be started: {why}.")
        pid = self._outer.find(int(message["pid"]))
        self.running = Running(pid, self._control, self._outer, streams)
        return self.running

    async def _raise(self, outer: Outer, on_network: OnNetwork | None) -> None:
        """Wait for the minder to say that all stands."""

        def note(attempt: dict[str, Any]) -> None:
            if len(self.network) < MOST_ATTEMPTS:
                self.network.append(attempt)
                if on_network is not None:
                    on_network(attempt)

        self._outer, self._control = outer, Control(outer.control, note)
        message = await _within(self._control.ready, "raise the seal")
        if message is None:
            await outer.gone()
            raise HarnessError(f"The seal cannot be raised: {outer.said() or 'no reason given'}.")
        self.sees = tuple(message.get("sees", ()))
        self.port = int(message.get("port", 0))
        if self._control.fds:
            self.listener = socket.socket(fileno=self._control.fds.pop())
            self.listener.setblocking(False)

    async def _end(self) -> None:
        """Leave nothing: not of the agent, not of the seal."""
        if self.running is not None:
            await self.running.kill(grace=0.5)
        if hasattr(self, "_control"):
            self._control.close()
        await self._outer.gone()
        if self.running is not None:
            await asyncio.to_thread(self.running.sampler.kill_survivors)
            if not self._seal.processes:
                await asyncio.to_thread(kill_strays, str(self._workspace.inside.home))
            self.running.close()


@asynccontextmanager
async def prepare(
    workspace: Workspace,
    seal: Seal,
    *,
    binary_folder: Path | None = None,
    executable: Path | None = None,
    readonly: Sequence[Path] = (),
    on_network: OnNetwork | None = None,
    want_listener: bool = True,
    limits: Limits | None = None,
) -> AsyncIterator[Stage]:
    """Raise the seal and the minder for one run.

    `binary_folder` and `readonly` are visible inside at their own paths, read-only
    (see `runs.seal.folders_of` for interpreters). Where the folder would show the home or a
    shared folder, only `executable` is. HarnessError when the seal cannot be raised.
    """
    shown = [*([binary_folder] if binary_folder else []), *readonly]
    if executable and binary_folder and bubblewrap.shows_too_much(binary_folder, workspace):
        shown[0] = executable
    outer = Outer(workspace, seal, shown, want_listener)
    stage = Stage(workspace, seal, limits or Limits())
    stage._outer = outer
    try:
        await stage._raise(outer, on_network)
        yield stage
    finally:
        await _surely(stage._end())
        if stage.listener is not None:
            stage.listener.close()


async def _surely(work: Coroutine[Any, Any, None]) -> None:
    """Finish `work` even while we are being cancelled (it is bounded), then be cancelled."""
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = not task.cancelled()
        except Exception:
            break
    task.result()
    if cancelled:
        raise asyncio.CancelledError


async def _within(
    future: asyncio.Future[dict[str, Any] | None], what: str
) -> dict[str, Any] | None:
    done, _ = await asyncio.wait([future], timeout=_RAISE)
    if not done:
        raise HarnessError(f"It took more than {_RAISE:.0f} seconds to {what}.")
    return future.result()
