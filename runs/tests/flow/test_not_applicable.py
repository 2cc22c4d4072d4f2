"""Scenarios without a meaning for an agent, or for one form of it, are refused with the reason."""

from __future__ import annotations

import pytest

from runs import bisections, catalogue, models, start, sweeps
from runs.errors import NotApplicable
from runs.scenario import Scenario

pytestmark = pytest.mark.django_db(transaction=True)
EXEC = {"agents.codex.form": "exec"}


def _refused(agent: str, name: str, **sets: str) -> bool:
    try:
        start.create(agent, "1.0.0", name, sets=sets, queue=False)
    except NotApplicable:
        return True
    return False


def test_no_run_is_made_of_what_has_no_meaning() -> None:
    with pytest.raises(NotApplicable, match="every sub-agent of Codex runs in the background"):
        start.create("codex", "0.171.0", "sync-child", queue=False)
    with pytest.raises(NotApplicable, match="has a meaning only for omnigent"):
        start.create("reference", "1.0.0", "runner-gone", queue=False)
    assert not models.Run.objects.exists()


@pytest.mark.parametrize(
    ("name", "form"), [("restart-running", True), ("child-asks", True), ("sse-cut", False)]
)
def test_a_form_of_an_agent_has_reasons_of_its_own(name: str, form: bool) -> None:
    assert _refused("codex", name, **EXEC) is form
    assert not _refused("codex", name)
    assert _refused("codex", "parent-polls", **{"agents.codex.multi_agent": "v1"})


@pytest.mark.parametrize(
    ("depth", "left"), [("1", {"nested", "deep"}), ("2", {"deep"}), ("3", set())]
)
def test_no_deeper_than_the_agents_of_the_run_are_declared(depth: str, left: set[str]) -> None:
    given = {"agents.omnigent.depth": depth}
    asked = ("success", "nested", "deep")
    assert {name for name in asked if _refused("omnigent", name, **given)} == left


def test_an_option_has_a_least_value() -> None:
    with pytest.raises(ValueError, match="depth is at least 1, not '0'"):
        catalogue.driver("omnigent").read_options({"depth": "0"})


def test_an_old_version_has_reasons_of_its_own() -> None:
    with pytest.raises(NotApplicable, match="before 2.1.172, its sub-agents have no tool"):
        start.create("claude", "2.1.170", "grandchild-cut", queue=False)
    start.create("claude", "2.1.172", "grandchild-cut", queue=False)
    with pytest.raises(NotApplicable, match="follow-up has no meaning"):
        start.create("claude", "2.1.172", "follow-up", queue=False)


def test_a_fault_may_be_what_has_no_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = catalogue.driver("codex")
    monkeypatch.setattr(type(driver), "not_applicable", {"stall": "it never waits"})
    assert _refused("codex", "stall-headers") is False and _refused("codex", "stall")
    chosen = Scenario.read({**catalogue.scenarios()["stall"].as_dict(), "name": "mine"})
    with pytest.raises(NotApplicable, match="mine has no meaning for Codex CLI: it never waits"):
        catalogue.check_meaning("codex", "0.171.0", chosen, {})


def test_a_sweep_leaves_out_what_has_no_meaning_and_says_so() -> None:
    chosen = [("codex", "0.171.0"), ("reference", "1.0.0")]
    sweep = sweeps.create(chosen, ["restart-told", "sse-cut"], sets=EXEC, repeat=2)
    made = {(run.agent, run.scenario) for run in sweep.runs.all()}
    assert made == {("codex", "sse-cut"), ("reference", "restart-told"), ("reference", "sse-cut")}
    (left,) = sweeps.document(sweep)["left_out"]
    assert (left["agent"], left["scenario"]) == ("codex", "restart-told")
    assert "no client" in left["words"]


def test_a_sweep_or_a_search_of_nothing_else_is_refused() -> None:
    with pytest.raises(NotApplicable):
        sweeps.create([("codex", "0.171.0")], ["sync-child"])
    with pytest.raises(NotApplicable):
        bisections.create("codex", "0.120.0", "0.171.0", "sync-child", "L2")
    assert not models.Sweep.objects.exists()


def test_every_reason_is_about_something_that_exists() -> None:
    for driver in catalogue.drivers().values():
        keys = {option.key: option for option in driver.options}
        for (key, value), reasons in driver.not_applicable_with.items():
            assert str(keys[key].read(value)) == value
            assert set(reasons) <= {*catalogue.scenarios(), *catalogue.faults()}
