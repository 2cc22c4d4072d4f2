"""The same through the executor: sealed, recorded, judged from the database."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.reference_agent.misbehaviours import table
from runs import execute, models, report, start, store
from runs.core.events import Kind
from runs.drivers.reference import Tools

pytestmark = pytest.mark.django_db(transaction=True)


def run(scenario: str, version: str = "", **sets: Any) -> models.Run:
    """One run to its end, in this process."""
    given = {key.replace("__", "."): value for key, value in sets.items()}
    (queued,) = start.create("reference", version, scenario, sets=given, queue=False)
    ended = execute.execute(queued.pk, "a-test")
    assert ended is not None
    ended.refresh_from_db()
    assert ended.status == models.Run.Status.ENDED, ended.error
    return ended


def broken_in(made: models.Run) -> set[str]:
    """The laws that the stored findings call broken."""
    findings = report.document(made)["findings"]
    return {finding["law"] for finding in findings if finding["verdict"] == "broken"}


def test_it_survives_a_restart_inside_the_seal() -> None:
    made = run("restart-running")
    assert (made.diagnosis, made.exit_code, broken_in(made)) == ("healthy", 0, set())
    history = store.history(made)
    assert len(history.of(Kind.SESSION_RESUMED)) == 1
    assert len(history.of(Kind.PROCESS_EXITED)) == 1


@pytest.mark.parametrize("name", ["false-completion", "crash", "zombie"])
def test_it_is_found_out(name: str) -> None:
    entry = table()[name]
    made = run(entry.scenario, **{"agents.reference.misbehave": name}, **dict(entry.sets))
    assert made.diagnosis == entry.diagnosis
    assert entry.law in broken_in(made)
    assert broken_in(made) <= {entry.law, *entry.consequences}


def test_a_child_that_never_asks_is_the_agents_failure_though_no_fault_reached_it() -> None:
    entry = table()["dead-spawn"]
    made = run("sse-cut", **{"agents.reference.misbehave": "dead-spawn"}, **dict(entry.sets))
    assert (made.outcome, made.diagnosis) == ("invalid-fault-not-delivered", "dead_spawn")
    assert entry.law in broken_in(made)


def test_an_error_in_a_table_of_tools_is_ours_and_not_the_agents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def delegate(self: Tools, task: object) -> None:
        raise IndexError("no such group")

    monkeypatch.setattr(Tools, "delegate", delegate)
    sets = {"guards.deadline": 4.0}
    (queued,) = start.create("reference", "", "success", sets=sets, queue=False)
    ended = execute.execute(queued.pk, "a-test")
    assert ended is not None
    ended.refresh_from_db()
    assert ended.status == models.Run.Status.ERRORED
    assert "IndexError: no such group" in ended.error["what"]


def test_it_says_what_it_claims_and_what_was_measured() -> None:
    made = run("cut-thrice", **{"agents.reference.dialect": "messages"})
    document = report.document(made)
    assert (made.outcome, made.diagnosis) == ("completed", "healthy")
    children = [one for one in document["attempts"] if one["caller"] == "child:1"]
    assert [one["n"] for one in children] == [1, 2, 3, 4]
    assert [bool(one["fault"]) for one in children] == [True, True, True, False]
    retry = document["retry"]
    assert retry["reported"]["retries"] == retry["measured"]["retries"] == 3
    assert sum(retry["measured"]["gaps"]) >= retry["reported"]["sleep"] - 0.05


def test_a_version_that_cannot_start_is_no_verdict_on_the_agent() -> None:
    made = run("sse-cut", "0.3.0")
    assert (made.outcome, made.diagnosis, made.exit_code) == ("startup-failed", "environment", 3)
    assert broken_in(made) == set()
