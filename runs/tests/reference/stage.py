"""Plays one scenario with the reference agent: real process, real provider, no database.

What the executor does around it (recorder, guards, seal) is left out, so that a
hundred plays take seconds; the reader, the history and the judge are the real ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fakes.provider import Provider
from fakes.reference_agent.versions import NEWEST
from fakes.script import root_prompt
from runs import catalogue
from runs.core.events import Draft, Event, Kind, number
from runs.core.history import History
from runs.core.judge import Judgement, judge
from runs.core.law import Thresholds
from runs.driver import Binary, Context
from runs.drivers.reference import DRIVER
from runs.scenario import Scenario, load
from runs.transcripts.reference import view_of

ROOM = Path(__file__).resolve().parents[3]
SETTLE = 0.25
GRACE = 10.0
"""Seconds from TERM to KILL."""


@dataclass(frozen=True)
class Played:
    """What came of it."""

    scenario: Scenario
    history: History
    code: int
    undelivered: int
    errors: str

    def judged(self) -> Judgement:
        """Every law's answer with the scenario's thresholds."""
        return judge(self.history, Thresholds.of(self.scenario.thresholds))


async def play(
    name: str,
    folder: Path,
    *,
    sets: Mapping[str, Any] | None = None,
    version: str = NEWEST,
    **options: Any,
) -> Played:
    """Play a shipped scenario. `sets` are ``--set`` pairs, `options` the agent's."""
    return await play_scenario(
        load(name).with_sets(sets or {})[0], folder, version=version, **options
    )


async def play_scenario(
    scenario: Scenario,
    folder: Path,
    *,
    version: str = NEWEST,
    end_when: Callable[[Draft], bool] | None = None,
    **options: Any,
) -> Played:
    """Play any scenario. The agent is told to end at the deadline, or when `end_when` says so of
    something that the provider has seen."""
    given = DRIVER.read_options({**scenario.agents.get(DRIVER.name, {}), **options})
    return await _play(scenario, folder, given, version, end_when)


async def _play(
    scenario: Scenario,
    folder: Path,
    options: Mapping[str, Any],
    version: str,
    end_when: Callable[[Draft], bool] | None,
) -> Played:
    folder.mkdir(parents=True, exist_ok=True)
    started = time.time()
    drafts: list[Draft] = []
    over = asyncio.Event()

    def record(seen: dict[str, Any]) -> None:
        drafts.append(_of_journal(seen))
        if end_when is not None and end_when(drafts[-1]):
            over.set()

    binary = _binary(version)
    provider = Provider(
        catalogue.build_script(scenario),
        tools=DRIVER.tools(options, version),
        faults=catalogue.build_faults(scenario),
        rule=DRIVER.caller_rule(options, version),
        record=record,
    )
    port = await provider.start()
    try:
        context = _context(scenario, folder, options, binary, port, provider)
        guard = lambda: drafts.append(_ours(Kind.GUARD, {"guard": "timeout"}))  # noqa: E731
        code, errors = await _run(context, folder, scenario.guards.deadline, over, guard)
        drafts.append(_exit(code))
        await asyncio.sleep(SETTLE)
    finally:
        await provider.stop()
    for path in [folder / "stdout.jsonl", *sorted((folder / "logs").glob("*.jsonl"))]:
        drafts += read(path)
    history = History(events_of(drafts, started), complete=True)
    return Played(scenario, history, code, len(provider.undelivered()), errors)


def _binary(version: str) -> Binary:
    path = DRIVER.executable(ROOM)
    return Binary(
        agent=DRIVER.name, version=version, path=path, folder=path.parent, sha256="0" * 64
    )


def _context(
    scenario: Scenario,
    folder: Path,
    options: Mapping[str, Any],
    binary: Binary,
    port: int,
    provider: Provider,
) -> Context:
    return Context(
        scenario=scenario,
        options=options,
        base_url=f"http://127.0.0.1:{port}",
        dialect=DRIVER.dialect(options),
        home=folder,
        work=folder,
        temp=folder,
        logs=folder / "logs",
        binary=binary,
        prompt=root_prompt(catalogue.build_script(scenario)),
        model="gpt-5.4",
    )


async def _run(
    context: Context,
    folder: Path,
    deadline: float,
    over: asyncio.Event,
    guard: Callable[[], None],
) -> tuple[int, str]:
    """The process to its end; at the deadline, or when it shall be `over`, it is told to end, and
    killed soon after."""
    launch = DRIVER.launch(context)
    with (folder / "stdout.jsonl").open("wb") as out, (folder / "stderr.txt").open("wb") as err:
        process = await asyncio.create_subprocess_exec(
            *launch.argv, stdout=out, stderr=err, cwd=folder, env=dict(launch.env)
        )
        ended, told = asyncio.create_task(process.wait()), asyncio.create_task(over.wait())
        try:
            await asyncio.wait((ended, told), timeout=deadline, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                guard()
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                await asyncio.wait([ended], timeout=GRACE)
        finally:
            told.cancel()
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            code = await process.wait()
    return code, (folder / "stderr.txt").read_text()


def read(path: Path) -> list[Draft]:
    """All drafts of one of the agent's files, by the driver's own reader."""
    reader = _reader_of(path.name)
    drafts: list[Draft] = []
    offset = 0
    for count, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        drafts += reader.feed(line, count, offset)
        offset += len(line)
    return drafts + list(reader.end())


def _reader_of(name: str) -> Any:
    from runs.transcripts.reference import ReferenceReader

    return ReferenceReader(name, view_of(name))


def _of_journal(record: dict[str, Any]) -> Draft:
    data = {key: value for key, value in record.items() if key not in ("what", "at")}
    return Draft(
        kind=Kind(record["what"]),
        source="provider",
        file="provider.jsonl",
        at=record["at"],
        native=record["what"],
        data=data,
    )


def _exit(code: int) -> Draft:
    if code < 0:
        return _ours(Kind.PROCESS_EXITED, {"code": None, "signal": -code})
    return _ours(Kind.PROCESS_EXITED, {"code": code, "signal": None})


def _ours(kind: Kind, data: dict[str, Any]) -> Draft:
    source = "harness" if kind is Kind.GUARD else "process"
    return Draft(kind=kind, source=source, file=source, at=time.time(), data=data)


def events_of(drafts: list[Draft], started: float) -> list[Event]:
    """Numbered events in order of time; the same record in another view is a sighting."""
    events: list[Event] = []
    seen: dict[str, tuple[int, str]] = {}
    timed = [(draft.at if draft.at is not None else started, draft) for draft in drafts]
    for at, draft in sorted(timed, key=lambda pair: pair[0]):
        seq, t = len(events) + 1, round(at - started, 6)
        first = seen.get(draft.native_id) if draft.native_id else None
        event = number(draft, seq, t)
        if first is not None and first[1] != draft.source:
            event = _again(event, first[0])
        elif draft.native_id:
            seen.setdefault(draft.native_id, (seq, draft.source))
        events.append(event)
    return events


def _again(event: Event, of: int) -> Event:
    from dataclasses import replace

    return replace(event, kind=Kind.SEEN_AGAIN, data={"of": of}, native_id="")
