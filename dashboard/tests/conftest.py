"""What the tests of the pages share: registries that do not depend on what is installed."""

from __future__ import annotations

import pytest

from dashboard.tests import factory
from runs.models import Run


@pytest.fixture
def cut(db: None) -> Run:
    """An ended run: six cut attempts, false completion."""
    return factory.cut_run()


@pytest.fixture
def going(db: None) -> Run:
    """A run in its second attempt."""
    return factory.open_run()
