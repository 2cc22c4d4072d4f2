"""``bisect AGENT --good V --bad V --scenario NAME --law L2``: the first version that shows it.

Exit codes: 0 found, 1 it cannot be told, 2 a wrong call, 3 this host could not run it.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from runs import bisections, follow, models, sweeps
from runs.errors import CannotRunHere, HarnessError
from runs.management.base import CANNOT, DONE, NOT_MET, WRONG_CALL, StoringCommand
from runs.management.words import add_json, add_repeat


class Command(StoringCommand):
    help = "Find the first version of an agent that shows a behaviour."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("agent", metavar="AGENT", nargs="?", default="")
        parser.add_argument("--good", metavar="VERSION", default="", help="does not show it")
        parser.add_argument("--bad", metavar="VERSION", default="", help="shows it")
        parser.add_argument("--scenario", metavar="NAME", default="sse-cut")
        parser.add_argument("--law", default="", help="the law that is broken, as L2")
        parser.add_argument("--outcome", default="")
        parser.add_argument("--diagnosis", default="")
        parser.add_argument("--expression", default="", help="as 'attempts.child > 6'")
        add_repeat(parser)
        parser.add_argument("--resume", metavar="PERMALINK", default="", help="go on with one")
        add_json(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            sweep = self._bisection(options)
        except CannotRunHere as error:
            self.fail(CANNOT, str(error))
        except (HarnessError, ValueError) as error:
            self.fail(WRONG_CALL, str(error))
        follow.sweep_to_the_end(sweep, self.say)
        document = sweeps.document(sweep)
        if options["json"]:
            self.document(document)
        else:
            self.stdout.write(block(sweep))
        raise SystemExit(DONE if document.get("verdict") == "found" else NOT_MET)

    def _bisection(self, options: dict[str, Any]) -> models.Sweep:
        if options["resume"]:
            found = models.Sweep.objects.filter(permalink=options["resume"]).first()
            if found is None or not found.search:
                raise HarnessError(f"There is no bisection {options['resume']!r}.")
            sweeps.resume(found)
            return found
        looks = [
            f"{kind}:{options[kind]}" for kind in ("law", "outcome", "diagnosis") if options[kind]
        ]
        looks += [options["expression"]] if options["expression"] else []
        if len(looks) != 1:
            raise HarnessError("Say one of --law, --outcome, --diagnosis or --expression.")
        if not (options["agent"] and options["good"] and options["bad"]):
            raise HarnessError("Say the agent, --good VERSION and --bad VERSION.")
        return bisections.create(
            options["agent"],
            options["good"],
            options["bad"],
            options["scenario"],
            looks[0],
            repeat=options["repeat"],
        )


def block(sweep: models.Sweep) -> str:
    """The bisection as text to paste."""
    search, result = sweep.search, sweep.result
    lines = [
        f"bisect {search['agent']} {search['good']} … {search['bad']}: {search['look_for']}",
        *(f"  {step['version']:<14} {step['saw']}" for step in result.get("steps", [])),
        f"{result['verdict']}: {result['reason']}" if result.get("verdict") else "no answer yet",
        f"/bisects/{sweep.permalink}/",
    ]
    return "\n".join(lines)
