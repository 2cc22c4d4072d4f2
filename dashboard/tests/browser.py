"""One Chromium for all browser tests of a session, started by the first that asks."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from dashboard import doctor

_started: list[Any] = []


def launched() -> Browser:
    """The session's browser. Playwright allows one of its synchronous kind a process."""
    if not _started:
        # Playwright keeps a loop in this thread; Django would take its own calls for asynchronous.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
        playwright = sync_playwright().start()
        browser = playwright.chromium.launch(
            executable_path=doctor.chromium(), args=["--no-sandbox"]
        )
        expect.set_options(timeout=60_000)  # machines that run tests are busy
        _started.extend((playwright, browser))
        atexit.register(playwright.stop)
        atexit.register(browser.close)
    browser = _started[1]
    assert isinstance(browser, Browser)
    return browser


class Complaints(list[str]):
    """What a page said on its console or threw, beside what the test does on purpose."""

    def listen(self, page: Page) -> None:
        """Collect from this page on."""
        page.on("pageerror", lambda error: self.append(str(error)))
        page.on(
            "console",
            lambda message: self.append(message.text) if message.type == "error" else None,
        )


@pytest.fixture
def open_page() -> Iterator[Any]:
    """Makes pages (`open_page(width=390, reduced=True)`), each a browser of its own.

    A page that complained on its console fails the test; `page.complaints` may be cleared.
    """
    made: list[tuple[Any, Complaints]] = []

    def make(
        *, width: int = 1280, height: int = 900, dark: bool = False, still: bool = True
    ) -> Page:
        context = launched().new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if still else "no-preference",
            permissions=["clipboard-read", "clipboard-write"],
        )
        page, complaints = context.new_page(), Complaints()
        complaints.listen(page)
        page.set_default_timeout(60_000)
        page.complaints = complaints  # type: ignore[attr-defined]
        made.append((context, complaints))
        return page

    yield make
    for context, _ in made:
        context.close()
    complained = [complaint for _, complaints in made for complaint in complaints]
    assert not complained, complained
