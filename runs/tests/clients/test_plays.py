"""Each rule of a waiting parent as a play of the stand-in, over real pipes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runs.clients import FOLDER
from runs.core.owner_facts import differences, facts
from runs.core.owner_log import OUTCOMES
from runs.tests.clients.wired import wire

RULES = sorted(path.stem for path in FOLDER.glob("cl-*.json"))


def _play(name: str) -> dict[str, Any]:
    given: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return given


def _kept(facts: dict[str, Any], expect: dict[str, Any]) -> dict[str, Any]:
    return {key: facts[key] for key in expect}


def test_it_has_a_play_for_every_rule() -> None:
    assert [_play(name)["rule"] for name in RULES] == [f"CL-{n}" for n in range(1, 39)]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_the_docs_say_what_it_plays(path: Path) -> None:
    play = _play(path.stem)
    page = (FOLDER.parents[1] / "docs" / "fake-app-server.md").read_text()
    assert f"| `{path.stem}` | {play['title']} | {play['question']} |\n" in page


@pytest.mark.parametrize("name", RULES)
async def test_it_keeps_the_rule_on_the_wire(name: str, tmp_path: Path) -> None:
    play = _play(name)
    wired = await wire(tmp_path, play)
    assert _kept(wired.facts(), play["expect"]) == play["expect"]
    assert wired.story.outcome in ("waited_ok", "ambiguous_retired", "dropped_child")
    wired.fake.assert_wire_clean()
    assert differences(wired.rows, play["expect"]) == []
    on_the_wire = wired.facts()
    told = {key: value for key, value in facts(wired.rows).items() if key != "secret"}
    assert told == {key: on_the_wire[key] for key in told}


@pytest.mark.parametrize("name", [name for name in RULES if name != "cl-36"])
async def test_it_catches_a_client_that_breaks_the_rule(name: str, tmp_path: Path) -> None:
    play = _play(name)
    wired = await wire(tmp_path, play, breaks=play["rule"])
    assert _kept(wired.facts(), play["expect"]) != play["expect"]
    assert differences(wired.rows, play["expect"])
    assert wired.story.outcome in OUTCOMES


async def test_it_catches_a_client_whose_patience_has_no_end(tmp_path: Path) -> None:
    """CL-36: its wait ends by nothing but our own."""
    with pytest.raises(TimeoutError):
        await wire(tmp_path, _play("cl-36"), breaks="CL-36", patience=8)
