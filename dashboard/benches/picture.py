"""A long run in a browser: when its overview is drawn, and what zoom and pan cost a frame."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings

from dashboard import benching
from dashboard.benches._browser import chromium, page_of, traced
from dashboard.benches._story import run_of
from runs import pictures
from runs.bench import Bench, Figure, Say, percentile

SIZES = (10_000, 100_000)
FIRST = 1.5
FRAME = 50.0
DRAWN = "() => window.lifeline && lifeline.timeline.frames.first"


def measure(say: Say) -> list[Figure]:
    """For each size: seconds to the overview, the longest frame by wall and by processor."""
    where = benching.address(settings.VAR)
    figures = []
    for size in SIZES:
        run = run_of(size)
        say(f"stored a run of {size:,} events")
        with chromium() as browser:
            figures += _of(browser, f"{where}runs/{run.permalink}/", size)
        began = time.process_time()
        pictures.forget(run)
        pictures.text_of(run)
        spent = time.process_time() - began
        name = f"{size:,} events: processor time to draw its data anew"
        figures.append(Figure(name, round(spent, 2), "s", note="once, when the run ends"))
    return figures


def _of(browser: Any, address: str, size: int) -> list[Figure]:
    page_of(browser).goto(address)  # the browser and the server have been asked once before
    page = page_of(browser)
    page.goto(address)
    first = page.wait_for_function(DRAWN).json_value() / 1000
    page.wait_for_function("() => lifeline.store.last > 0")
    page.wait_for_timeout(1000)
    page.evaluate("lifeline.timeline.frames = { worst: 0, count: 0 }")
    with traced(browser, page) as tasks:
        _hands(page)
    frames = page.evaluate("lifeline.timeline.frames")
    walls = [task.wall for task in tasks] or [0.0]
    busy = max((task.busy for task in tasks), default=0.0)
    lead = f"{size:,} events:"
    return [
        Figure(f"{lead} overview drawn after", round(first, 2), "s", FIRST),
        Figure(
            f"{lead} longest task by processor time",
            round(busy, 1),
            "ms",
            FRAME,
            note=f"of {frames['count']} frames",
        ),
        Figure(f"{lead} longest task by the wall", round(max(walls), 1), "ms", FRAME),
        Figure(
            f"{lead} tasks over {FRAME:.0f} ms by the wall", sum(one > FRAME for one in walls), ""
        ),
        Figure(f"{lead} longest drawing by the wall", round(frames["worst"], 1), "ms", FRAME),
        Figure(f"{lead} 99th percentile of tasks", round(percentile(walls, 0.99), 1), "ms"),
    ]


def _hands(page: Any) -> None:
    """Zoom in, along and out with the keys, then with the wheel, as a person does."""
    for key in ("w", "d", "a", "s", "f"):
        for _ in range(8 if key in "wdas" else 1):
            page.keyboard.press(key)
            page.wait_for_timeout(40)
    box = page.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    page.locator("canvas").focus()
    for step in (-120, 120):
        for _ in range(20):
            page.mouse.wheel(0, step)
            page.wait_for_timeout(20)
    page.wait_for_timeout(300)


BENCH = Bench("How does the run page bear a long run?", measure, up=True)
