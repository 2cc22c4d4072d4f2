"""The editor in a real browser: a scenario is built by hand, run live, and recovers."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from dashboard.tests.browser import open_page
from dashboard.tests.instance import Up, started

__all__ = ["open_page", "started"]

pytestmark = [pytest.mark.browser]
PAGES = (
    "scenarios/?q=nested",
    "scenarios/fan-out-mixed/",
    "scenarios/new?from=nested",
    "scenarios/import/",
    "laws/",
    "faults/",
)
LOOKS = ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"))
CROSSED = (LOOKS[0], LOOKS[3])
"""Enough for pages that are made of the same parts as others; axe takes long on long pages."""


def _sound(page: Page, looks: tuple[tuple[int, str], ...] = LOOKS) -> None:
    """No axe violation and no sideways scrolling, on a desk and on a phone, light and dark."""
    for width, theme in looks:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        found = Axe().run(page)
        assert found.violations_count == 0, f"{page.url} {width} {theme}\n{found.generate_report()}"
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wider <= 0, f"{page.url} is {wider} pixels wider than {width}"


def _toml(page: Page) -> Any:
    return page.get_by_label("The scenario as TOML")


def _build(page: Page) -> None:
    """Two children, the second one cut twice and then fine; by keyboard from the script on."""
    page.get_by_label("script", exact=True).select_option("delegate-many")
    page.get_by_label("name", exact=True).fill("second-cut-twice")
    first = page.get_by_role("button", name="child 2, call 1, attempt 1: answers, not broken")
    first.focus()
    page.keyboard.press("Enter")
    second = page.get_by_role("button", name="child 2, call 1, attempt 2: tries again, not broken")
    expect(second).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(second).to_be_focused()
    page.keyboard.press("Enter")
    expect(_toml(page)).to_have_value(TWICE)
    third = page.get_by_role("button", name="child 2, call 1, attempt 3: tries again, not broken")
    expect(third).to_be_visible()


TWICE = """name = "second-cut-twice"
question = "What happens when …?"
script = "delegate-many"
laws = ["L1", "L2", "L3"]

[[faults]]
fault = "sse-cut"
on = { caller = "child:2", attempt = "1-2" }
"""


def _stay_in_step(page: Page) -> None:
    """The text changes drawing and fields, the fields change the text; errors name the word."""
    _toml(page).fill(TWICE.replace("caller", "caler"))
    problem = page.get_by_label("Problems").get_by_role("listitem")
    expect(problem).to_contain_text("faults.0.on.caler")
    problem.get_by_role("button", name="Use caller").click()
    expect(page.locator("#editor-state")).to_have_text("valid")
    attempts = page.get_by_label("which attempts")
    attempts.fill("1-4")
    expect(_toml(page)).to_have_value(TWICE.replace("1-2", "1-4"))
    expect(page.get_by_role("button", name="child 2, call 1, attempt 5")).to_be_visible()
    page.get_by_role("button", name="child 2, call 1, attempt 3").press("Delete")
    expect(_toml(page)).to_have_value(TWICE)
    _toml(page).fill(TWICE + "\n[settings]\nchildren = 3\n")
    expect(page.get_by_role("rowheader", name="child 3")).to_be_visible()
    expect(page.get_by_label("children", exact=True)).to_have_value("3")
    page.get_by_role("button", name="Undo").click()
    _toml(page).fill(TWICE)
    expect(page.get_by_role("rowheader", name="child 3")).to_have_count(0)


def test_it_builds_two_children_the_second_cut_twice_and_sees_it_recover_live(
    started: Up,
    open_page: Any,
) -> None:
    page = open_page()
    for path in PAGES:
        page.goto(started.address + path)
        _sound(page, CROSSED)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(started.address + "scenarios/new")
    _build(page)
    _sound(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    _stay_in_step(page)
    page.get_by_role("button", name="Save and run").click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator(".live-state")).to_have_text("ended")
    run = started.call(f"runs/{page.url.rstrip('/').rpartition('/')[2]}")
    assert run["diagnosis"] == "healthy", run
    row = page.get_by_role("row").filter(has_text="lifeline-2").first
    expect(row).to_contain_text("3 attempts, 2 failed")
    page.goto(started.address + "scenarios/second-cut-twice/")
    expect(page.get_by_text("attempts 1–2 of every call of child 2")).to_be_visible()
