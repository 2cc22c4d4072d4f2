"""`rejudge PERMALINK…` or `rejudge --all`: judge stored runs again, with today's laws."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from runs import models, verdict
from runs.management.base import DONE, NOT_MET, WRONG_CALL, StoringCommand


class Command(StoringCommand):
    """Needs no worker. Says what changed; exit 1 when a run could not be judged."""

    help = "Judge stored runs again, with today's laws."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which runs."""
        parser.add_argument("permalinks", nargs="*", metavar="PERMALINK")
        parser.add_argument("--all", action="store_true", help="every run that is over")

    def handle(self, *args: Any, **options: Any) -> None:
        """One line a run on standard output, only where something changed."""
        runs = self._chosen(options)
        code = DONE
        for run in runs:
            before = _said(run)
            try:
                verdict.rejudge(run)
            except Exception as trouble:
                self.say(f"{run.permalink} could not be judged: {type(trouble).__name__}.")
                code = NOT_MET
                continue
            if _said(run) != before:
                self.stdout.write(f"{run.permalink} {run}: {before} → {_said(run)}")
        raise SystemExit(code)

    def _chosen(self, options: dict[str, Any]) -> Iterable[models.Run]:
        over = models.Run.objects.exclude(status__in=models.Run.OPEN).order_by("pk")
        names = [name.strip("/").split("/")[-1] for name in options["permalinks"]]
        if bool(names) == options["all"]:
            self.fail(WRONG_CALL, "Name runs, or say --all.")
        if options["all"]:
            # No cursor stays open meanwhile: SQLite would refuse to write beside it.
            keys = list(over.values_list("pk", flat=True))
            return (models.Run.objects.get(pk=pk) for pk in keys)
        found = {run.permalink: run for run in over.filter(permalink__in=names)}
        missing = [name for name in names if name not in found]
        if missing:
            self.fail(WRONG_CALL, f"There is no run that is over: {', '.join(missing)}.")
        return [found[name] for name in dict.fromkeys(names)]


def _said(run: models.Run) -> str:
    laws = run.broken.strip() or "nothing broken"
    return f"{run.outcome or 'no outcome'}, {run.diagnosis or 'no diagnosis'}, {laws}"
