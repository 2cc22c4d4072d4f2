"""What the live tests share: one site for the session, one browser."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboard.tests.browser import open_page
from dashboard.tests.live.site import Site
from runs.tests import valkey

__all__ = ["open_page"]


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A real Redis: the one that the suite was given, else the embedded one on a socket."""
    given = os.environ.get("LIFELINE_TEST_REDIS_URL")
    if given:
        yield f"{given}?db={secrets.randbelow(999) + 1}"
        return
    with embedded() as url:
        yield url


class embedded:
    """An embedded Redis of one's own, which may be killed."""

    def __enter__(self) -> str:
        self.folder = tempfile.TemporaryDirectory(prefix="ll-")
        self.server = valkey.server()
        self.server.start()
        return f"redis://127.0.0.1:{self.server.port}/0"

    def kill(self) -> None:
        """As if the machine took it away."""
        self.server.terminate()

    def __exit__(self, *_: object) -> None:
        if self.server.is_running():
            self.server.stop()
        self.folder.cleanup()


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
def lonely_site(tmp_path: Path, django_db_blocker: Any) -> Iterator[tuple[Site, embedded]]:
    """A site of its own with a Redis of its own, for tests that kill either."""
    redis = embedded()
    with django_db_blocker.unblock(), redis as url:
        site = Site(tmp_path, url)
        yield site, redis
        site.stop()
        site.disconnect()
