"""A wrong variable, folder, port or address ends a command with one line that names it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client

from dashboard import doctor, environment, parts
from runs import machine

OUT_OF_ROOM = OSError(28, "No space left on device", "/var/x")


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("LIFELINE_CONCURRENCY", "abc", lambda: environment.whole("LIFELINE_CONCURRENCY", 2)),
        ("LIFELINE_CONCURRENCY", "0", lambda: environment.whole("LIFELINE_CONCURRENCY", 2, 1)),
        ("LIFELINE_CONCURRENCY", "1.5", lambda: environment.whole("LIFELINE_CONCURRENCY", 2)),
        ("LIFELINE_KEEP_DAYS", "nan", lambda: environment.number("LIFELINE_KEEP_DAYS", 0)),
        ("LIFELINE_KEEP_DAYS", "-1", lambda: environment.number("LIFELINE_KEEP_DAYS", 0)),
        ("LIFELINE_QUEUES", "codex", lambda: environment.pairs("LIFELINE_QUEUES")),
        ("LIFELINE_ALLOW_UNSEALED", "yes", lambda: environment.switch("LIFELINE_ALLOW_UNSEALED")),
        ("DATABASE_URL", "mysql://u:geheim@h/n", lambda: environment.database(Path("x"))),
        ("DATABASE_URL", "postgresql://u:geheim@h:x/n", lambda: environment.database(Path("x"))),
        ("REDIS_URL", "http://h", lambda: environment.redis("http://h")),
    ],
)
def test_a_wrong_value_is_named_and_no_password_shown(
    name: str,
    value: str,
    read: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        read()
    said = capsys.readouterr().err
    assert ended.value.code == 2 and name in said and "geheim" not in said
    assert said.count("\n") == 1


def test_right_values_are_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LIFELINE_QUEUES", "codex:mac, copilot:mac")
    assert environment.pairs("LIFELINE_QUEUES") == {"codex": "mac", "copilot": "mac"}
    monkeypatch.setenv("LIFELINE_CONCURRENCY", " 3 ")
    assert environment.whole("LIFELINE_CONCURRENCY", 1) == 3
    monkeypatch.delenv("DATABASE_URL", raising=False)
    odd = tmp_path / "100% é? #1" / "lifeline.sqlite3"
    assert environment.database(odd)["NAME"] == str(odd), "a path is no address"
    monkeypatch.setenv("LIFELINE_VAR", "")
    assert environment.folder("LIFELINE_VAR", tmp_path / "var") == (tmp_path / "var").resolve()


def test_a_folder_that_cannot_be_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LIFELINE_VAR", str(tmp_path / "file" / "var"))
    with pytest.raises(SystemExit):
        environment.folder("LIFELINE_VAR", tmp_path)
    said = capsys.readouterr().err
    assert str(tmp_path / "file" / "var") in said and "Set LIFELINE_VAR" in said


@pytest.mark.parametrize(
    ("words", "env", "code", "named"),
    [
        (("up", "--port", "99999"), {}, 2, "'99999' is no port"),
        (("doctor",), {"LIFELINE_CONCURRENCY": "two"}, 2, "LIFELINE_CONCURRENCY is 'two'"),
        (
            ("up", "--port", "0"),
            {"DATABASE_URL": "postgresql://u:geheim@127.0.0.1:1/n"},
            3,
            "DATABASE_URL",
        ),
    ],
)
def test_a_command_says_it_without_a_traceback(
    words: tuple[str, ...], env: dict[str, str], code: int, named: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=settings.BASE,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "dashboard.settings", **env}
        | {"LIFELINE_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    assert named in done.stderr
    assert "Traceback" not in done.stderr and "geheim" not in done.stderr


def test_what_the_machine_refuses_has_words() -> None:
    for error in (
        OUT_OF_ROOM,
        PermissionError(13, "Permission denied", "/var/x"),
        OSError(30, "Read-only file system", "/var/x"),
    ):
        said = machine.in_words(error)
        assert said is not None and "/var/x" in said.what and said.do
    full = machine.in_words(OperationalError("database or disk is full"))
    assert full is not None and "database or disk is full" in full.what and full.do
    assert machine.in_words(ValueError("ours")) is None
    assert machine.in_words(FileNotFoundError(2, "No such file", "/var/x")) is None


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/api/runs"])
@pytest.mark.parametrize("error", [OUT_OF_ROOM, OperationalError("database or disk is full")])
def test_a_page_says_it_too(path: str, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("django.db.models.query.QuerySet._fetch_all", refuse)
    client = Client(raise_request_exception=False, headers={"host": "testserver"})
    answer = client.get(path)
    assert answer.status_code == 503
    assert "full" in answer.content.decode() or "no room" in answer.content.decode()


def test_a_redis_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    trouble = parts.redis_trouble("redis://:geheim@127.0.0.1:1/0")
    assert "127.0.0.1:1" in trouble and "geheim" not in trouble
    assert parts.redis_trouble("redis://127.0.0.1:port/0")
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    found = doctor._redis()
    assert found.state == "missing" and "127.0.0.1:1" in found.says and found.do


def test_a_place_for_packages_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    shutil.copy(settings.BASE / "manage.py", tmp_path)
    (tmp_path / "requirements.txt").write_text("no-such-package-here==1\n")
    (tmp_path / ".venv").write_text("in the way")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "manage.py"), "doctor"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert str(tmp_path / ".venv") in done.stderr and "Traceback" not in done.stderr


def test_ctrl_c_while_packages_are_looked_at_is_no_traceback(tmp_path: Path) -> None:
    shutil.copy(settings.BASE / "manage.py", tmp_path)
    (tmp_path / "requirements.txt").write_text("no-such-package==1\n")
    python, begun = tmp_path / ".venv" / "bin" / "python", tmp_path / "begun"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n: > {begun}\nexec sleep 60\n")
    python.chmod(0o755)
    os.mkfifo(begun)
    started = subprocess.Popen(
        [sys.executable, "manage.py", "help"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    with begun.open():  # it waits for whom it has started
        os.killpg(started.pid, signal.SIGINT)
    assert "Traceback" not in started.communicate(timeout=60)[1]
    assert started.returncode == 130
