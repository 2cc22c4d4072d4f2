"""The command line: one prompt in, JSON lines out, an exit code that is true.

0: the root finished and knows of every end; 1: it failed, or something that
it owned failed or was lost untold; 2: wrong call; 3: this version cannot start.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from fakes.reference_agent import restart
from fakes.reference_agent.log import FORMAT, Log
from fakes.reference_agent.misbehaviours import table
from fakes.reference_agent.settings import Settings
from fakes.reference_agent.trouble import CallFailed
from fakes.reference_agent.versions import KNOWN, NEWEST, behaviour
from fakes.reference_agent.wires import WIRES
from fakes.reference_agent.world import World

RESTARTS = ("never", "child-running", "child-ended", "child-told")
PARTING = 3.0
"""Seconds that what still runs after the end gets before it is dropped."""


def main(arguments: list[str] | None = None) -> int:
    """Run the agent once and give its exit code."""
    given = _parser().parse_args(arguments)
    number = given.pretend
    if given.version:
        print(f"reference {number}")
        return 0
    if not KNOWN[number].starts:
        print(f"reference {number}: cannot start: a part is missing", file=sys.stderr)
        return 3
    breaks = frozenset(given.misbehave) | behaviour(number, given.seed)
    settings = Settings(
        url=given.url,
        prompt=given.prompt,
        logs=given.logs,
        version=number,
        dialect=given.dialect,
        model=given.model,
        stream=given.form == "stream",
        retries=given.retries,
        delay=given.delay,
        idle_timeout=given.idle_timeout,
        max_children=given.max_children,
        max_depth=given.max_depth,
        wait=given.wait,
        restart="" if given.restart == "never" else given.restart,
        resume=given.resume,
        misbehave=breaks,
        seed=given.seed,
    )
    return asyncio.run(session(settings))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reference", description="A small agent that delegates. Writes JSON lines."
    )
    add = parser.add_argument
    add("--version", action="store_true", help="say the version and end")
    add("--pretend", default=NEWEST, choices=sorted(KNOWN), help="the version to be")
    add("--prompt", default="", help="what to do")
    add("--url", default="http://127.0.0.1:8080", help="the provider, without a path")
    add("--dialect", default="responses", choices=sorted(WIRES))
    add("--form", default="stream", choices=("stream", "plain"), help="of answers")
    add("--model", default="gpt-5.4")
    add("--logs", type=Path, default=Path("reference-logs"), help="folder for the session's files")
    add("--retries", type=int, default=4, help="tries after the first one")
    add("--delay", type=float, default=0.1, help="first wait between two tries, in seconds")
    add("--idle-timeout", type=float, default=30.0, help="seconds without content")
    add("--max-children", type=int, default=8)
    add("--max-depth", type=int, default=3)
    add("--wait", action="store_true", help="have a tool that waits for a child")
    add("--restart", default="never", choices=RESTARTS)
    add("--resume", action="store_true", help="take up the session in --logs")
    add("--misbehave", action="append", default=[], choices=sorted(table()), metavar="NAME")
    add("--seed", type=int, default=None, help="for jitter and races")
    return parser


async def session(settings: Settings) -> int:
    """One session from its start, or from its resume, to its end; gives the exit code."""
    log = Log(settings.logs, boot=int(settings.resume))
    world = World(settings, log)
    if settings.resume:
        if not restart.take_up(world, settings.logs):
            return _finish(world, "failed", "")
    else:
        _begin(world)
        world.root.begin()
    work = asyncio.create_task(world.root.work())
    _listen(world, work)
    how, text = "ended", ""
    try:
        text = await work
    except CallFailed:
        how = "failed"
    except asyncio.CancelledError:
        how = "cancelled"
    if world.behaviour.breaks("early-terminal"):
        world.later |= {one.task for one in world.agents.values() if one.task}
    if world.later:
        await asyncio.wait(world.later, timeout=PARTING)
    return _finish(world, how, text)


def _begin(world: World) -> None:
    settings = world.settings
    world.log.write(
        "session.started",
        "root",
        format=FORMAT,
        version=settings.version,
        model=settings.model,
        session=world.trace,
        cwd=str(Path.cwd()),
        platform=sys.platform,
    )
    world.log.write("limit", "root", name="children", value=settings.max_children)
    world.log.write("limit", "root", name="depth", value=settings.max_depth)
    world.root.set_status("starting")


def _listen(world: World, work: asyncio.Task[str]) -> None:
    """TERM and INT cancel the whole tree; everything is still written down."""

    def stop() -> None:
        world.log.write("cancel.requested", "root", target="root", by="user")
        world.stop(world.root)
        work.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stop)


def _finish(world: World, how: str, text: str) -> int:
    """The last records, and the exit code that they state."""
    breaks = world.behaviour.breaks
    untold = [agent.id for agent in world.agents.values() if agent.untold or agent.open_children()]
    code = {"ended": 0, "failed": 1, "cancelled": 130}[how]
    if untold and code == 0:
        code = 1
    if breaks("exit-zero") or breaks("early-exit"):
        code = 0
    good, cancelled = code == 0, how == "cancelled"
    children = [agent for agent in world.agents.values() if agent.parent]
    world.log.write(
        "result",
        "root",
        status="completed" if good else "cancelled" if cancelled else "failed",
        is_error=not good and not cancelled,
        exit_code=code,
        text_length=len(text),
        failed=sum(agent.status == "failed" for agent in children),
        completed=sum(agent.status == "completed" for agent in children),
        children=len(children),
    )
    if not cancelled:
        world.root.set_status("idle" if good else "failed", open=[])
    world.trace_agent(world.root)
    world.log.write("session.ended", "root", how=how)
    world.root.set_status("ended", open=[])
    sys.stdout.flush()
    if not cancelled:
        os._exit(code)  # a child that is lost is lost here, not waited for
    return code
