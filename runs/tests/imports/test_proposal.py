"""What an import proposes to run has a meaning for the agent that wrote it."""

from __future__ import annotations

import pytest

from runs import proposal
from runs.models import Run

pytestmark = pytest.mark.django_db


def _proposed(agent: str, version: str, diagnosis: str) -> str:
    kind = Run.Kind.IMPORT
    run = Run.objects.create(kind=kind, agent=agent, version=version, diagnosis=diagnosis)
    found = proposal.propose(run)
    assert found is not None
    return found.scenario.name


def test_it_proposes_what_belongs_to_the_diagnosis() -> None:
    assert _proposed("codex", "0.171.0", "cancel_ignored") == "cancel-child"
    assert _proposed("codex", "0.171.0", "resume_lost_outcome") == "restart-ended"


@pytest.mark.parametrize(
    ("agent", "version", "diagnosis"),
    [
        ("copilot", "1.0.102", "cancel_ignored"),
        ("claude", "2.1.220", "resume_lost_outcome"),
        ("opencode", "", "model_substituted"),
        ("claude", "0.0.0-next-17403 / odd", "resume_lost_outcome"),
    ],
)
def test_it_proposes_nothing_that_would_be_refused(
    agent: str, version: str, diagnosis: str
) -> None:
    refused = ("cancel-child", "restart-ended", "other-model")
    assert _proposed(agent, version, diagnosis) not in refused
