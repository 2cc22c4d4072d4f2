"""Fixtures: real providers on real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from fakes.tests.support import Served


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., Any]]:
    """Starts providers and stops them after the test: ``served = await serve("sse-cut")``."""
    running: list[Served] = []

    async def start(*faults: Any, script: Any = "delegate-one", **more: Any) -> Served:
        served = await Served.start(*faults, script=script, **more)
        running.append(served)
        return served

    yield start
    for served in running:
        await served.provider.stop()
        assert served.provider.trouble == []


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., Any]]:
    """Makes the official client of a dialect: ``client = connect(served, "messages")``."""
    from fakes.tests.official import official

    made = []

    def make(*given: Any) -> Any:
        made.append(official(*given))
        return made[-1]

    yield make
    for client in made:
        await client.close()
