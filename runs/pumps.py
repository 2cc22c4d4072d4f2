"""While the agent runs: every source is read, sampled and guarded, until something ends it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from fakes.provider import Provider
from runs import guards
from runs.conversation import PipeConversation
from runs.core.events import Draft, Event, Kind
from runs.driver import Context, Driver, Source
from runs.drivers._log import Log
from runs.ingest import LineFeed, Tail
from runs.process import Ended, Running
from runs.recorder import Recorder
from runs.scenario import Guards as Limits
from runs.workspace import Workspace

READ = 1 << 16
POLL = 0.03
SETTLE = 0.3
"""Seconds at most that the provider gets after the agent's end to take what was sent to it."""


@dataclass(kw_only=True)
class Pumps:
    """Reads everything of one running agent into its recorder."""

    driver: Driver
    context: Context
    running: Running
    recorder: Recorder
    workspace: Workspace
    provider: Provider
    limits: Limits
    floor: int
    cancelled: asyncio.Event
    feeds: list[LineFeed] = field(default_factory=list)
    tails: list[Tail] = field(default_factory=list)
    streams: list[asyncio.Task[None]] = field(default_factory=list)
    others: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.guards = guards.Guards(
            guards.Limits(
                deadline=self.limits.deadline,
                memory_floor_mib=self.floor,
                output_mib=self.limits.output_mib,
                requests=self.limits.requests,
            ),
            folder=self.workspace.root,
        )
        self.conversation = PipeConversation(self.running)
        self.recorder.listen(self._count)

    def _count(self, event: Event) -> None:
        if event.kind is Kind.REQUEST_RECEIVED:
            self.guards.request()

    async def until_end(self) -> None:
        """Pump until the agent has ended, a guard fired or somebody cancelled the run."""
        sources = [*self.driver.sources(self.context)]
        if not any(source.stream == "stderr" for source in sources):
            # Read in any case: an agent whose standard error is full would wait for us for ever.
            sources.append(Source(name="log", reader=Log, stream="stderr"))
        for source in sources:
            self._begin(source)
        self._background(self._poll_tails(), self._sample())
        ends = {
            "exit": asyncio.create_task(self.running.wait()),
            "guard": asyncio.create_task(self.guards.watch()),
            "cancel": asyncio.create_task(self.cancelled.wait()),
            "trouble": asyncio.create_task(self._trouble()),
        }
        talk = self._converse()
        if talk is not None:
            ends["talk"] = talk
        try:
            await asyncio.wait(ends.values(), return_when=asyncio.FIRST_COMPLETED)
            if ends["trouble"].done():
                ends["trouble"].result()
            await self._why(ends)
        finally:
            for task in ends.values():
                task.cancel()
            await asyncio.gather(*ends.values(), return_exceptions=True)

    async def _trouble(self) -> None:
        """Raises what kept us from reading: an agent that nobody reads would only seem to hang."""
        tasks = [*self.streams, *self.others]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        _raise_first(task.exception() for task in done if not task.cancelled())
        await asyncio.get_running_loop().create_future()

    async def _why(self, ends: dict[str, asyncio.Task[Any]]) -> None:
        """Record what ended it; a conversation that is over lets the agent leave by itself."""
        if "talk" in ends and ends["talk"].done() and not ends["exit"].done():
            error = ends["talk"].exception()
            self.recorder.note("conversation-over", error=repr(error) if error else "")
            self.conversation.close()
            rest = [ends["exit"], ends["guard"], ends["cancel"]]
            await asyncio.wait(rest, return_when=asyncio.FIRST_COMPLETED, timeout=10)
        if self.guards.fired is not None:
            self._add(Kind.GUARD, self.guards.fired.as_dict())
        elif ends["cancel"].done():
            self._add(Kind.CANCEL_REQUESTED, {"target": "root", "by": "harness", "raw": "cancel"})

    async def drain(self) -> None:
        """After the end: read what is left, close every source, record how it ended."""
        ended = await self.running.wait()
        if ended.crowded and self.guards.fired is None:
            self._add(Kind.GUARD, {"guard": guards.PROCESSES, "limit": None, "value": None})
        self._exited(ended)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*self.streams, return_exceptions=True), 5)
        for task in (*self.others, *self.streams):
            task.cancel()
        _raise_first(await asyncio.gather(*self.others, *self.streams, return_exceptions=True))
        if self.guards.fired is None:
            await self.provider.quiet(SETTLE)
        for feed in self.feeds:
            feed.close()
        for tail in self.tails:
            tail.close(within=self._left())

    def _left(self) -> int:
        return max(0, self.limits.output_mib * guards.MIB - self.guards.bytes) + READ

    def _exited(self, ended: Ended) -> None:
        self._add(
            Kind.PROCESS_EXITED,
            {"code": ended.code, "signal": ended.signal, "left": ended.left, "lost": ended.lost},
        )

    def _begin(self, source: Source) -> None:
        sources = self.workspace.sources
        if not source.stream:
            self.tails.append(Tail(source, self.workspace, self.recorder.add))
            return
        name = f"{source.name}.jsonl" if source.stream == "stdout" else f"{source.name}.txt"
        feed = LineFeed(sources / name, source.name, source.reader(name), self.recorder.add)
        self.feeds.append(feed)
        stream = getattr(self.running, source.stream)
        taken: Callable[[bytes], None] | None = None
        if source.stream == "stdout" and self.context_talks():
            taken = self.conversation.received
        self.streams.append(asyncio.create_task(self._pump(stream, feed, taken)))

    def context_talks(self) -> bool:
        """Whether the driver converses over the standard streams."""
        return self.running.stdin is not None

    async def _pump(
        self,
        stream: asyncio.StreamReader,
        feed: LineFeed,
        taken: Callable[[bytes], None] | None,
    ) -> None:
        while data := await stream.read(READ):
            self.guards.output(len(data))
            if self.guards.fired is None:
                feed.feed(data)
                if taken is not None:
                    taken(data)
        if taken is not None:
            taken(b"")

    async def _poll_tails(self) -> None:
        while True:
            for tail in self.tails:
                self.guards.output(tail.poll())
            await asyncio.sleep(POLL)

    async def _sample(self) -> None:
        async for sample in self.running.samples():
            self._add(Kind.PROCESS_SAMPLE, sample)

    def _converse(self) -> asyncio.Task[None] | None:
        talk = self.driver.converse(self.context, self.conversation, self._emit)
        return None if talk is None else asyncio.ensure_future(talk)

    def _emit(self, draft: Draft, raw: bytes = b"") -> None:
        """A draft of the driver's own; its raw line is kept in the file that it names."""
        if raw:
            path = self.workspace.sources / draft.file
            with path.open("ab") as file:
                offset = file.tell()
                file.write(raw if raw.endswith(b"\n") else raw + b"\n")
            self.guards.output(len(raw))
            draft = _at(draft, offset, len(raw))
        self.recorder.add(draft)

    def _add(self, kind: Kind, data: dict[str, Any]) -> None:
        source = "harness" if kind in (Kind.GUARD, Kind.CANCEL_REQUESTED) else "process"
        self.recorder.add(Draft(kind=kind, source=source, file=source, at=time.time(), data=data))

    def _background(self, *jobs: Any) -> None:
        self.others.extend(asyncio.create_task(job) for job in jobs)


def _raise_first(results: Iterable[object]) -> None:
    """Raise the first error among results of tasks; one that was cancelled has none."""
    for result in results:
        if isinstance(result, Exception):
            raise result


def _at(draft: Draft, offset: int, length: int) -> Draft:
    return replace(draft, offset=offset, length=length)
