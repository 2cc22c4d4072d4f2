"""Hostile agents through the whole flow: a guard or a plain outcome, nothing left, all escaped."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest
from django.db import connection
from django.test import Client

from runs import execute, models, pythons, start, store
from runs.driver import Context, Launch
from runs.drivers.reference import Reference

pytestmark = pytest.mark.django_db(transaction=True)

Play = Callable[..., models.Run]


def _execute(pk: int) -> None:
    try:
        execute.execute(pk, "test")
    finally:
        connection.close()


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Run a Python program in the place of the reference agent."""

    def run(program: str, **sets: Any) -> models.Run:
        def launch(self: Reference, context: Context) -> Launch:
            return Launch(
                argv=(str(pythons.ours()), "-I", "-S", "-c", program),
                env={"LOGS": str(context.logs)},
            )

        monkeypatch.setattr(Reference, "launch", launch)
        made = start.create(
            "reference", "", "success", sets={"guards.deadline": 20, **sets}, queue=False
        )[0]
        with ThreadPoolExecutor(1) as pool:  # no loop runs there, whatever ran here before
            pool.submit(_execute, made.pk).result()
        made.refresh_from_db()
        return made

    return run


def test_a_flood_of_output_is_stopped(play: Play) -> None:
    run = play(
        "import sys\nwhile True: sys.stdout.write('x' * 1000 + chr(10))",
        **{"guards.output_mib": 4},
    )
    assert (run.status, run.outcome) == ("ended", "guard-output-cap")
    kept = sum(path.stat().st_size for path in store.folder(run).rglob("*") if path.is_file())
    assert kept < 8 << 20


def test_a_line_of_a_hundred_megabytes_is_named(play: Play) -> None:
    run = play(
        "import sys\nfor _ in range(100): sys.stdout.write('y' * (1 << 20))",
        **{"guards.deadline": 120},
    )
    assert run.outcome in ("invalid-event-evidence", "startup-failed")
    damage = models.Event.objects.filter(run=run, kind="damage").values_list("data", flat=True)
    assert any(row["what"] == "too-long" for row in damage)


def test_what_it_says_on_standard_error_is_read_whatever_its_driver_reads(play: Play) -> None:
    run = play(
        "import sys\nsys.stderr.write('why it broke\\n' + 'e' * (1 << 20))\nsys.exit(3)",
        **{"guards.deadline": 60},
    )
    assert (run.status, run.exit_code) == ("ended", 3), "it did not wait for a reader"
    kept = store.folder(run) / "sources" / "log.txt.zst"
    assert kept.is_file()
    words = models.Event.objects.filter(run=run, source="log").values_list("data", flat=True)
    assert words[0]["summary"] == "why it broke"


def test_it_ends_what_ignores_term_and_leaves_its_session(play: Play) -> None:
    program = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True: time.sleep(0.987654)
    os._exit(0)
print('{"half', flush=True)
while True: time.sleep(0.987654)
"""
    run = play(program, **{"guards.deadline": 2})
    assert (run.status, run.outcome) == ("ended", "timeout")
    words = [
        " ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])
    ]
    assert not any("0.987654" in line for line in words)


def test_it_stops_what_fills_the_disk(play: Play) -> None:
    program = """
import os, time
for number in range(40):
    with open(os.path.join(os.environ["HOME"], f"big{number}"), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1 << 29)
    time.sleep(0.1)
time.sleep(60)
"""
    run = play(program, **{"guards.deadline": 60})
    assert (run.status, run.outcome) == ("ended", "guard-output-cap")
    [fired] = models.Event.objects.filter(run=run, kind="guard.fired").values_list(
        "data", flat=True
    )
    assert fired["what"] == "disk" and fired["value"] > fired["limit"] == 4 << 30
    assert not (store.folder(run) / "home").exists()


def test_it_reads_no_link_in_place_of_a_session_file(play: Play) -> None:
    program = """
import os
os.symlink("/etc/passwd", os.path.join(os.environ["LOGS"], "session.jsonl"))
os.mkfifo(os.path.join(os.environ["LOGS"], "hooks.jsonl"))
"""
    run = play(program)
    assert run.status == "ended"
    assert not list((store.folder(run) / "sources").glob("session*"))


def test_what_it_writes_is_escaped_on_every_page(play: Play) -> None:
    program = """
import json, os, sys
evil = "<script>alert(1)</script>\\x1b[31m\\u202eevil"
out = sys.stdout.buffer
out.write(b"\\xff\\xfe\\x00 not utf-8\\n")
out.write(json.dumps({"type": evil, "agent": evil, "message": evil, "at": 1}).encode() + b"\\n")
out.write(evil.encode() + b"\\n")
"""
    run = play(program)
    assert run.status == "ended"
    client = Client(headers={"host": "testserver"})
    for path in ("", f"runs/{run.permalink}/", "?q=alert"):
        page = client.get(f"/{path}").content.decode()
        assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page
    for seq in models.Event.objects.filter(run=run).values_list("seq", flat=True):
        page = client.get(f"/runs/{run.permalink}/events/{seq}/").content.decode()
        assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page
