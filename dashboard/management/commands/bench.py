"""``bench [NAME …] [--json]``: measures what was promised and says whether it is met.

Each bench runs in a process of its own with a state folder of its own, on SQLite and
the embedded Redis, so that it never touches what is stored here. Exit codes: 0 all
budgets that could be measured are met, 1 one is missed, 2 a wrong call.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from dashboard import benches, benching
from fakes.registry import members
from runs import benches as runs_benches
from runs.bench import Bench
from runs.errors import HarnessError
from runs.management.base import DONE, NOT_MET, WRONG_CALL, migrate


def known() -> dict[str, Bench]:
    """All benches by name."""
    return members(runs_benches, "BENCH") | members(benches, "BENCH")


class Command(BaseCommand):
    help = "Measure what was promised, as ratios, counts and percentiles."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="default: all quick ones")
        parser.add_argument("--json", action="store_true")
        parser.add_argument("--list", action="store_true", help="only say which there are")

    def handle(self, *_: Any, **options: Any) -> None:
        found = known()
        if options["list"]:
            for name, bench in found.items():
                rest = " (only when named)" if bench.by_name else ""
                self.stdout.write(f"{name:<12} {bench.question}{rest}")
            return
        wrong = [name for name in options["names"] if name not in found]
        if wrong:
            print(f"No bench {wrong[0]!r}; there are {', '.join(found)}.", file=sys.stderr)
            raise SystemExit(WRONG_CALL)
        if benching.INSIDE in os.environ:
            self._inside(found[options["names"][0]])
            return
        # A told end is an end by the way out, which leaves no instance running.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        names = options["names"] or [name for name in found if not found[name].by_name]
        results = [self._one(name, found[name], options["json"]) for name in names]
        if options["json"]:
            document = {"machine": benching.machine(), "benches": results}
            self.stdout.write(json.dumps(document, indent=1, ensure_ascii=False))
        missed = any(figure["met"] is False for one in results for figure in one["figures"])
        raise SystemExit(NOT_MET if missed else DONE)

    def _one(self, name: str, bench: Bench, quiet: bool) -> dict[str, Any]:
        say(f"{name}: {bench.question}")
        load = os.getloadavg()[0]
        try:
            figures = benching.in_own_process(name, bench)
            trouble = ""
        except HarnessError as error:
            figures, trouble = [], str(error)
        result = {"name": name, "question": bench.question, "load": round(load, 1)}
        result |= {"figures": figures, "trouble": trouble}
        if not quiet:
            self.stdout.write("\n".join(table(result)) + "\n")
        return result

    def _inside(self, bench: Bench) -> None:
        """This process is the bench's own: measure, and nothing else on standard output."""
        migrate()
        settings.CONCURRENCY = 1
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # a browser's driver keeps a loop here
        try:
            figures = bench.measure(say)
        except HarnessError as error:
            self.stdout.write(json.dumps({"trouble": str(error)}))
            return
        self.stdout.write(json.dumps({"figures": [figure.as_dict() for figure in figures]}))


def say(words: str) -> None:
    """A line of progress."""
    print(words, file=sys.stderr, flush=True)


def table(result: dict[str, Any]) -> Iterable[str]:
    """The figures of one bench as lines of a Markdown table."""
    yield f"\n### {result['name']}\n\n{result['question']} (load {result['load']})\n"
    if result["trouble"]:
        yield f"Not measured: {result['trouble']}"
        return
    yield "| figure | value | budget | |\n|---|---|---|---|"
    for one in result["figures"]:
        word = {True: "met", False: "**missed**", None: ""}[one["met"]]
        bound = "≥" if one["floor"] else "≤"
        budget = "" if one["budget"] is None else f"{bound} {shown(one['budget'])} {one['unit']}"
        value = "–" if one["value"] is None else f"{shown(one['value'])} {one['unit']}"
        rest = " ".join(part for part in (word, one["note"]) if part)
        yield f"| {one['name']} | {value.strip()} | {budget.strip()} | {rest} |"


def shown(value: float) -> str:
    """A number as a person reads it."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"
