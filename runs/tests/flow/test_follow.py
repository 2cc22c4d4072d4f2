"""Taking runs to their end from a command, whoever executes them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs import follow, models, start

pytestmark = pytest.mark.django_db(transaction=True)


def _instance(seconds_ago: float) -> None:
    """A worker that beat its last so long ago."""
    beat = timezone.now() - timedelta(seconds=seconds_ago)
    models.Worker.objects.create(name="elsewhere:1", beat_at=beat, concurrency=1)


@pytest.mark.parametrize("running", [False, True])
def test_a_command_goes_on_when_the_instance_is_gone(settings: Any, running: bool) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"  # nobody listens there
    _instance(start.WORKER_ALIVE.total_seconds() - 4)
    (run,) = start.create("reference", "1.0.0", "success", queue=False)
    if running:
        models.Run.objects.filter(pk=run.pk).update(status="running", worker="elsewhere:1")
    said: list[str] = []
    follow.to_the_end([run], said.append)
    assert run.status == ("lost" if running else "ended")
    assert any("is gone" in line for line in said) is not running
