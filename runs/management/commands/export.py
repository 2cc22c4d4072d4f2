"""`export PERMALINK FORMAT`: a run as a file, redacted if it is to leave this machine."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from runs import export, material, models, repeat
from runs.errors import HarnessError
from runs.management.base import CANNOT, WRONG_CALL, StoringCommand
from runs.redact import LEVELS, Choice, RedactionFailed


class Command(StoringCommand):
    """Needs no worker. Nothing is written when redaction fails."""

    help = "Export a run as a file of one of many formats."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which run, which format, what is replaced, where to."""
        parser.add_argument("permalink", metavar="PERMALINK")
        parser.add_argument("format", metavar="FORMAT", help=", ".join(export.exports()))
        parser.add_argument(
            "--redact", default="full", choices=list(LEVELS), metavar="LEVEL",
            help="full (as it is, the default here), structure, custom (with --replace)",
        )  # fmt: skip
        parser.add_argument(
            "--replace", default="", metavar="NAME,NAME",
            help="custom: what is replaced (texts, or a detector)",
        )  # fmt: skip
        parser.add_argument(
            "-o", "--output", default="", metavar="FILE", help="else standard output"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write it; exit 2 for a wrong name, 3 when redaction failed."""
        if options["output"]:
            self.check_output(options["output"])
        try:
            choice = self._choice(options)
            chosen = export.named(options["format"])
            run = models.Run.objects.get(permalink=options["permalink"].strip("/").split("/")[-1])
            made = material.of(run, choice, command=repeat.command(run))
            with export.render(chosen, made) as found:
                self._put(found, options["output"])
        except models.Run.DoesNotExist:
            self.fail(WRONG_CALL, f"There is no run {options['permalink']!r}.")
        except RedactionFailed as trouble:
            self.fail(CANNOT, str(trouble))
        except HarnessError as trouble:
            self.fail(WRONG_CALL, str(trouble))

    def _choice(self, options: dict[str, Any]) -> Choice:
        names = [name for name in options["replace"].split(",") if name]
        if bool(names) != (options["redact"] == "custom"):
            self.fail(WRONG_CALL, "--replace says what --redact custom replaces: give both.")
        texts = "texts" in names
        return Choice.of(options["redact"], texts, [name for name in names if name != "texts"])

    def _put(self, found: Any, output: str) -> None:
        if output:
            with Path(output).open("wb") as out:
                shutil.copyfileobj(found, out)
            self.say(f"Wrote {output}")
        else:
            shutil.copyfileobj(found, sys.stdout.buffer)
            sys.stdout.buffer.flush()
