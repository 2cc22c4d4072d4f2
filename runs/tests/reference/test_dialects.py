"""The reference agent meets a fault alike in every dialect that the fake provider speaks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import dialects
from fakes.reference_agent.wires import WIRES
from runs.core.events import Kind
from runs.drivers.reference import DIALECTS
from runs.tests.reference.stage import Played, play

QUICK: dict[str, Any] = {"retries": 1, "delay": 0.02, "idle_timeout": 2.0}
TRIES = {
    "sse-cut": 2,
    "chunk-cut": 2,
    "sse-error": 2,
    "malformed-json": 2,
    "no-terminal": 2,
    "empty-200": 2,
    "error-200": 2,
    "refused": 2,
    "http-400": 1,
    "http-503": 2,
    "response-incomplete": 1,
}
"""By scenario: how often a child tries that may repeat once what a repetition can mend."""


def test_it_speaks_what_the_provider_speaks() -> None:
    assert sorted(WIRES) == sorted(DIALECTS) == sorted(dialects())


@pytest.mark.parametrize("scenario", TRIES)
async def test_a_failure_is_one_in_every_dialect(scenario: str, tmp_path: Path) -> None:
    plays = [play(scenario, tmp_path / each, dialect=each, **QUICK) for each in DIALECTS]
    for dialect, played in zip(DIALECTS, await asyncio.gather(*plays), strict=True):
        assert _seen(played) == (["failed"], ["failed"], TRIES[scenario], set(), 0), dialect


def _seen(played: Played) -> tuple[list[str], list[str], int, set[str], int]:
    """The child's ends, what its parent was told, its tries, laws broken, faults unused."""
    of = played.history.of
    ends = [str(event.get("status")) for event in of(Kind.AGENT_ENDED)]
    told = [str(event.get("status")) for event in of(Kind.NOTICE_DELIVERED)]
    tries = sum(event.get("caller") == "child:1" for event in of(Kind.REQUEST_RECEIVED))
    broken = {finding.law for finding in played.judged().broken}
    return ends, told, tries, broken, played.undelivered
