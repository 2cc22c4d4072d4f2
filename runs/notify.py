"""The poke: tells whoever watches that the database has something new.

The database is the log; a lost poke costs a watcher a second at most. So a
failing Redis is swallowed here, and said once a minute on the log.
"""

from __future__ import annotations

import functools
import logging
import time
from typing import Any

import redis
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.conf import settings

log = logging.getLogger(__name__)
RUNS = "runs"
_quiet_until = 0.0


def group_of(run_id: int) -> str:
    """The channel-layer group of one run's watchers."""
    return f"run.{run_id}"


def poke_run(run_id: int) -> None:
    """Say that the run has new events or a new state."""
    _send(group_of(run_id), {"type": "run.poke", "run": run_id})


def poke_runs(run_id: int | None = None) -> None:
    """Say that the list of runs changed."""
    _send(RUNS, {"type": "runs.poke", "run": run_id})


def _send(group: str, message: dict[str, Any]) -> None:
    global _quiet_until
    if time.monotonic() < _quiet_until:
        return
    try:
        layer = get_channel_layer()
        if isinstance(layer, RedisPubSubChannelLayer):
            _publish(f"asgi__group__{group}", layer.serialize(message))
        elif layer is not None:
            async_to_sync(layer.group_send)(group, message)
    except Exception as error:  # a poke is a courtesy, whatever is wrong with the layer
        _quiet_until = time.monotonic() + 1.0
        log.warning("The poke did not go out (%s); watchers poll.", type(error).__name__)


def _publish(channel: str, message: bytes) -> None:
    """As the layer does it, over a lasting connection.

    Through the layer itself each poke from a plain thread costs a loop and a connection.
    """
    layer: dict[str, Any] = settings.CHANNEL_LAYERS["default"]
    _redis(layer["CONFIG"]["hosts"][0]).publish(channel, message)


@functools.lru_cache(maxsize=4)
def _redis(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
