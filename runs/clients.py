"""Client runs: somebody's client of Codex's app-server, with a stand-in as its ``codex``.

The stand-in plays a *play*: what its turns and sub-agents do, from a file of ``plays/``. Its
transcript of both directions is the run's evidence; the laws judge the client by it, by what it
printed and by how it ended. A driver whose agent is such a client takes its files, its source
and its options from here.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import fakes.codex_app_server
from runs import pythons
from runs.core.events import Draft, Kind
from runs.core.history import History
from runs.driver import Context, Source
from runs.option import Option
from runs.transcripts._values import items, mapping, text
from runs.transcripts.codex_app_server import AppServer

FOLDER = Path(__file__).parent / "plays"
STATE, BIN = "codex", "bin"
PROTOCOLS = ("0.171.0", "0.160.0", "0.147.0", "0.120.0")
"""What the stand-in speaks as: the versions whose protocol it has a table of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """What the stand-in does, and for our own client what its operator does meanwhile."""

    name: str
    title: str
    question: str
    scenario: Mapping[str, Any]
    """As docs/fake-app-server.md says: turns and their steps."""
    operator: tuple[Mapping[str, Any], ...] = ()
    clocks: Mapping[str, float] = field(default_factory=dict)
    rule: str = ""
    """The rule of a waiting parent (``CL-7``) that it puts to the test."""
    expect: Mapping[str, Any] = field(default_factory=dict)
    """Facts of an owner that keeps the rule, as :mod:`runs.core.owner_facts` names them."""


@cache
def plays() -> Mapping[str, Play]:
    """Every play by name; a broken file is a loud error."""
    found = {}
    for path in sorted(FOLDER.glob("*.json")):
        given = json.loads(path.read_text(encoding="utf-8"))
        found[path.stem] = Play(
            name=path.stem,
            title=given["title"],
            question=given["question"],
            scenario=given["scenario"],
            operator=tuple(given.get("operator", ())),
            clocks=given.get("clocks", {}),
            rule=given.get("rule", ""),
            expect=given.get("expect", {}),
        )
    return found


def options(play: str) -> tuple[Option, ...]:
    """What can be set of the stand-in; `play` is the one by default."""
    return (
        Option("play", "choice", play, "What the stand-in for Codex plays.", tuple(plays())),
        Option(
            "protocol", "choice", PROTOCOLS[0], "The Codex that the stand-in speaks as.", PROTOCOLS
        ),
    )


def readonly() -> tuple[Path, ...]:
    """What must be readable in a run: the stand-in's package, and the Python that runs it."""
    package = Path(fakes.codex_app_server.__file__).resolve().parents[1]
    return (package, Path(sys.base_prefix).resolve())


def command(context: Context) -> tuple[str, ...]:
    """The stand-in's command line, up to what its client adds (``app-server``)."""
    main = Path(fakes.codex_app_server.__file__).resolve().with_name("__main__.py")
    return (
        str(pythons.ours()),
        *("-B", "-E", "-s", "-S", "-X", "utf8"),
        str(main),
        *("--state-dir", str(context.logs / STATE)),
        *("--protocol", str(context.options["protocol"])),
    )


def play_of(context: Context) -> Play:
    """The chosen play."""
    return plays()[str(context.options["play"])]


def files(context: Context) -> dict[Path, str]:
    """The stand-in as an executable ``codex``, and what it plays."""
    wrapper = f'#!/bin/sh\nexec {shlex.join(command(context))} "$@"\n'
    return {
        context.home / BIN / "codex": wrapper,
        context.logs / STATE / "scenario.json": json.dumps(play_of(context).scenario),
    }


def path(context: Context) -> str:
    """PATH with the stand-in first."""
    return f"{context.home / BIN}:/usr/local/bin:/usr/bin:/bin"


def source() -> Source:
    """The stand-in's transcript of both directions."""
    return Source(name="rpc", reader=Transcript, glob=f"logs/{STATE}/transcript.jsonl")


def reported(history: History) -> str:
    """The version that the client gave when it introduced itself."""
    for event in history.of(Kind.RUNTIME):
        if event.source == "rpc" and event.get("version"):
            return str(event.get("version"))
    return ""


_SPAWNS = (
    *(Kind.SPAWN_REQUESTED, Kind.SPAWN_ANSWERED, Kind.AGENT_STARTED),
    *(Kind.TOOL_STARTED, Kind.TOOL_ENDED),
)


class Transcript(AppServer):
    """The stand-in's transcript: messages, and what it noticed of its client."""

    envelope = frozenset({"pid"})

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._running: set[str] = set()
        self._over: set[str] = set()
        self._threads: set[str] = set()

    def record(self, record: Mapping[str, Any]) -> None:
        """One line."""
        if "event" in record:
            self._event(record)
            return
        super().record(record)
        self.out = [self._heard(draft) for draft in self._own(self.out)]
        message = mapping(record.get("msg"))
        if self._again(message):
            self.out = [draft for draft in self.out if draft.kind is not Kind.AGENT_ENDED]
            self.other("stand-in/again", "turn/completed")
        if record.get("dir") == "in" and message.get("method") == "initialize":
            who = mapping(mapping(message.get("params")).get("clientInfo"))
            self.add(Kind.RUNTIME, version=text(who.get("version"), 64), platform="")
        if record.get("violation"):
            self.other("protocol/violation", text(record["violation"], 400))
        for place in items(record.get("ignored")):
            name = text(message.get("method") or record.get("reply_to"), 80)
            self.other("protocol/ignored", f"{name} {text(place, 200)}")

    def _again(self, message: Mapping[str, Any]) -> bool:
        """Whether the stand-in repeats the end of a turn: no second end, and not its client's."""
        if message.get("method") != "turn/completed":
            return False
        turn = text(mapping(mapping(message.get("params")).get("turn")).get("id"))
        again = turn in self._over
        self._over.add(turn)
        return again

    def _own(self, drafts: Iterable[Draft]) -> Iterable[Draft]:
        """What concerns its client: not whom a thread that is none of its own has spawned."""
        for draft in drafts:
            begins = draft.kind is Kind.AGENT_STARTED
            sender = str(draft.data.get("parent") or "") if begins else draft.agent
            if draft.kind in _SPAWNS and sender not in {*self._threads, self.root, ""}:
                what = {"type": "stand-in/foreign", "summary": draft.kind.value}
                yield replace(draft, kind=Kind.OTHER, agent="", data=what)
                continue
            if begins or draft.kind is Kind.SESSION_STARTED:
                self._threads.add(draft.agent)
            yield draft

    def _heard(self, draft: Draft) -> Draft:
        """The stand-in's idle is not its client's: the owner of a running sub-agent waits."""
        if draft.kind is Kind.AGENT_STARTED:
            self._running.add(draft.agent)
        elif draft.kind is Kind.AGENT_ENDED:
            self._running.discard(draft.agent)
        waits = draft.agent == self.root and draft.data.get("status") == "idle"
        if draft.kind is not Kind.STATUS or not waits or not self._running:
            return draft
        return replace(draft, data={**draft.data, "status": "waiting", "inferred": True})

    def _event(self, record: Mapping[str, Any]) -> None:
        self.at = record.get("t") if isinstance(record.get("t"), float) else None
        self.native = text(record.get("event"), 80)
        self.other(f"stand-in/{self.native}", text(record.get("how") or record.get("name"), 200))
