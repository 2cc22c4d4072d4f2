"""What a run costs beside the bare binary: the same scenario with and without Lifeline.

Bare: the binary against a provider whose journal goes nowhere; no pumps, no events. Our own
reference agent is then a plain child of this process; a third party's binary stays in its
seal, because outside it would talk to the world, and what that takes is not ours.

The agent's own time inside of a run (``process.started`` to ``process.exited``) is compared
with that, one after the other in turns, so that both meet the same load. The reference agent
gets a seed: its waits are drawn by lot else, and differ by more than what is looked for. What
comes before and after (workspace, seal, judging, packing) is shown in seconds: it does not
grow with the run.
"""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from pathlib import Path

from fakes.provider import Provider
from fakes.script import root_prompt
from runs import binaries, catalogue, process, seal, start
from runs.bench import Bench, Figure, Say, median
from runs.driver import Binary, Context, Launch
from runs.errors import CannotRunHere
from runs.execute import MODEL, execute
from runs.models import Event, Run
from runs.scenario import Scenario
from runs.workspace import Workspace

REPEATS = 5
SCENARIO = "sse-cut"
AGENTS = ("reference", "copilot@1.0.102")
SEED = {"agents.reference.seed": 1}
BUDGET = 1.03


def measure(say: Say) -> list[Figure]:
    """Ratios of the agent's wall time, medians of five."""
    figures = []
    for name in AGENTS:
        agent, version = start.split_agent(name)
        if version and all(version != one.version for one in binaries.installed(agent)):
            figures.append(Figure(f"{name}: in a run / bare", None, note="it is not installed"))
            continue
        figures += _of(agent, version, say)
    return figures


def _of(agent: str, version: str, say: Say) -> list[Figure]:
    bare, inside, around, ours = [], [], [], []
    for turn in range(1, REPEATS + 1):
        (run,) = start.create(agent, version, SCENARIO, sets=SEED, queue=False)
        bare.append(asyncio.run(_bare(run)))
        before, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        execute(run.pk, "bench:0")
        whole = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_SELF)
        ours.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        inside.append(_own_time(run))
        around.append(whole - inside[-1])
        say(f"{agent} {turn} of {REPEATS}: bare {bare[-1]:.2f} s, in a run {inside[-1]:.2f} s")
    ratios = [within / without for within, without in zip(inside, bare, strict=True)]
    spread = f"bare {min(bare):.2f}–{max(bare):.2f} s, in a run {min(inside):.2f}–{max(inside):.2f}"
    return [
        Figure(f"{agent}: in a run / bare", round(median(ratios), 4), "", BUDGET, note=spread),
        Figure(f"{agent}: before and after it", round(median(around), 2), "s"),
        Figure(f"{agent}: processor time of ours a run", round(median(ours), 2), "s"),
    ]


def _own_time(run: Run) -> float:
    def at(kind: str) -> float:
        return Event.objects.filter(run=run, kind=kind).values_list("t", flat=True)[0] or 0.0

    return at("process.exited") - at("process.started")


async def _bare(run: Run) -> float:
    """Seconds that the binary takes alone, from its start to its end."""
    driver = catalogue.driver(run.agent)
    trusted = driver.package.registry == "builtin"
    best = seal.best_seal()
    if not (trusted or best.whole):
        raise CannotRunHere(f"This host cannot seal a run: {best.why}.", "See `manage.py doctor`.")
    binary = await asyncio.to_thread(
        binaries.ensure, run.agent, run.version, lambda _: None, stop=lambda: False
    )
    provider = _provider(run)
    with tempfile.TemporaryDirectory(prefix="lifeline-bare-") as folder:
        workspace = Workspace(Path(folder) / "run", sealed=not trusted and best.files)
        try:
            if trusted:
                port = await provider.start()
                return await _plain(workspace, _launch(run, binary, workspace, port))
            async with process.prepare(
                workspace,
                best,
                binary_folder=binary.folder,
                executable=binary.path,
                readonly=driver.readonly(binary),
            ) as stage:
                await provider.start(sock=stage.listener)
                return await _sealed(stage, _launch(run, binary, workspace, stage.port))
        finally:
            await provider.stop()


def _provider(run: Run) -> Provider:
    scenario, driver = Scenario.read(run.snapshot), catalogue.driver(run.agent)
    return Provider(
        catalogue.build_script(scenario),
        tools=driver.tools(run.options, run.version),
        faults=catalogue.build_faults(scenario),
        rule=driver.caller_rule(run.options, run.version),
        model=MODEL,
        record=lambda _: None,
    )


def _launch(run: Run, binary: Binary, workspace: Workspace, port: int) -> Launch:
    scenario, driver, inside = (
        Scenario.read(run.snapshot),
        catalogue.driver(run.agent),
        workspace.inside,
    )
    return driver.launch(
        Context(
            scenario=scenario,
            options=run.options,
            base_url=f"http://127.0.0.1:{port}",
            dialect=driver.dialect(run.options),
            home=inside.home,
            work=inside.work,
            temp=inside.temp,
            logs=inside.logs,
            binary=binary,
            prompt=root_prompt(catalogue.build_script(scenario)),
            model=MODEL,
        )
    )


async def _plain(workspace: Workspace, launch: Launch) -> float:
    workspace.lay(launch.views)
    workspace.write(launch.files)
    began = time.monotonic()
    child = await asyncio.create_subprocess_exec(
        *launch.argv,
        env=workspace.environment(launch.env),
        cwd=workspace.inside.work,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    await child.communicate()
    return time.monotonic() - began


async def _sealed(stage: process.Stage, launch: Launch) -> float:
    running = await stage.launch(launch)
    began = time.monotonic()

    async def drop(stream: asyncio.StreamReader) -> None:
        while await stream.read(1 << 16):
            pass

    drops = [asyncio.create_task(drop(one)) for one in (running.stdout, running.stderr)]
    await running.wait()
    taken = time.monotonic() - began
    await asyncio.gather(*drops)
    return taken


BENCH = Bench("What does a run cost beside the bare binary?", measure)
