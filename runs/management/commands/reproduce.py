"""``reproduce AGENT[@VERSION] SCENARIO``: one scenario on one binary, from the command line.

Exit codes: 0 it ended (and ``--expect`` was met), 1 the expectation was not met or the
outcome is invalid or a guard, 2 a wrong call, 3 this host could not run it.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from runs import follow, models, report, start
from runs.errors import CannotRunHere, HarnessError, UnknownName
from runs.management.base import CANNOT, DONE, NOT_MET, WRONG_CALL, StoringCommand
from runs.management.words import add_json, add_repeat, add_sets, pairs
from runs.scenario import ScenarioError


class Command(StoringCommand):
    help = "Run one scenario on one binary and print what happened."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("agent", metavar="AGENT[@VERSION]")
        parser.add_argument("scenario", metavar="SCENARIO", help="a name or a .toml file")
        add_sets(parser)
        add_repeat(parser)
        parser.add_argument(
            "--expect",
            default="",
            metavar="OUTCOME",
            help="or a diagnosis: exit 1 for another",
        )
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            runs = self._create(options)
        except (UnknownName, ScenarioError) as error:
            self.fail(WRONG_CALL, str(error))
        except CannotRunHere as error:
            self.fail(CANNOT, str(error))
        except HarnessError as error:
            self.fail(WRONG_CALL, str(error))
        follow.to_the_end(runs, self.say)
        documents = [report.document(run) for run in runs]
        if options["json"]:
            self.document(documents[0] if options["repeat"] == 1 else {"runs": documents})
        else:
            for run in runs:
                self.stdout.write(report.table(run))
        raise SystemExit(max(self._code(run) for run in runs))

    def _create(self, options: dict[str, Any]) -> list[models.Run]:
        agent, version = start.split_agent(options["agent"])
        return start.create(
            agent,
            version,
            options["scenario"],
            sets=pairs(options["sets"]),
            repeat=options["repeat"],
            expect=options["expect"],
            queue=False,
        )

    def _code(self, run: models.Run) -> int:
        if run.status == models.Run.Status.ERRORED:
            self.say(f"{run.error.get('what', '')} {run.error.get('do', '')}")
            return CANNOT if run.error.get("kind") == "cannot-run-here" else NOT_MET
        if run.status != models.Run.Status.ENDED:
            return NOT_MET
        invalid = run.outcome.startswith(("invalid-", "guard-"))
        met = run.expect in ("", run.outcome, run.diagnosis)
        return DONE if met and (not invalid or run.expect == run.outcome) else NOT_MET
