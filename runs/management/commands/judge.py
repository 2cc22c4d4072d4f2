"""`judge PATH…`: reads attached files as one case and says which laws were broken."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from runs.core.law import Thresholds
from runs.transcript import Unreadable, read_case
from runs.transcripts._report import report, table

CLEAN, BROKEN, UNREADABLE = 0, 1, 2


def judge_paths(
    paths: list[str], settings: list[str] | None = None, *, incomplete: bool = False
) -> dict[str, Any]:
    """The report on files, a folder or an archive.

    `settings` are ``name=value`` of thresholds. Raises Unreadable (nothing to read, a limit)
    and ValueError (a wrong setting).
    """
    thresholds = Thresholds.of(read_thresholds(settings or []))
    case = read_case(paths, complete=False if incomplete else None, progress=_progress)
    return report(case, thresholds)


def read_thresholds(settings: list[str]) -> dict[str, float]:
    """Those that ``stall_after=300`` … name; ValueError names a wrong setting."""
    values: dict[str, float] = {}
    defaults = Thresholds()
    for setting in settings:
        name, equals, value = setting.partition("=")
        known = getattr(defaults, name, None) if name.isidentifier() else None
        if not equals or not isinstance(known, (int, float)):
            names = ", ".join(Thresholds.__dataclass_fields__)
            raise ValueError(f"{setting!r} is no threshold; NAME=NUMBER with one of: {names}.")
        try:
            values[name] = type(known)(float(value))
        except (ValueError, OverflowError):
            raise ValueError(f"{name} takes a number, not {value!r}.") from None
    return values


def _progress(name: str, done: int, size: int) -> None:
    print(f"{name}: {done * 100 // max(size, 1)} %", file=sys.stderr, flush=True)


class Command(BaseCommand):
    """Needs no worker, and the database only with ``--store``."""

    help = "Read transcripts (files, a folder, an archive) as one case and judge it."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Paths, output form, thresholds."""
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = "Exit: 0 nothing is broken, 1 something is, 2 the files cannot be read."
        parser.add_argument("paths", nargs="+", metavar="PATH")
        parser.add_argument("--json", action="store_true", help="one JSON document")
        parser.add_argument(
            "--incomplete", action="store_true", help="things happened after the files' end"
        )
        parser.add_argument(
            "--store", action="store_true", help="keep it as a run with a page of its own"
        )
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=NUMBER", dest="thresholds",
            help="a threshold; with its default one of: "
            + ", ".join(f"{name}={value:g}" for name, value in asdict(Thresholds()).items()),
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        """Judge, print, end with the exit code."""
        try:
            found = judge_paths(
                options["paths"], options["thresholds"], incomplete=options["incomplete"]
            )
        except (Unreadable, OSError, ValueError) as trouble:
            print(str(trouble), file=sys.stderr)
            raise SystemExit(UNREADABLE) from None
        if options["store"]:
            self._store(found, options)
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=1, ensure_ascii=True, default=str))
        else:
            self.stdout.write(table(found))
            if options["store"]:
                self.stdout.write(f"Stored: /runs/{found['permalink']}/")
        raise SystemExit(BROKEN if found["broken"] else CLEAN)

    def _store(self, found: dict[str, Any], options: dict[str, Any]) -> None:
        """Make a run of it and put its permalink into the report."""
        from runs import imports
        from runs.management.base import migrate

        migrate()
        try:
            run = imports.store_paths(
                options["paths"],
                complete=False if options["incomplete"] else None,
                thresholds=read_thresholds(options["thresholds"]),
            )
        except Unreadable as trouble:
            print(str(trouble), file=sys.stderr)
            raise SystemExit(UNREADABLE) from None
        found["permalink"] = run.permalink
