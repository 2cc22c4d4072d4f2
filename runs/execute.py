"""One run from its claim to its verdict. Read this first.

    claim → binary → workspace and seal → fake provider → launch → pump → end → judge

Everything that happens becomes an event (``recorder``); nothing is decided here that
cannot be made again from the stored history (``verdict``). Trouble of ours ends the
run as ``errored`` with what and what to do; trouble of the agent is a finding.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import traceback
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import close_old_connections

from fakes.provider import Provider
from fakes.refusals import kernel_refusals
from fakes.script import root_prompt
from runs import (
    alive,
    binaries,
    catalogue,
    guards,
    imports,
    machine,
    models,
    process,
    seal,
    slots,
    start,
    store,
    verdict,
)
from runs.core.events import Draft, Kind
from runs.driver import Binary, Context, Driver, Launch
from runs.errors import CannotRunHere, HarnessError, UnknownVersion, VersionCannotRun
from runs.journal import Journal
from runs.pumps import Pumps
from runs.recorder import Recorder
from runs.scenario import Scenario
from runs.watch import Watch
from runs.workspace import Workspace

log = logging.getLogger(__name__)
MODEL = "gpt-5.4"


def execute(run_id: int, worker: str) -> models.Run | None:
    """Claim a queued run and take it to its end; None when another got there first.

    It waits while this machine runs as many as it may (``LIFELINE_CONCURRENCY``).
    """
    with slots.taken(lambda: _waits(run_id)) as free:
        run = start.claim(run_id, worker) if free else None
        if run is None:
            return None
        with alive.held(run.pk):
            return _execute(run)


def _waits(run_id: int) -> bool:
    return models.Run.objects.filter(pk=run_id, status=models.Run.Status.QUEUED).exists()


def _execute(run: models.Run) -> models.Run:
    """Take a claimed run to its end; it beats until it is judged as well."""
    with Watch(run) as watch:
        try:
            if run.kind == models.Run.Kind.IMPORT:
                imports.read(run, watch)
            else:
                asyncio.run(Execution(run, watch).go())
            status, error = _status(watch), {}
        except HarnessError as trouble:
            status, error = _errored(watch), {"what": trouble.what, "do": trouble.do}
            if isinstance(trouble, CannotRunHere):
                error["kind"] = "cannot-run-here"
            if isinstance(trouble, UnknownVersion | VersionCannotRun):
                error["of"] = "version"
        except Exception as trouble:
            log.exception("Run %s broke", run.permalink)
            status, error = _errored(watch), _trouble(trouble)
        close_old_connections()
        watch.phase("judging")
        verdict.close(run, status, error)
    return run


def _trouble(error: Exception) -> dict[str, str]:
    """What to say of an exception that nobody expected; often the machine refused something."""
    if (refused := machine.in_words(error)) is not None:
        return {"what": refused.what, "do": refused.do, "kind": "cannot-run-here"}
    return {"what": f"{type(error).__name__}: {error}", "do": "See the worker's log."}


def _status(watch: Watch) -> str:
    return models.Run.Status.CANCELLED if watch.cancelled else models.Run.Status.ENDED


def _errored(watch: Watch) -> str:
    return models.Run.Status.CANCELLED if watch.cancelled else models.Run.Status.ERRORED


class Execution:
    """The parts of one run while it lasts."""

    def __init__(self, run: models.Run, watch: Watch) -> None:
        self.run, self.watch = run, watch
        self.scenario = Scenario.read(run.snapshot)
        self.script = catalogue.build_script(self.scenario)
        self.driver: Driver = catalogue.driver(run.agent)
        self.options: dict[str, Any] = run.options

    async def go(self) -> None:
        """The main flow, step by step."""
        self.watch.attach(asyncio.get_running_loop())
        floor = self.scenario.guards.memory_floor_mib or settings.MEMORY_FLOOR_MIB
        guards.check_memory(floor, self.driver.overhead_mib)
        binary = await self._binary()
        if self.watch.cancelled:
            return
        sealing = await asyncio.to_thread(self._seal, binary)
        workspace = Workspace(store.folder(self.run), sealed=sealing.files)
        recorder = Recorder(self.run.pk, time.time())
        recorder.start()
        try:
            recorder.note("prepared", binary=binary.version, sha256=binary.sha256)
            with binaries.hold(binary):
                await self._with_provider(recorder, workspace, sealing, binary)
        finally:
            try:
                await recorder.stop()
            finally:
                await asyncio.to_thread(workspace.cut_down)

    async def _binary(self) -> Binary:
        """The installed binary; installing it shows on the page while it lasts."""
        self.watch.phase(f"looking for {self.run.agent} {self.run.version}")
        binary = await asyncio.to_thread(
            binaries.ensure,
            self.run.agent,
            self.run.version,
            self.watch.phase,
            stop=lambda: self.watch.cancelled,
        )
        await asyncio.to_thread(self.watch.save, sha256=binary.sha256)
        return binary

    def _seal(self, binary: Binary) -> seal.Seal:
        """The best seal of this host; a third party's binary needs one or the operator's word."""
        found = seal.best_seal()
        trusted = self.driver.package.registry == "builtin" and not binary.registered
        if not (found.whole or trusted or settings.ALLOW_UNSEALED):
            raise CannotRunHere(
                f"This host cannot seal a run: {found.why}.",
                "Install bubblewrap, or set LIFELINE_ALLOW_UNSEALED=1 to run without a seal.",
            )
        self.watch.save(sealed=found.as_dict())
        return found

    async def _with_provider(
        self, recorder: Recorder, workspace: Workspace, sealing: seal.Seal, binary: Binary
    ) -> None:
        async with process.prepare(
            workspace,
            sealing,
            binary_folder=binary.folder,
            executable=binary.path,
            readonly=self.driver.readonly(binary),
            on_network=partial(_refused, recorder),
        ) as stage:
            journal = Journal(workspace.sources / "provider.jsonl", recorder.add)
            provider = self._provider(journal, workspace.bodies, binary)
            await provider.start(sock=stage.listener)
            provider.follows = self.driver.follows_redirects
            if sealing.network:
                # Nobody but the agent is in there: what the kernel refused, it refused the agent.
                provider.refusals = lambda: refused_in(stage.running)
            try:
                context = self._context(binary, workspace, stage.base_url)
                await self._agent(recorder, workspace, stage, provider, context)
            finally:
                await provider.stop()
                recorder.note(
                    "provider-stopped",
                    undelivered=[each.fault.name for each in provider.undelivered()],
                    trouble=[repr(each) for each in provider.trouble],
                )
                journal.close()
            _check_answers(provider)

    def _provider(self, journal: Journal, bodies: Path, binary: Binary) -> Provider:
        return Provider(
            self.script,
            tools=self.driver.tools(self.options, binary.version),
            faults=catalogue.build_faults(self.scenario),
            rule=self.driver.caller_rule(self.options, binary.version),
            model=MODEL,
            record=journal.record,
            bodies=bodies,
        )

    def _context(self, binary: Binary, workspace: Workspace, base_url: str) -> Context:
        inside = workspace.inside
        return Context(
            scenario=self.scenario,
            options=self.options,
            base_url=base_url,
            dialect=self.driver.dialect(self.options),
            home=inside.home,
            work=inside.work,
            temp=inside.temp,
            logs=inside.logs,
            binary=binary,
            prompt=root_prompt(self.script),
            model=MODEL,
        )

    async def _agent(
        self,
        recorder: Recorder,
        workspace: Workspace,
        stage: process.Stage,
        provider: Provider,
        context: Context,
    ) -> None:
        """Launch, pump until it ends or a guard ends it, and leave nothing behind."""
        launch: Launch = await asyncio.to_thread(self.driver.launch, context)
        self.watch.phase("launching")
        running = await stage.launch(launch)
        recorder.add(
            Draft(
                kind=Kind.PROCESS_STARTED,
                source="process",
                file="process",
                at=time.time(),
                data={"pid": running.pid, "argv": list(launch.argv)[:64]},
            )
        )
        self.watch.phase("running")
        pumps = Pumps(
            driver=self.driver,
            context=context,
            running=running,
            recorder=recorder,
            workspace=workspace,
            provider=provider,
            limits=self.scenario.guards,
            floor=self.scenario.guards.memory_floor_mib or settings.MEMORY_FLOOR_MIB,
            cancelled=self.watch.event,
        )
        async with _killed_at_the_end(running):
            await pumps.until_end()
        await pumps.drain()


def _check_answers(provider: Provider) -> None:
    """HarnessError when an exception of ours kept an answer from the agent: what it did then is
    no fault of its own."""
    if provider.trouble:
        first = provider.trouble[0]
        if (refused := machine.in_words(first)) is not None:
            raise refused
        at = traceback.extract_tb(first.__traceback__)[-1:]
        place = "".join(f" ({Path(one.filename).name}:{one.lineno})" for one in at)
        raise HarnessError(
            f"The fake provider could not answer: {type(first).__name__}: {first}{place}",
            "It is an error of a script, a fault, a dialect or the driver's table of tools.",
        )


def _refused(recorder: Recorder, attempt: dict[str, Any]) -> None:
    """Note a connection that the seal refused."""
    kind = Kind.NETWORK_ATTEMPT
    recorder.add(Draft(kind=kind, source="process", file="process", at=time.time(), data=attempt))


def refused_in(running: process.Running | None) -> int:
    """Connections that the kernel has refused in the agent's network so far."""
    return kernel_refusals(running.pid)() if running is not None else 0


@contextlib.asynccontextmanager
async def _killed_at_the_end(running: process.Running) -> AsyncIterator[None]:
    """Whatever happens inside, no process of the agent is left afterwards."""
    try:
        yield
    finally:
        await running.kill()
