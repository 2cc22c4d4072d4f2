"""``sweep``: agents × versions × scenarios × repeats from the command line.

Exit codes: 0 all runs ended (and the baseline, if given, holds), 1 reality differs from the
baseline or runs did not end, 2 a wrong call, 3 this host could not run it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from runs import baseline, follow, models, named, sweeps
from runs.errors import CannotRunHere, HarnessError
from runs.management.base import CANNOT, DONE, NOT_MET, WRONG_CALL, StoringCommand
from runs.management.words import add_json, add_repeat, add_sets, pairs
from runs.report import plain
from runs.scenario import ScenarioError

GAPS = 8
"""Gaps that a line shows."""


class Command(StoringCommand):
    help = "Run many scenarios on many binaries and print the matrix."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--agents",
            default="reference",
            metavar="AGENT@VERSIONS,…",
            help="as copilot@1.0.60,1.0.81..1.0.102,reference",
        )
        parser.add_argument("--scenarios", default="success,sse-cut", metavar="NAME,…")
        add_repeat(parser)
        add_sets(parser)
        parser.add_argument(
            "--only-missing", action="store_true", help="leave out what was run often enough before"
        )
        parser.add_argument(
            "--baseline", metavar="expected.toml", default="", help="what is known; else exit 1"
        )
        parser.add_argument(
            "--junit", metavar="out.xml", default="", help="write a file for CI as well"
        )
        parser.add_argument("--resume", metavar="PERMALINK", default="", help="go on with a sweep")
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["junit"]:
            self.check_output(options["junit"])
        try:
            expected = baseline.load(options["baseline"]) if options["baseline"] else None
            sweep = self._sweep(options)
        except CannotRunHere as error:
            self.fail(CANNOT, str(error))
        except (HarnessError, ScenarioError, ValueError, OSError) as error:
            self.fail(WRONG_CALL, str(error))
        follow.sweep_to_the_end(sweep, self.say)
        document = sweeps.document(sweep)
        differences = []
        if expected is not None:
            differences = baseline.compare(expected, document["cells"])
            document["differences"] = differences
        if options["junit"]:
            text = baseline.junit(document["cells"], differences, document["unanswered"])
            Path(options["junit"]).write_text(text)
        if options["json"]:
            self.document(document)
        else:
            self.stdout.write(table(document))
            for row in document["unanswered"]:
                self.stdout.write(f"no answer: {row['words']}")
            for words in dict.fromkeys(row["words"] for row in document["left_out"]):
                self.stdout.write(f"left out: {words}")
            for row in differences:
                self.stdout.write(f"differs: {row['words']}")
        ended = sweep.state == models.Sweep.State.ENDED and not document["unanswered"]
        raise SystemExit(DONE if ended and not differences else NOT_MET)

    def _sweep(self, options: dict[str, Any]) -> models.Sweep:
        if options["resume"]:
            sweep = models.Sweep.objects.filter(permalink=options["resume"]).first()
            if sweep is None or sweep.search:
                raise HarnessError(f"There is no sweep {options['resume']!r}.")
            sweeps.resume(sweep)
            return sweep
        return sweeps.create(
            named.binaries_of(options["agents"]),
            [name.strip() for name in options["scenarios"].split(",") if name.strip()],
            repeat=options["repeat"],
            sets=pairs(options["sets"]),
            only_missing=options["only_missing"],
        )


HEAD = (
    *("binary", "scenario", "n", "outcome", "diagnosis", "broken"),
    *("attempts", "gaps of the newest", "reasons given", "stdout | session", "exit"),
)


def table(document: dict[str, Any]) -> str:
    """The cells as text: what came of n runs, how they tried again, what was said of it."""
    lines = [HEAD, *(_line(cell) for cell in document["cells"])]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    rows = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([*rows, f"/sweeps/{document['permalink']}/"])


def _line(cell: dict[str, Any]) -> tuple[str, ...]:
    retry = cell.get("retry") or {}
    gaps = (retry.get("measured") or {}).get("gaps") or []
    reasons = retry.get("reasons") or []
    attempts = cell["attempts"] or []
    return (
        f"{cell['agent']}@{cell['version']}",
        cell["scenario"],
        str(cell["n"]),
        counted(cell["outcomes"]),
        counted(cell["diagnoses"]),
        " ".join(f"{law}×{n}" for law, n in cell["broken"].items()) or "–",
        "–".join(f"{value:g}" for value in dict.fromkeys(attempts)) or "–",
        ", ".join(f"{gap:.1f}" for gap in gaps[:GAPS]) + (" …" if len(gaps) > GAPS else "") or "–",
        plain(", ".join(reasons))[:60] or "–",
        counted(cell["terminals"]),
        counted(cell["exits"]),
    )


def counted(counts: dict[str, int]) -> str:
    """``completed 2, timeout 1``; a single one without its number."""
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{name} {n}" for name, n in counts.items()) or "–"
