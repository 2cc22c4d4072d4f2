"""Installing as a job: asked for once, done by a worker, with a log and words when it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs import binaries, installing
from runs.errors import HarnessError, UnknownName
from runs.models import Installation
from runs.tests.binaries.registry import Registry
from runs.tests.binaries.toy import Toy

pytestmark = pytest.mark.django_db


def test_it_installs_with_a_log_and_is_ready(
    toy: Toy, registry: Registry, shelf_folder: Path
) -> None:
    job = installing.request("toy", "1.0.10")
    assert installing.request("toy", "1.0.10").pk == job.pk  # a second press joins it
    installing.install(job.pk)
    installing.install(job.pk)  # a message delivered twice does nothing
    job.refresh_from_db()
    assert job.state == "ready" and job.ended_at and "installing toy 1.0.10" in job.log
    assert [one.version for one in binaries.installed("toy")] == ["1.0.10"]


def test_it_says_why_it_failed(toy: Toy, registry: Registry, shelf_folder: Path) -> None:
    job = installing.request("toy", "9.9.9")
    installing.install(job.pk)
    job.refresh_from_db()
    assert job.state == "failed" and "9.9.9" in job.error["what"]
    assert "ETARGET" in job.log, "npm's own words"


def test_it_refuses_what_cannot_be_installed() -> None:
    with pytest.raises(HarnessError, match="comes with Lifeline"):
        installing.request("reference", "1.0.0")
    with pytest.raises(UnknownName):
        installing.request("copilot", "../../etc")
    assert not Installation.objects.exists()


def test_a_line_that_only_counts_replaces_the_one_before_it() -> None:
    job = Installation.objects.create(agent="copilot", version="1")
    log = installing.Log(job.pk)
    for line in ("installing with npm: 1 MB", "installing with npm: 2 MB", "done"):
        log.say(line)
    log.flush()
    job.refresh_from_db()
    assert job.log == "installing with npm: 2 MB\ndone" and job.progress == "done"
