"""What the tests of the pages share: registries that do not depend on what is installed."""

from __future__ import annotations

import pytest

from dashboard import doctor
from dashboard.tests import factory
from runs.models import Run
from runs.tests import needs


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A browser test needs a browser."""
    if item.get_closest_marker("browser") and not doctor.chromium():
        needs.lack("there is no Chromium on this machine (apt install chromium)")


@pytest.fixture
def cut(db: None) -> Run:
    """An ended run: six cut attempts, false completion."""
    return factory.cut_run()


@pytest.fixture
def going(db: None) -> Run:
    """A run in its second attempt."""
    return factory.open_run()
