"""``test [--fast] [PYTEST ARGUMENTS]``: ruff, mypy, import-linter and pytest, on real parts.

The suite runs on SQLite with the embedded Redis; the parts that store and stream run
once more on PostgreSQL with a real Redis where both are found. It closes with pytest's line.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from dashboard.servers import NotFound, postgres, redis_server

STORED = {
    "not binary and not browser": ("runs/tests/flow", "dashboard/tests"),
    "browser": ("dashboard/tests/live/test_live_page.py",),
}
"""Marks and places of the tests that are about the database and the live stream."""

PYTEST = [sys.executable, "-m", "pytest"]

WHOLE = {"pytest in the browser": "browser", "pytest": "not browser"}
"""Name and marks of each pytest run; Playwright keeps a loop of its own running in its process,
so that nothing else can share one with it."""

FAST = {"pytest": "not browser and not binary and not slow"}

TESTED = {"DJANGO_SETTINGS_MODULE": "dashboard.settings_test"}
"""Said here: the environment that this command runs in comes before what pyproject.toml says."""

PARALLEL = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadfile", "-rfEs"]
"""Most tests wait for processes and sockets: one worker more than cores, a file stays together."""

ONCE_MORE = ["-rA", "--last-failed", "--last-failed-no-failures", "none", "--maxfail", "1"]
"""What failed, alone; see docs/decisions/reruns.md."""


class Command(BaseCommand):
    help = "Check the code and run the tests."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--fast", action="store_true", help="without browser and binaries")
        parser.add_argument("--no-postgres", action="store_true")
        parser.add_argument("rest", nargs="*", help="handed to pytest (after --)")

    def handle(self, *_: Any, **options: Any) -> None:
        os.chdir(settings.BASE)
        if options["rest"]:
            raise SystemExit(self._run("pytest", [*PYTEST, *options["rest"]]))
        failed = [name for name, command in self._checks() if self._run(name, command)]
        if not (options["fast"] or options["no_postgres"]) and not self._on_postgres():
            failed.append("pytest on PostgreSQL")
        suites = FAST if options["fast"] else WHOLE
        failed += [name for name, marks in suites.items() if not self._suite(name, marks)]
        if failed:
            print(f"Failed: {', '.join(failed)}.", file=sys.stderr)
            raise SystemExit(1)

    def _checks(self) -> list[tuple[str, list[str]]]:
        tools = Path(sys.executable).parent
        return [
            ("ruff", [str(tools / "ruff"), "check", "."]),
            ("ruff format", [str(tools / "ruff"), "format", "--check", "."]),
            ("mypy", [sys.executable, "-m", "mypy"]),
            ("import-linter", [str(tools / "lint-imports")]),
        ]

    def _suite(self, name: str, marks: str, *where: str, **env: str) -> bool:
        """One pytest run beside itself; what fails there is run once more, alone."""
        with tempfile.TemporaryDirectory(prefix="lifeline-test-") as remembered:
            command = [*PYTEST, "-m", marks, *where, "-o", f"cache_dir={remembered}"]
            code = self._run(name, [*command, *PARALLEL], **env)
            if code == pytest.ExitCode.TESTS_FAILED:
                code = self._run(f"{name}: what failed, alone", [*command, *ONCE_MORE], **env)
        return code == 0

    def _run(self, name: str, command: list[str], **env: str) -> int:
        print(f"── {name}", flush=True)
        began = time.monotonic()
        code = subprocess.run(command, env={**os.environ, **TESTED, **env}).returncode
        print(f"   {name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        return code

    def _on_postgres(self) -> bool:
        """The storing and streaming tests once more; True as well where there is no server."""
        try:
            with postgres() as database, redis_server() as redis:
                real = {"DATABASE_URL": database, "LIFELINE_TEST_REDIS_URL": redis}
                passed = [
                    self._suite(f"pytest on PostgreSQL, {marks}", marks, *where, **real)
                    for marks, where in STORED.items()
                ]
                return all(passed)
        except NotFound as missing:
            print(f"── pytest on PostgreSQL: left out, {missing}", flush=True)
            return os.environ.get("LIFELINE_REQUIRE_ALL") != "1"
