"""``portray AGENT[@VERSION] SCENARIO FILE``: a picture of a real run's page, for the README.

Runs the scenario in an instance and a state folder of its own and takes the picture in
Chromium, 1280 pixels wide, light. Prints the page's heading. The browser tests call it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from dashboard import benching
from dashboard.benches._browser import chromium, page_of

DRAWN = "() => window.lifeline && lifeline.timeline.frames.first && lifeline.store.last > 0"


class Command(BaseCommand):
    help = "Run a scenario and take a picture of its page."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("agent", metavar="AGENT[@VERSION]")
        parser.add_argument("scenario", metavar="SCENARIO")
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument("--height", type=int, default=1500, help="pixels, default 1500")

    def handle(self, *_: Any, **options: Any) -> None:
        with benching.own_folder() as var, benching.instance(benching.environment(var)):
            done = subprocess.run(
                [sys.executable, "manage.py", "reproduce", "--json"]
                + [options["agent"], options["scenario"]],
                cwd=settings.BASE,
                env=benching.environment(var),
                stdout=subprocess.PIPE,
                text=True,
            )
            if not done.stdout:  # a wrong call: said on standard error already
                raise SystemExit(done.returncode)
            permalink = json.loads(done.stdout)["permalink"].strip("/").rpartition("/")[2]
            with chromium() as browser:
                page = page_of(browser)
                page.set_viewport_size({"width": 1280, "height": options["height"]})
                page.goto(f"{benching.address(var)}runs/{permalink}/")
                page.wait_for_function(DRAWN)
                page.wait_for_timeout(1500)
                options["file"].parent.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=str(options["file"]))
                self.stdout.write(" ".join(page.inner_text("h1").split()))
