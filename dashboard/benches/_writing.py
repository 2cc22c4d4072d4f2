"""Writes events as a run does: the real recorder, its batches, its pokes over Redis."""

from __future__ import annotations

import asyncio
import json
import threading
import time

from channels.layers import channel_layers
from django.conf import settings

from runs.core.events import Draft, Kind
from runs.models import Run
from runs.recorder import Recorder


def use_redis() -> None:
    """Poke over the Redis of the instance that runs from this folder."""
    url = json.loads((settings.VAR / "instance.json").read_text())["redis_url"]
    backend = "channels_redis.pubsub.RedisPubSubChannelLayer"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": backend, "CONFIG": {"hosts": [url]}}}
    channel_layers.backends = {}


class Writer(threading.Thread):
    """Records `count` events of `run`, `rate` a second; `written` says when, by number."""

    def __init__(self, run: Run, count: int, rate: float) -> None:
        super().__init__(daemon=True)
        self.run_, self.count, self.rate = run, count, rate
        self.written: dict[int, float] = {}
        self.busy = 0.0
        """Seconds of processor time that recording took."""

    def run(self) -> None:
        began = time.process_time()
        asyncio.run(self._record())
        self.busy = time.process_time() - began

    async def _record(self) -> None:
        assert self.run_.started_at is not None
        recorder = Recorder(self.run_.pk, self.run_.started_at.timestamp())
        recorder.start()
        due = time.monotonic()
        for _ in range(self.count):
            now = time.time()
            event = recorder.add(
                Draft(
                    kind=Kind.AGENT_MESSAGE,
                    source="stdout",
                    file="stdout.jsonl",
                    at=now,
                    agent="root",
                    data={"written": now, "preview": "Something that an agent says."},
                )
            )
            self.written[event.seq] = now
            due += 1 / self.rate
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        await recorder.stop()
