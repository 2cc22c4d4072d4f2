"""``binaries list|install|remove|register|pin|unpin``: what is on this machine's disk.

Exit codes: 0 done, 2 a wrong call (no such agent or version), 3 this host cannot do it
(no npm, no network, no package for this platform, a full disk).
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from runs import binaries, catalogue, shelf
from runs.binaries import Installed
from runs.driver import Binary
from runs.errors import CannotRunHere, HarnessError, UnknownName
from runs.management.base import CANNOT, WRONG_CALL
from runs.named import expand


class Command(BaseCommand):
    help = "List, install, remove and register the binaries of agents."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        listing = actions.add_parser("list", help="what is installed, and what is published")
        listing.add_argument("agent", nargs="?", default="")
        listing.add_argument("--refresh", action="store_true", help="ask the registry now")
        for name, help in (
            ("install", "install and prepare versions"),
            ("remove", "remove versions, or forget registered executables"),
            ("pin", "keep versions whatever the disk budget says"),
            ("unpin", "keep them no longer"),
        ):
            action = actions.add_parser(name, help=help)
            action.add_argument("what", nargs="+", metavar="AGENT@VERSION[..VERSION][,…]")
            action.add_argument("--json", action="store_true")
        register = actions.add_parser("register", help="take an executable of your own")
        register.add_argument("agent")
        register.add_argument("path", type=Path)
        for action in (listing, register):
            action.add_argument("--json", action="store_true")

    def handle(self, *_: Any, **options: Any) -> None:
        """Do it, and say it."""
        try:
            answer = getattr(self, f"do_{options['action']}")(options)
        except CannotRunHere as error:
            self.fail(CANNOT, error)
        except HarnessError as error:
            self.fail(WRONG_CALL, error)
        if options["json"]:
            self.stdout.write(json.dumps(answer, indent=1, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(self.lines(answer)))

    def fail(self, code: int, error: HarnessError) -> None:
        """End with this exit code and our words on standard error."""
        self.progress(str(error))
        raise SystemExit(code)

    def progress(self, words: str) -> None:
        """A line on standard error."""
        print(words, file=sys.stderr, flush=True)

    def do_list(self, options: dict[str, Any]) -> dict[str, Any]:
        """Installed ones of one agent or of all; published ones of the one that was named."""
        agent = options["agent"]
        answer: dict[str, Any] = {
            "folder": str(shelf.root()),
            "budget": binaries.budget(),
            "installed": [asdict(item) for item in binaries.installed(agent)],
        }
        if agent:
            refresh = True if options["refresh"] else None
            found = binaries.versions(agent, refresh=refresh)
            answer["published"] = [asdict(item) for item in found]
        return answer

    def do_install(self, options: dict[str, Any]) -> dict[str, Any]:
        """Each version in turn; the first that fails ends the command."""
        done = [
            binaries.ensure(agent, version, self.progress)
            for agent, version in self.wanted(options["what"], named=False)
        ]
        return {"installed": [self.binary(item) for item in done]}

    def do_register(self, options: dict[str, Any]) -> dict[str, Any]:
        """One executable, under a version's name of its own."""
        binary = binaries.register(options["agent"], options["path"])
        self.progress(f"Use it as {binary.agent}@{binary.version}.")
        driver = catalogue.driver(binary.agent)
        if driver.registers:
            seen = dict.fromkeys(map(str, (binary.folder, *driver.readonly(binary))))
            self.progress(f"A run is sealed: beside the system it sees {', '.join(seen)}.")
        return {"installed": [self.binary(binary)]}

    def do_remove(self, options: dict[str, Any]) -> dict[str, Any]:
        """Each version in turn."""
        wanted = self.wanted(options["what"])
        return {
            "removed": [f"{agent}@{version}" for agent, version in wanted],
            "freed": sum(binaries.remove(agent, version) for agent, version in wanted),
        }

    def do_pin(self, options: dict[str, Any], on: bool = True) -> dict[str, Any]:
        """Mark versions as kept."""
        wanted = self.wanted(options["what"])
        for agent, version in wanted:
            binaries.pin(agent, version, on)
        return {"pinned" if on else "unpinned": [f"{agent}@{name}" for agent, name in wanted]}

    def do_unpin(self, options: dict[str, Any]) -> dict[str, Any]:
        """Mark them so no longer."""
        return self.do_pin(options, on=False)

    def wanted(self, texts: list[str], named: bool = True) -> list[tuple[str, str]]:
        """Agents and versions as they were written; `named`: a version must be given."""
        found: list[tuple[str, str]] = []
        for text in texts:
            agent, _, version = text.partition("@")
            catalogue.driver(agent)
            if not version and named:
                raise UnknownName(f"{text} names no version.", "Write AGENT@VERSION.")
            chosen = expand(agent, version) if version else [binaries.newest(agent)]
            found += [(agent, item) for item in chosen]
        return found

    def binary(self, binary: Binary) -> dict[str, Any]:
        """A binary as JSON."""
        return {
            "agent": binary.agent,
            "version": binary.version,
            "path": str(binary.path),
            "sha256": binary.sha256,
            "registered": binary.registered,
        }

    def lines(self, answer: dict[str, Any]) -> list[str]:
        """The answer as lines for people."""
        rows = [
            _row(Installed(**item))
            if "size" in item
            else f"{item['agent']}@{item['version']}  {item['path']}"
            for item in answer.get("installed", [])
        ]
        if "installed" in answer and not rows:
            rows.append("Nothing is installed.")
        if "published" in answer:
            rows += ["", "Published:"]
            rows += map(_published, answer["published"])
        for word in ("removed", "pinned", "unpinned"):
            rows += [f"{word} {name}" for name in answer.get(word, [])]
        return rows


def _published(item: dict[str, Any]) -> str:
    rest = "" if item["here"] else "  no package for this platform"
    return f"  {item['version']:<16} {item['date'][:10]:<10}{rest}".rstrip()


def _row(item: Installed) -> str:
    marks = [
        word
        for word, holds in (
            ("in use", item.in_use),
            ("pinned", item.pinned),
            ("registered", item.registered),
            ("does not start", not item.starts),
        )
        if holds
    ]
    used = "never used"
    if item.used_at:
        used = f"used {datetime.fromtimestamp(item.used_at, UTC):%Y-%m-%d %H:%M} UTC"
    size = f"{item.size / 1e6:.0f} MB"
    return f"{item.agent}@{item.version:<20} {size:>8}  {used}  {', '.join(marks)}".rstrip()
