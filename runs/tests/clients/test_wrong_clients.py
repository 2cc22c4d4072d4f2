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
    ("play", "breaks", "diagnosis"),
    [
        ("cl-07", "none", "healthy"),  # The stand-in says one end twice; that is not its client's.
        ("cl-15", "none", "failed_and_reported"),
        ("cl-22", "none", "failed_and_reported"),
        ("cl-36", "none", "failed_and_reported"),  # It gave up and said so; its child ran on.
        ("cl-37", "none", "healthy"),  # The child is a stranger's.
        ("cl-01", "CL-1", "notice_lost"),
        ("cl-13", "CL-13", "duplicate_terminal"),
        ("cl-27", "CL-27", "misrouted_notice"),
        ("cl-24", "CL-24", "cancel_ignored"),
        ("cl-06", "CL-6", "unknown"),  # It failed, waiting for a stranger's child.
        ("cl-33", "CL-33", "unknown"),  # It shows a secret, and no law speaks of that.
    ],
)
def test_a_run_blames_its_client_where_it_breaks_the_rule_and_nowhere_else(
    play: str, breaks: str, diagnosis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIFELINE_VAR", str(tmp_path / "var"))
    run = _run(play, breaks)
    assert (run.status, run.error) == ("ended", {})
    assert run.diagnosis == diagnosis
    assert breaks != "none" or not run.broken
    owner = report.document(run)["owner"]
    assert owner["kept"] is (breaks == "none")
