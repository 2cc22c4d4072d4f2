"""Every scenario that ships loads, is whole, and comes out clean with a healthy agent."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from fakes.provider import Provider
from runs import catalogue
from runs.core.judge import laws
from runs.core.law import Thresholds
from runs.scenario import FOLDER, Scenario, ScenarioError, shipped
from runs.tests.reference.plays import Plays
from runs.tests.reference.stage import Played

PROMISED: list[str] = """
success sse-cut chunk-cut reset-before-headers reset-mid-body refused http-400 http-401 http-429
http-500 http-503 stall stall-headers drip malformed-json sse-error response-failed
response-incomplete empty-200 no-terminal duplicate-terminal truncated-arguments cut-once
cut-thrice
""".split()  # noqa: SIM905
REPORT = re.compile(r"[\w.-]+/[\w.-]+#\d+")
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))


def test_it_ships_at_least_forty_and_every_promised_name() -> None:
    assert len(NAMES) >= 40
    assert set(PROMISED) <= set(NAMES)
    assert sorted(catalogue.scenarios()) == NAMES


def test_it_has_one_for_each_family_and_each_law() -> None:
    families = {family for scenario in shipped().values() for family in scenario.families}
    assert families == {f"F{number:02}" for number in range(1, 23)}
    assert {law for scenario in shipped().values() for law in scenario.laws} == set(laws())


@pytest.mark.parametrize("name", NAMES)
def test_it_is_whole_and_comes_back_from_its_own_toml(name: str) -> None:
    scenario = shipped()[name]
    assert scenario.title
    assert scenario.question.endswith("?")
    assert scenario.families
    assert scenario.laws
    assert scenario.reports
    assert all(REPORT.fullmatch(report) for report in scenario.reports)
    assert set(scenario.laws) <= set(laws())
    assert 0 < scenario.guards.deadline <= 300
    assert set(scenario.agents) <= set(catalogue.drivers())
    assert set(scenario.only) <= set(scenario.agents)
    for agent, options in scenario.agents.items():
        catalogue.driver(agent).read_options(options)
    Thresholds.of(scenario.thresholds)
    assert Scenario.read(scenario.toml()) == scenario


@pytest.mark.parametrize("name", PROMISED)
def test_it_aims_a_promised_fault_at_every_attempt_of_the_one_child(name: str) -> None:
    scenario = shipped()[name]
    assert len(catalogue.build_script(scenario).tasks()) == 1
    (aimed,) = catalogue.build_faults(scenario)
    assert aimed.target.caller == "child"
    if not name.startswith("cut-"):
        assert (aimed.target.attempt, aimed.target.turn, aimed.target.share) == ("all", 0, 1.0)


@pytest.mark.parametrize("name", ["http-408", "http-500", "http-502", "http-503", "http-529"])
def test_its_deadline_lets_waits_that_double_without_end_be_told_from_bounded_ones(
    name: str,
) -> None:
    scenario = shipped()[name]
    tries = Thresholds.of(scenario.thresholds).max_attempts
    waits = sum(2.0**n for n in range(1, tries))  # 2 s, 4 s … until the last try that is allowed
    starting = 45.0
    assert scenario.guards.deadline >= starting + waits


def test_it_has_no_meaning_for_an_agent_that_it_is_not_for() -> None:
    known = shipped().values()
    assert "runner-gone" not in catalogue.not_applicable("omnigent", known)
    assert "omnigent" in catalogue.not_applicable("reference", known)["runner-gone"]
    assert "success" not in catalogue.not_applicable("reference", known)


def test_a_client_is_put_through_nothing_that_does_not_name_it() -> None:
    refused = catalogue.not_applicable("client", shipped().values())
    assert "success" in refused and "sse-cut" in refused
    assert not {"client-rule", "client-child-first", "client-child-outlives"} & set(refused)


@pytest.mark.parametrize("key", ["questions", "fault", "guard", "control_"])
def test_it_refuses_an_unknown_key_and_names_the_nearest(key: str) -> None:
    text = (FOLDER / "sse-cut.toml").read_text()
    with pytest.raises(ScenarioError, match="Did you mean"):
        Scenario.read(f"{key} = 1\n{text}")


@pytest.fixture(scope="module")
def plays(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Plays]:
    """All plays that the chosen tests of this file need, side by side."""
    made = Plays(tmp_path_factory.mktemp("scenarios"))
    for item in request.session.items:
        name = getattr(item, "callspec", None) and item.callspec.params.get("played")
        if isinstance(name, str):
            made.order(name, name, {})
    yield made
    made.close()


@pytest.mark.parametrize("played", NAMES)
def test_it_breaks_no_law_with_a_healthy_agent_and_delivers_every_fault(
    played: str, plays: Plays
) -> None:
    _is_clean(played, plays.result(played))


def _is_clean(name: str, played: Played) -> None:
    judged = played.judged()
    assert (name, judged.broken) == (name, ())
    assert (name, played.undelivered, played.errors) == (name, 0, "")
    if played.scenario.control:
        assert (name, judged.diagnosis, played.code) == (name, "healthy", 0)
    else:
        assert judged.diagnosis in ("healthy", "failed_and_reported"), name


def test_the_provider_takes_every_fault_of_every_scenario() -> None:
    for name, scenario in shipped().items():
        faults = catalogue.build_faults(scenario)
        script = catalogue.build_script(scenario)
        tools = catalogue.driver("reference").tools({"wait": False}, "")
        provider = Provider(script, tools=tools, faults=faults, record=lambda record: None)
        assert provider.undelivered() == faults, name
