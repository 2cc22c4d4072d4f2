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
        """A line on standard output for each run that changed, then how many there were."""
        judged = changed = failed = 0
        for run in self._chosen(options):
            said, before = _said(run), _verdicts(run)
            try:
                verdict.rejudge(run)
            except Exception as trouble:
                self.say(f"{run.permalink} could not be judged: {type(trouble).__name__}.")
                failed += 1
                continue
            judged += 1
            now = _verdicts(run)
            laws = [law for law in {**before, **now} if before.get(law) != now.get(law)]
            words = [f"{law} {before.get(law, '-')} → {now.get(law, '-')}" for law in laws]
            if _said(run) != said:
                words.insert(0, f"{said} → {_said(run)}")
            if words:
                changed += 1
                self.stdout.write(f"{run.permalink} {run}: {'; '.join(words)}")
        runs = "1 run was" if judged == 1 else f"{judged} runs were"
        self.stdout.write(f"{runs} judged anew, {changed or 'none'} changed.")
        raise SystemExit(NOT_MET if failed else DONE)

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


def _verdicts(run: models.Run) -> dict[str, str]:
    """What the findings say: each law with its verdicts, each once, in order."""
    found: dict[str, list[str]] = {}
    for law, verdict_ in run.findings.order_by("position").values_list("law", "verdict"):
        found.setdefault(law, []).append(verdict_)
    return {law: " and ".join(dict.fromkeys(said)) for law, said in found.items()}


def _said(run: models.Run) -> str:
    laws = run.broken.strip() or "nothing broken"
    return f"{run.outcome or 'no outcome'}, {run.diagnosis or 'no diagnosis'}, {laws}"
