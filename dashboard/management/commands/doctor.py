"""``doctor``: what this machine can do, and what to do about what is missing."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from dashboard import doctor
from runs.management.base import DONE, NOT_MET, StoringCommand


class Command(StoringCommand):
    help = "Say what this machine can do for Lifeline, and what to do about what is missing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def execute(self, *args: Any, **options: Any) -> Any:
        """Without migrating first: a database that does not answer is a finding here."""
        return super(StoringCommand, self).execute(*args, **options)

    def handle(self, *_: Any, **options: Any) -> None:
        findings = doctor.examine()
        if options["json"]:
            self.document(doctor.as_json(findings))
        else:
            for line in doctor.lines(findings):
                self.stdout.write(line)
        raise SystemExit(DONE if doctor.able(findings) else NOT_MET)
