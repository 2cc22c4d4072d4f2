"""Whole runs of our own client: a wrong one is never healthy, a right one is never blamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs import execute, report, start
from runs.models import Run

pytestmark = pytest.mark.django_db(transaction=True)


def _run(play: str, breaks: str) -> Run:
    sets = {"agents.client.play": play, "agents.client.breaks": breaks}
    (run,) = start.create("client", "1.0.0", "client-rule", sets=sets, queue=False)
    execute.execute(run.pk, "a-test")
    run.refresh_from_db()
    return run


@pytest.mark.parametrize(
    ("play", "diagnosis"),
    [
        ("cl-07", "healthy"),  # The stand-in says one end twice; that is not its client's.
        ("cl-15", "failed_and_reported"),
        ("cl-22", "failed_and_reported"),
        ("cl-36", "failed_and_reported"),  # It gave up and said so; its child ran on.
        ("cl-37", "healthy"),  # The child is a stranger's.
    ],
)
def test_a_client_that_keeps_the_rule_is_not_blamed(
    play: str, diagnosis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIFELINE_VAR", str(tmp_path / "var"))
    run = _run(play, "none")
    assert (run.status, run.error, run.broken) == ("ended", {}, "")
    assert run.diagnosis == diagnosis
    assert report.document(run)["owner"]["kept"]


@pytest.mark.parametrize("rule", [1, 3, 6, 13, 24, 27, 33])
def test_a_client_that_breaks_it_is_never_healthy(
    rule: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What exactly it is called is a race: its own turn may still be open when it leaves."""
    monkeypatch.setenv("LIFELINE_VAR", str(tmp_path / "var"))
    run = _run(f"cl-{rule:02}", f"CL-{rule}")
    assert (run.status, run.error) == ("ended", {})
    assert run.diagnosis not in ("", "healthy", "failed_and_reported")
    assert not report.document(run)["owner"]["kept"]
