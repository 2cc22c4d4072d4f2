"""Each test that takes `seal` runs with bubblewrap, with the minder's own seal, and without."""

from __future__ import annotations

import pytest

from runs.seal import Seal
from runs.tests.process.support import KINDS, seal_of


@pytest.fixture(params=KINDS)
def seal(request: pytest.FixtureRequest) -> Seal:
    return seal_of(request.param)


@pytest.fixture
def token(request: pytest.FixtureRequest) -> str:
    """A word by which a test's processes are known."""
    import uuid

    return f"lifeline-test-{uuid.uuid4().hex}"
