"""Options that several commands have, and reading what people write behind ``--set``."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.management.base import CommandParser

from runs.errors import UnknownName


def add_sets(parser: CommandParser) -> None:
    """``--set KEY=VALUE``, any number of times."""
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="sets",
        help="bend the scenario or an agent's option, as faults.0.attempt=all or "
        "agents.codex.form=exec; any number of times",
    )  # fmt: skip


def add_repeat(parser: CommandParser) -> None:
    """``--repeat N``."""
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of each, 1 to 100")


def add_json(parser: CommandParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="one JSON document, nothing else")


def pairs(given: Iterable[str]) -> dict[str, str]:
    """``KEY=VALUE`` texts as a mapping; UnknownName for one without ``=``."""
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UnknownName(f"--set {text!r} has no '='.", "Write --set KEY=VALUE.")
        found[key] = value
    return found
