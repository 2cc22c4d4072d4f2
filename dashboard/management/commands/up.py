"""``up``: everything that an instance needs, with one command, until Ctrl-C."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandParser

from dashboard import parts
from dashboard.checks import exposure_problem
from dashboard.guard import bracketed, is_loopback
from dashboard.supervise import GaveUp, Supervisor
from runs import start
from runs.errors import HarnessError
from runs.management.base import CANNOT, StoringCommand

PORT = 8000
REDIS_PATIENCE = 30.0
"""Seconds that a Redis of the operator's may take until it answers."""


class Command(StoringCommand):
    help = "Start Lifeline: Redis, workers and the web server."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help="default 127.0.0.1")
        parser.add_argument("--port", type=_port, default=PORT, help=f"default {PORT}")

    def handle(self, *_: Any, **options: Any) -> None:
        host = options["host"]
        problem = exposure_problem(host, settings.TOKEN, settings.NAMES, settings.READ_TOKEN)
        if problem:
            self.fail(2, f"{problem} Set LIFELINE_TOKEN to a long secret, or use 127.0.0.1.")
        lock = self._only_one()
        env = {**os.environ, "LIFELINE_HOST": host, "PYTHONUNBUFFERED": "1"}
        supervisor = Supervisor(settings.VAR / "log", env, self.say)
        try:
            self._up(supervisor, host, options["port"])
        except GaveUp as trouble:
            self.fail(1, str(trouble))
        except HarnessError as trouble:
            self.fail(CANNOT, str(trouble))
        finally:
            supervisor.close()
            (settings.VAR / "instance.json").unlink(missing_ok=True)
            lock.close()

    def _only_one(self) -> Any:
        lock = (settings.VAR / "up.lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            where = instance().get("address", "an address that it has not said yet")
            self.fail(1, f"Lifeline already runs from this folder, at {where}.")
        return lock

    def _up(self, supervisor: Supervisor, host: str, port: int) -> None:
        call_command("collectstatic", interactive=False, verbosity=0)
        listener, moved = parts.listen(host, port)
        number = listener.getsockname()[1]
        if moved:
            self.say(f"Port {port} is taken; using {number}.")
        given = os.environ.get("REDIS_URL")
        url = self._given_redis(supervisor) if given else self._redis(supervisor)
        supervisor.env["REDIS_URL"] = url
        address = f"http://{_shown(host)}:{number}/"
        write_instance({"pid": os.getpid(), "redis_url": url, "address": address})
        supervisor.add(parts.web(listener))
        supervisor.add(parts.worker(settings.CONCURRENCY))
        supervisor.add(parts.upkeep())
        if supervisor.wait_until(lambda: answers(address, host) and bool(start.workers())):
            print(f"Lifeline is at {address}  (Ctrl-C ends it)", flush=True)
            supervisor.run()
        self.say("Stopping …")

    def _given_redis(self, supervisor: Supervisor) -> str:
        """The one that ``REDIS_URL`` names, once it answers: it may be about to start as well."""
        url = str(settings.REDIS_URL)
        trouble = parts.redis_trouble(url)
        if trouble:
            self.say(f"The Redis that REDIS_URL names does not answer yet: {trouble}")
            try:
                supervisor.wait_until(lambda: not parts.redis_trouble(url), REDIS_PATIENCE)
            except GaveUp:
                raise HarnessError(
                    f"The Redis that REDIS_URL names does not answer: {trouble}",
                    "Start it, or mend REDIS_URL, or unset it: Lifeline brings one of its own.",
                ) from None
        return url

    def _redis(self, supervisor: Supervisor) -> str:
        folder, password = parts.socket_folder(), parts.new_password()
        supervisor.remember(str(folder))
        supervisor.add(parts.redis(folder, password))
        if not supervisor.wait_until((folder / "r.sock").exists):
            sys.exit(0)
        return parts.redis_url(folder, password)


def _port(text: str) -> int:
    """A port as it is given on the command line; 0: any free one."""
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; it takes 0 to 65535")
    return int(text)


def _shown(host: str) -> str:
    return bracketed("127.0.0.1" if host in ("0.0.0.0", "::") else host)


def answers(address: str, host: str) -> bool:
    """Whether the web server says that it is well."""
    request = urllib.request.Request(f"{address}healthz")
    try:
        with urllib.request.urlopen(request, timeout=2) as reply:
            return bool(reply.status == 200)
    except urllib.error.HTTPError as error:
        return error.code in (401, 403) and not is_loopback(host)
    except OSError:
        return False


def instance() -> dict[str, Any]:
    """What the running `up` of this folder says about itself; empty when none runs."""
    try:
        found: dict[str, Any] = json.loads((settings.VAR / "instance.json").read_text())
        os.kill(int(found["pid"]), 0)
    except (OSError, ValueError, KeyError):
        return {}
    return found


def write_instance(facts: dict[str, Any]) -> None:
    """Where commands of this folder find the running instance (private to its owner)."""
    path = Path(settings.VAR / "instance.json")
    own = path.with_suffix(".new")
    own.unlink(missing_ok=True)
    own.touch(mode=0o600)
    own.write_text(json.dumps(facts))
    own.replace(path)
