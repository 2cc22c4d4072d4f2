"""A Chromium for benches, and what its own clock says of the main thread's tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dashboard import doctor
from runs.errors import CannotRunHere, HarnessError

WHAT = "The browser's driver is not installed."
DO = "`manage.py test --fast` installs it; Chromium has to be there as well."


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; HarnessError where its driver is missing, CannotRunHere where it is."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise HarnessError(WHAT, DO) from None
    path = doctor.chromium()
    if not path:
        raise CannotRunHere("There is no Chromium.", "Install it (apt install chromium).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def page_of(browser: Any, *, still: bool = True) -> Any:
    """A fresh page of 1280 × 900; `still`: without motion, as some people ask for."""
    motion = "reduce" if still else "no-preference"
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion=motion)
    page = context.new_page()
    page.set_default_timeout(120_000)
    return page


@dataclass(frozen=True, slots=True)
class Task:
    """One task of the page's main thread, in milliseconds: by the wall, and by the processor."""

    wall: float
    busy: float


@contextmanager
def traced(browser: Any, page: Any) -> Iterator[list[Task]]:
    """Fills the list with the main thread's tasks of the block, when it is over."""
    tasks: list[Task] = []
    browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
    page.evaluate("() => performance.mark('traced')")
    try:
        yield tasks
    finally:
        events = json.loads(browser.stop_tracing())["traceEvents"]
        tasks += _tasks(events)


def _tasks(events: list[dict[str, Any]]) -> list[Task]:
    threads = {
        (event["pid"], event["tid"]) for event in events if event.get("name") == "FunctionCall"
    }
    return [
        Task(event["dur"] / 1000, event.get("tdur", event["dur"]) / 1000)
        for event in events
        if event.get("ph") == "X"
        and event.get("name") in ("RunTask", "ThreadControllerImpl::RunTask")
        and (event["pid"], event["tid"]) in threads
    ]
