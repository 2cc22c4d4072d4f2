"""The reference agent follows every script in every dialect, as a real process."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fakes.reference_agent.wires import WIRES
from runs import catalogue
from runs.core.events import Draft, Kind
from runs.core.law import Verdict
from runs.scenario import Scenario
from runs.tests.reference.stage import Played, play_scenario

QUICK = {
    "parent-polls": {"child_first": 0.4},
    "parent-ends-early": {"child_first": 0.3},
    "parent-goes-on": {"pace": 0.05},
}
"""Settings that make a script's pauses short."""


def scenario_of(script: str) -> Scenario:
    """A scenario that only plays this script."""
    return Scenario.read(
        {
            "name": f"plays-{script}",
            "question": "Is the script followed?",
            "script": script,
            "settings": QUICK.get(script, {}),
            "guards": {"deadline": 40},
        }
    )


def told_of(played: Played) -> list[tuple[str, int]]:
    """The ends that parents were told of, as (child, run)."""
    return sorted(
        (str(event.get("child")), int(event.get("run")))
        for event in played.history.of(Kind.NOTICE_DELIVERED)
        if event.get("status") != "running"
    )


@pytest.mark.parametrize("script", sorted(catalogue.scripts()))
async def test_it_follows_the_script_in_every_dialect_and_tells_each_end_once(
    script: str, tmp_path: Path
) -> None:
    plays = [
        play_scenario(scenario_of(script), tmp_path / dialect, dialect=dialect) for dialect in WIRES
    ]
    for played in await asyncio.gather(*plays):
        assert (played.code, played.errors) == (0, "")
        ended = played.history.of(Kind.AGENT_ENDED)
        assert ended, "no child has ended"
        ends = sorted((event.agent, int(event.get("run"))) for event in ended)
        assert ends == told_of(played)
        started = played.history.of(Kind.AGENT_STARTED, Kind.AGENT_RESUMED)
        assert len(started) == len(ends)
        assert {event.agent for event in started} == {event.agent for event in ended}


@pytest.mark.parametrize("dialect", sorted(WIRES))
async def test_it_reads_plain_answers_and_can_wait_for_its_child(
    dialect: str, tmp_path: Path
) -> None:
    scenario = scenario_of("child-tool")
    plain, waiting = await asyncio.gather(
        play_scenario(scenario, tmp_path / "plain", dialect=dialect, form="plain"),
        play_scenario(scenario, tmp_path / "waiting", dialect=dialect, wait=True),
    )
    for played, form in ((plain, "notification"), (waiting, "wait")):
        assert (played.code, played.errors) == (0, "")
        notices = played.history.of(Kind.NOTICE_DELIVERED)
        assert [(one.get("status"), one.get("form")) for one in notices] == [("completed", form)]


async def test_its_children_have_the_same_views_everywhere(tmp_path: Path) -> None:
    played = await play_scenario(scenario_of("nested"), tmp_path)
    for kind in (Kind.AGENT_STARTED, Kind.AGENT_ENDED):
        for event in played.history.of(kind):
            assert {place.source for place in event.sightings} == {"stdout", "session", "hooks"}
    spans = played.history.of(Kind.SPAN)
    owners = {span.get("span"): span.agent for span in spans if span.get("op") == "invoke_agent"}
    chats = [span for span in spans if span.get("op") == "chat"]
    assert chats
    assert all(owners[span.get("parent")] == span.agent for span in chats)


async def test_it_cancels_the_whole_tree_and_says_so_when_it_is_told_to_end(
    tmp_path: Path,
) -> None:
    slow = {"child_first": 60.0}
    scenario = Scenario.read(
        {
            "name": "told-to-end",
            "question": "Does TERM end the whole tree?",
            "script": "nested",
            "settings": slow,
            "guards": {"deadline": 120.0},
        }
    )

    def a_child_asks(seen: Draft) -> bool:
        return seen.kind is Kind.REQUEST_RECEIVED and seen.data["caller"].startswith("child")

    played = await play_scenario(scenario, tmp_path, end_when=a_child_asks)
    history = played.history
    assert (played.code, played.errors) == (130, "")
    started = {event.agent for event in history.of(Kind.AGENT_STARTED)}
    ended = {event.agent: event.get("status") for event in history.of(Kind.AGENT_ENDED)}
    assert started
    assert ended == dict.fromkeys(started, "cancelled")
    (result,) = history.of(Kind.RESULT)
    assert (result.get("status"), result.get("exit_code")) == ("cancelled", 130)
    judged = played.judged()
    assert judged.broken == ()
    assert judged.verdict("L7") is Verdict.HOLDS
