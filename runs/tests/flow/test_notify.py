"""A poke from a plain thread reaches who listens over Redis; one that is gone is no trouble."""

from __future__ import annotations

import asyncio
from typing import Any

from channels.layers import channel_layers
from channels_redis.pubsub import RedisPubSubChannelLayer

from runs import notify
from runs.tests import valkey


def test_it_reaches_a_listener_until_redis_is_gone(settings: Any) -> None:
    with valkey.running() as server:
        url = valkey.url(server)
        backend = "channels_redis.pubsub.RedisPubSubChannelLayer"
        settings.CHANNEL_LAYERS = {"default": {"BACKEND": backend, "CONFIG": {"hosts": [url]}}}
        channel_layers.backends = {}
        assert asyncio.run(heard(url)) == {"type": "run.poke", "run": 7}
    notify.poke_run(7)
    notify._quiet_until = 0.0
    channel_layers.backends = {}


async def heard(url: str) -> dict[str, Any]:
    layer = RedisPubSubChannelLayer(hosts=[url])
    channel = await layer.new_channel()
    await layer.group_add(notify.group_of(7), channel)
    await asyncio.to_thread(notify.poke_run, 7)
    message: dict[str, Any] = await asyncio.wait_for(layer.receive(channel), 30)
    await layer.flush()
    return message
