"""How the run page bears long runs, strange texts and narrow screens."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from dashboard.tests.live.site import Site, event, notes
from dashboard.tests.live.test_run_hands import opened

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>\u202e\u0007\x1b[31m"


def test_it_draws_and_lists_ten_thousand_events(site: Site, open_page: Any) -> None:
    run = site.run(started_ago=200, status="ended")
    rows = []
    for at in range(5000):
        call = {"call": f"c{at}", "tool": "read_file"}
        rows.append(event(run, 2 * at + 1, at / 50, "tool.started", "root", **call))
        rows.append(event(run, 2 * at + 2, at / 50 + 0.01, "tool.ended", "root", **call))
    site.write(run, rows)
    page = opened(open_page(), site.page(run))
    expect(page.locator("#event-count")).to_contain_text("5,000 of 10,000 shown")
    assert page.evaluate("lifeline.timeline.frames.count") > 0
    expect(page.locator("#thinned")).to_be_visible()
    assert page.evaluate("document.getElementsByTagName('*').length") <= 1500
    page.get_by_role("button", name="later events").click()
    expect(page.locator("#event-count")).to_contain_text("10,000 of 10,000 shown")
    page.evaluate("lifeline.list.scroller.scrollTop = 1e9")
    expect(page.locator("#row-10000")).to_be_visible()
    assert page.evaluate("document.getElementsByTagName('*').length") <= 1500


def test_it_searches_a_whole_long_run(site: Site, open_page: Any) -> None:
    run = site.run(started_ago=200, status="ended")
    rows = notes(run, 1, 7000)
    rows[6899].data["finish"] = "needle"
    site.write(run, rows)
    page = opened(open_page(), site.page(run, "?events=needle"))
    expect(page.locator("#event-count")).to_contain_text("0 of 7,000 shown")
    page.get_by_role("button", name="search the whole run").click()
    expect(page.locator("#row-6900")).to_be_visible()
    expect(page.locator(".event-more")).to_contain_text("found in the whole run")


def test_it_goes_to_an_event_that_the_page_does_not_hold(site: Site, open_page: Any) -> None:
    run = site.run(started_ago=200, status="ended")
    site.write(run, notes(run, 1, 9000))
    page = opened(open_page(), site.page(run, "#e8500"))
    expect(page.locator("#row-8500")).to_have_attribute("aria-selected", "true")
    page.evaluate("location.hash = '#e40'")
    expect(page.locator("#row-40")).to_have_attribute("aria-selected", "true")


def test_it_shows_what_agents_wrote_as_text_only(site: Site, open_page: Any) -> None:
    run = site.run(started_ago=5, status="ended")
    started = event(run, 1, 0.1, "agent.started", HOSTILE, name=HOSTILE, parent="root")
    failed = event(run, 2, 0.4, "error", HOSTILE, raw=HOSTILE, error_class="stream")
    failed.native = HOSTILE
    site.write(run, [started, failed])
    page = opened(open_page(), site.page(run, "#e2"))
    expect(page.locator("#row-2")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(page.locator("#inspector")).to_contain_text("<img src=x")
    assert "\u202e" not in page.locator("#event-grid").inner_text()
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone(site: Site, open_page: Any, dark: bool) -> None:
    run = site.run(started_ago=5, status="ended")
    long = "W" * 400
    site.write(run, [event(run, 1, 0.1, "agent.started", long, name=long, parent="root")])
    site.broken(run, "L2", long, [1])
    site.change(run, reported_version=long, error={"what": long, "do": long}, notes=long)
    page = opened(open_page(width=390, height=844, dark=dark), site.page(run, "#e1"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("canvas")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_its_inspector_is_a_sheet_on_a_phone(site: Site, open_page: Any) -> None:
    run = site.run(started_ago=5, status="ended")
    site.write(run, notes(run, 1, 40))
    page = opened(open_page(width=390, height=844), site.page(run))
    expect(page.locator("section.inspector")).to_be_hidden()
    page.locator("#row-3").click()
    expect(page.locator("#inspector .event-detail")).to_be_in_viewport()
    page.get_by_role("button", name="Close").click()
    expect(page.locator("section.inspector")).to_be_hidden()
    assert page.evaluate("lifeline.selection.seq") is None


def test_it_is_printed_light_whatever_the_theme(site: Site, open_page: Any) -> None:
    run = site.run(started_ago=5, status="ended")
    site.write(run, notes(run, 1, 4))
    page = opened(open_page(dark=True), site.page(run))
    ink = "getComputedStyle(document.querySelector('h1')).color"
    assert page.evaluate(ink) == "rgb(231, 233, 234)"
    page.emulate_media(media="print")
    assert page.evaluate(ink) == "rgb(28, 32, 36)"
    expect(page.locator("section.inspector")).to_be_hidden()
    expect(page.get_by_role("group", name="Actions")).to_be_hidden()
    page.wait_for_function("() => lifeline.timeline.palette.ink === 'rgb(28, 32, 36)'")


def test_every_event_is_on_paper_not_only_those_in_sight(site: Site, open_page: Any) -> None:
    run = site.run(started_ago=5, status="ended")
    site.write(run, notes(run, 1, 400))
    page = opened(open_page(dark=True), site.page(run))
    rows = page.locator(".event-space .event-row:not([hidden])")
    in_sight = rows.count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert in_sight < 60 and rows.count() == 400
    assert page.evaluate("lifeline.timeline.palette.ink") == "rgb(28, 32, 36)"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert rows.count() == in_sight
    assert page.evaluate("lifeline.timeline.palette.ink") == "rgb(231, 233, 234)"


def test_it_says_so_when_nothing_happened(site: Site, open_page: Any) -> None:
    page = open_page()
    page.goto(site.page(site.run(status="ended", event_count=0)))
    expect(page.locator(".timeline-empty")).to_have_text("Nothing happened in this run.")
    expect(page.locator("#events .empty")).to_have_text("This run has no events.")


def test_it_weighs_little(site: Site, open_page: Any) -> None:
    run, page = site.run(started_ago=9, status="ended"), open_page()
    site.write(run, notes(run, 1, 100))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    opened(page, site.page(run))
    weight = page.evaluate(
        "performance.getEntries().reduce((sum, entry) => sum + (entry.transferSize ?? 0), 0)"
    )
    assert weight <= 250 * 1024
    assert all(address.startswith((site.address, "ws://127.0.0.1")) for address in asked)


@pytest.mark.parametrize("dark", [False, True])
def test_it_is_clean_to_axe(site: Site, open_page: Any, dark: bool) -> None:
    run = site.run(started_ago=9, status="ended")
    rows = notes(run, 1, 30)
    rows.append(event(run, 31, 0.5, "error", "root", error_class="stream", raw="cut"))
    site.write(run, rows)
    site.broken(run, "L2", "root", [31])
    page = opened(open_page(dark=dark), site.page(run, "#e31"))
    expect(page.get_by_role("tab", name="parsed")).to_be_visible()
    found = Axe().run(page).response["violations"]
    told = [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found]
    assert told == []
