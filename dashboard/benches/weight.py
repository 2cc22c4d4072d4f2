"""What the page of a run weighs: bytes on the wire, requests, elements."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from dashboard import benching
from dashboard.benches._browser import chromium, page_of
from dashboard.benches._story import run_of
from runs import follow, start
from runs.bench import Bench, Figure, Say
from runs.models import Run

KIB, REQUESTS, NODES = 250.0, 12, 1_500
LONG = 10_000
_SUM = "performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0)"


def measure(say: Say) -> list[Figure]:
    """Of a real run of the reference agent, and of a long one."""
    runs = start.create("reference", "", "sse-cut")
    follow.to_the_end(runs, say)
    pages: dict[str, Run] = {"a run of the reference agent": runs[0]}
    pages[f"a run of {LONG:,} events"] = run_of(LONG)
    where = benching.address(settings.VAR)
    figures = []
    with chromium() as browser:
        for words, run in pages.items():
            figures += _of(browser, f"{where}runs/{run.permalink}/", words)
    return figures


def _of(browser: Any, address: str, words: str) -> list[Figure]:
    page = page_of(browser)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.wait_for_function("() => window.lifeline && lifeline.timeline.frames.first")
    page.wait_for_function("() => lifeline.store.last > 0")
    page.wait_for_timeout(1500)
    weight = page.evaluate(_SUM) / 1024
    nodes = page.evaluate("document.getElementsByTagName('*').length")
    return [
        Figure(f"{words}: transferred", round(weight, 1), "KiB", KIB),
        Figure(f"{words}: requests", len(asked), "", REQUESTS),
        Figure(f"{words}: elements", nodes, "", NODES),
    ]


BENCH = Bench("What does the page of a run weigh?", measure, up=True)
