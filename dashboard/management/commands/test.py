"""``test [--fast] [PYTEST ARGUMENTS]``: ruff, mypy, import-linter and pytest, on real parts.

The suite runs on SQLite with the embedded Redis; the parts that store and stream run
once more on PostgreSQL with a real Redis where both are found. It closes with pytest's line.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from dashboard.servers import NotFound, postgres, redis_server

STORED = {
    "not binary and not browser": ("runs/tests/flow", "dashboard/tests"),
    "browser": ("dashboard/tests/live/test_live_page.py",),
}
"""Marks and places of the tests that are about the database and the live stream."""

TESTED = {"DJANGO_SETTINGS_MODULE": "dashboard.settings_test"}
"""Said here: the environment that this command runs in comes before what pyproject.toml says."""

PARALLEL = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadfile", "--reruns", "1", "-rfEs"]
"""Most tests wait for processes and sockets: one worker more than cores, a file stays together.

See docs/decisions/reruns.md for why a failing test is run once more.
"""


class Command(BaseCommand):
    help = "Check the code and run the tests."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--fast", action="store_true", help="without browser and binaries")
        parser.add_argument("--no-postgres", action="store_true")
        parser.add_argument("rest", nargs="*", help="handed to pytest (after --)")

    def handle(self, *_: Any, **options: Any) -> None:
        os.chdir(settings.BASE)
        rest: list[str] = options["rest"]
        checks = [] if rest else self._checks()
        failed = [name for name, command in checks if not self._run(name, command)]
        if not (rest or options["fast"] or options["no_postgres"]) and not self._on_postgres():
            failed.append("pytest on PostgreSQL")
        for name, arguments in self._suites(rest, options["fast"]):
            if not self._run(name, [sys.executable, "-m", "pytest", *arguments]):
                failed.append(name)
        if failed:
            print(f"Failed: {', '.join(failed)}.", file=sys.stderr)
            raise SystemExit(1)

    def _suites(self, rest: list[str], fast: bool) -> list[tuple[str, list[str]]]:
        """Name and arguments of each pytest run; Playwright keeps a loop of its own running in
        its process, so that nothing else can share one with it."""
        if rest:
            return [("pytest", rest)]
        if fast:
            return [("pytest", ["-m", "not browser and not binary and not slow", *PARALLEL])]
        return [
            ("pytest in the browser", ["-m", "browser", *PARALLEL]),
            ("pytest", ["-m", "not browser", *PARALLEL]),
        ]

    def _checks(self) -> list[tuple[str, list[str]]]:
        tools = Path(sys.executable).parent
        return [
            ("ruff", [str(tools / "ruff"), "check", "."]),
            ("ruff format", [str(tools / "ruff"), "format", "--check", "."]),
            ("mypy", [sys.executable, "-m", "mypy"]),
            ("import-linter", [str(tools / "lint-imports")]),
        ]

    def _run(self, name: str, command: list[str], **env: str) -> bool:
        print(f"── {name}", flush=True)
        began = time.monotonic()
        code = subprocess.run(command, env={**os.environ, **TESTED, **env}).returncode
        print(f"   {name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        return code == 0

    def _on_postgres(self) -> bool:
        """The storing and streaming tests once more; True as well where there is no server."""
        try:
            with postgres() as database, redis_server() as redis:
                real = {"DATABASE_URL": database, "LIFELINE_TEST_REDIS_URL": redis}
                passed = [
                    self._run(
                        f"pytest on PostgreSQL, {marks}",
                        [sys.executable, "-m", "pytest", "-m", marks, *PARALLEL, *where],
                        **real,
                    )
                    for marks, where in STORED.items()
                ]
                return all(passed)
        except NotFound as missing:
            print(f"── pytest on PostgreSQL: left out, {missing}", flush=True)
            return os.environ.get("LIFELINE_REQUIRE_ALL") != "1"
