"""What the commands share: they migrate what they store in, and speak on two streams."""

from __future__ import annotations

import fcntl
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

DONE, NOT_MET, WRONG_CALL, CANNOT = 0, 1, 2, 3


class StoringCommand(BaseCommand):
    """A command that needs the database: it is migrated before the command begins.

    With ``--json`` standard output is one JSON document and nothing else; all
    progress goes to standard error.
    """

    requires_system_checks: tuple[str, ...] = ()

    def execute(self, *args: Any, **options: Any) -> Any:
        """Migrate when something is to be migrated, then go on."""
        migrate()
        return super().execute(*args, **options)

    def say(self, words: str) -> None:
        """A line of progress on standard error."""
        print(words, file=sys.stderr, flush=True)

    def document(self, value: Any) -> None:
        """The one JSON document on standard output."""
        self.stdout.write(json.dumps(value, indent=1, ensure_ascii=False, default=str))

    def check_output(self, path: str) -> None:
        """End as a wrong call where no file can be written at `path`; nothing is made yet."""
        target = Path(path)
        if target.is_dir() or not os.access(target if target.exists() else target.parent, os.W_OK):
            self.fail(WRONG_CALL, f"{path} cannot be written. Give a file in a folder of yours.")

    def fail(self, code: int, words: str) -> None:
        """End the command with an exit code and a line on standard error."""
        print(words, file=sys.stderr, flush=True)
        raise SystemExit(code)


def migrate() -> None:
    """Bring the database up to date, quietly; does nothing when it is. One process at a time."""
    if not _is_behind():
        return
    with (Path(settings.VAR) / "migrating.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_behind():  # nobody else has done it meanwhile
            call_command("migrate", interactive=False, verbosity=0, stdout=io.StringIO())


def _is_behind() -> bool:
    """Whether a migration is still to be made."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
