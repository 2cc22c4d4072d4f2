"""Scenarios are strict: what is unknown is refused by name, what is read is written back."""

from __future__ import annotations

import pytest

from runs.scenario import Scenario, ScenarioError, parse_value, to_toml

PLAIN = {
    "name": "mine",
    "question": "Does it?",
    "script": "delegate-one",
    "faults": [{"fault": "sse-cut", "on": {"caller": "child", "attempt": "all"}}],
    "guards": {"deadline": 20},
    "agents": {"reference": {"misbehave": "x"}},
}


def test_it_reads_what_it_writes() -> None:
    scenario = Scenario.read(PLAIN)
    assert Scenario.read(scenario.toml()) == scenario
    assert Scenario.read(scenario.as_dict()) == scenario


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"guard": {}}, "Did you mean 'guards'"),
        ({"guards": {"dedline": 3}}, "Did you mean 'deadline'"),
        ({"guards": {"deadline": -1}}, "guards.deadline is a positive number"),
        ({"thresholds": {"stall": 1}}, "stall_after"),
        ({"script": "delegate-on"}, "delegate-one"),
        ({"faults": [{"fault": "sse-cutt"}]}, "sse-cut"),
        ({"faults": [{"fault": "sse-cut", "on": {"callr": "child"}}]}, "caller"),
        ({"name": "../x"}, "may hold"),
        ({"question": ""}, "needs 'question'"),
    ],
)
def test_it_names_what_is_wrong(change: dict[str, object], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        Scenario.read({**PLAIN, **change})


def test_it_sets_dotted_keys() -> None:
    scenario, options = Scenario.read(PLAIN).with_sets(
        {"faults.0.attempt": "1-2", "guards.deadline": "30", "agents.copilot.wire": "messages"}
    )
    assert scenario.faults[0]["on"] == {"caller": "child", "attempt": "1-2"}
    assert scenario.guards.deadline == 30
    assert options["copilot"] == {"wire": "messages"}


def test_it_refuses_a_set_that_leads_nowhere() -> None:
    with pytest.raises(ScenarioError, match=r"faults\.7"):
        Scenario.read(PLAIN).with_sets({"faults.7.attempt": "1"})


def test_it_reads_values_as_their_type() -> None:
    values = [parse_value(text) for text in ("3", "0.5", "true", "all", "[1, 2]")]
    assert values == [3, 0.5, True, "all", [1, 2]]


def test_it_writes_nested_tables_and_odd_keys() -> None:
    import tomllib

    tree = {"a": 1, "t": {"x.y": 'q"uote', "inner": {"z": [1, 2]}}, "l": [{"on": {"k": 1}}]}
    assert tomllib.loads(to_toml(tree)) == tree
