"""A real web server with a real Redis for the live tests, and a writer beside it.

The server is Daphne in a process of its own on a database of its own; the test writes
that database as a recorder does, and pokes through Redis.
"""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.db import connections
from django.utils import timezone
from redis.exceptions import RedisError

from dashboard.tests.instance import BASE, environment
from runs.models import Event, Finding, Run
from runs.notify import group_of

PATIENCE = 60


class Site:
    """The running server: its address, its database, its Redis."""

    def __init__(self, var: Path, redis_url: str) -> None:
        self.environment = environment(var) | {
            "REDIS_URL": redis_url,
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
            "PYTHONFAULTHANDLER": "1",
        }
        self.environment.setdefault("DATABASE_URL", f"sqlite:///{var / 'lifeline.sqlite3'}")
        self._manage("migrate", "--verbosity", "0")
        self.alias = f"live_{secrets.token_hex(3)}"
        self._connect()
        self.redis_url = redis_url
        self.log = var / "web.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.start()

    def _manage(self, *arguments: str) -> None:
        subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=BASE, env=self.environment, check=True
        )

    def _connect(self) -> None:
        template = connections.databases["default"]
        mine = {**template, **dj_database_url.parse(self.environment["DATABASE_URL"])}
        mine["OPTIONS"] = template["OPTIONS"] if "sqlite" in mine["ENGINE"] else {}
        connections.databases[self.alias] = mine

    def start(self) -> None:
        """Start the web server and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", str(self.port)]
                + ["dashboard.asgi:application"],
                cwd=BASE,
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + PATIENCE
        while True:
            try:
                urllib.request.urlopen(f"{self.address}/healthz", timeout=5).close()
                return
            except OSError:
                assert time.monotonic() < until, self.log.read_text()
                time.sleep(0.1)

    def stop(self, *, kill: bool = False) -> None:
        """End the web server, as asked or by SIGKILL."""
        assert self.process is not None
        if self.process.poll() is not None:
            return
        self.process.kill() if kill else self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)  # faulthandler says where it hangs
            self.process.wait(PATIENCE)
            raise AssertionError(self.log.read_text()[-8000:]) from None

    def disconnect(self) -> None:
        """Close this thread's connection to the site's database."""
        connections[self.alias].close()

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self.port}"

    def page(self, run: Run, rest: str = "") -> str:
        """The address of a run's page."""
        return f"{self.address}/runs/{run.permalink}/{rest}"

    def run(self, *, started_ago: float = 0.0, **fields: Any) -> Run:
        """A stored run, running if nothing else is said."""
        given = {
            "agent": "reference",
            "version": "1",
            "scenario": "sse-cut",
            "status": "running",
            "started_at": timezone.now() - timedelta(seconds=started_ago),
            "permalink": secrets.token_hex(8),
        }
        return Run.objects.using(self.alias).create(**(given | fields))

    def write(self, run: Run, rows: Iterable[Event], *, poke: bool = True) -> None:
        """Store events as the recorder does: a batch, then a poke."""
        batch = list(rows)
        Event.objects.using(self.alias).bulk_create(batch, batch_size=500)
        Run.objects.using(self.alias).filter(pk=run.pk).update(event_count=batch[-1].seq)
        if poke:
            self.poke(run)

    def change(self, run: Run, **fields: Any) -> None:
        """Change the run's row and poke."""
        Run.objects.using(self.alias).filter(pk=run.pk).update(**fields)
        self.poke(run)

    def broken(self, run: Run, law: str, agent: str, seqs: Iterable[int]) -> None:
        """Store a broken finding."""
        evidence = [{"seq": seq, "ref": f"stdout.jsonl:{seq}"} for seq in seqs]
        rows = Finding.objects.using(self.alias)
        rows.create(
            run=run, law=law, verdict="broken", agent=agent, evidence=evidence, reason="Shown."
        )

    def poke(self, run: Run) -> None:
        """Say over Redis that there is something new; a Redis that is gone is no trouble."""

        async def send() -> None:
            layer = RedisPubSubChannelLayer(hosts=[self.redis_url])
            try:
                for group, kind in ((group_of(run.pk), "run.poke"), ("runs", "runs.poke")):
                    await layer.group_send(group, {"type": kind, "run": run.pk})
            finally:
                await layer.flush()

        def work() -> None:
            try:
                asyncio.run(send())
            except (OSError, RedisError):
                pass

        # In a thread: the browser's driver keeps a loop of its own in this one.
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(PATIENCE)


def free_port() -> int:
    """A port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def event(run: Run, seq: int, t: float, kind: str, agent: str = "", **data: Any) -> Event:
    """An event of stdout, not stored yet."""
    given = {"source": data.pop("source", "stdout")}
    given["file"] = f"{given['source']}.jsonl"
    return Event(run=run, seq=seq, t=t, kind=kind, agent=agent, line=seq, data=data, **given)


def notes(run: Run, first: int, count: int) -> list[Event]:
    """Plain events in a row."""
    return [
        event(run, seq, seq / 100, "message.agent", "root", text_length=seq)
        for seq in range(first, first + count)
    ]
