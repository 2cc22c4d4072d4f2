"""What hands do on the run page, by key and by pointer; the address follows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from dashboard.tests.live.site import Site, event
from runs.models import Run

pytestmark = pytest.mark.browser

VIEW = "lifeline.timeline.view"


@pytest.fixture
def told(site: Site) -> Run:
    """An ended run: one child, three attempts cut, a false completion with two findings."""
    run = site.run(started_ago=20, status="ended", outcome="model-request-failed")
    rows = [
        event(run, 1, 0.1, "session.status", "root", status="running"),
        event(run, 2, 0.5, "agent.started", "child", name="child", parent="root"),
    ]
    for attempt in (1, 2, 3):
        where = {"call": 1, "attempt": attempt, "caller": "child:1", "source": "provider"}
        where["request"] = f"r{attempt}"
        start = float(attempt)
        rows.append(event(run, len(rows) + 1, start, "request.received", "child", **where))
        rows.append(
            event(run, len(rows) + 1, start, "fault.fired", "child", fault="sse-cut", **where)
        )
        where |= {"closed": "cut", "complete": False}
        rows.append(event(run, len(rows) + 1, start + 0.2, "request.ended", "child", **where))
    rows.append(event(run, 12, 4.0, "agent.ended", "child", status="completed"))
    rows.append(event(run, 13, 4.1, "notice.delivered", "root", child="child", raw="idle"))
    rows.append(event(run, 14, 9.0, "message.agent", "root", text_length=12, final=True))
    rows.append(event(run, 15, 9.1, "process.exited", source="process", code=0))
    site.write(run, rows)
    site.broken(run, "L2", "child", [11, 12])
    site.broken(run, "L3", "root", [13])
    return run


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    page.wait_for_function("() => lifeline.timeline.model.version > 0 && lifeline.store.last > 0")
    return page


def test_it_goes_through_events_by_key_and_the_address_and_back_button_follow(
    site: Site, told: Run, open_page: Any
) -> None:
    page = opened(open_page(), site.page(told))
    page.keyboard.press("j")
    assert page.url.endswith("#e1")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.url.endswith("#e2")
    expect(page.locator("#row-2")).to_have_attribute("aria-selected", "true")
    page.wait_for_timeout(800)  # quick steps are one step back; this is a new one
    page.locator("#row-12").click()
    assert page.url.endswith("#e12")
    page.go_back()
    assert page.evaluate("lifeline.selection.seq") == 2
    expect(page.locator("#row-2")).to_have_attribute("aria-selected", "true")


def test_it_opens_at_what_the_address_says(site: Site, told: Run, open_page: Any) -> None:
    page = opened(open_page(), site.page(told, "?range=1.5-3.5&events=kind:fault.fired#e7"))
    assert page.evaluate(VIEW) == [1.5, 3.5]
    expect(page.locator("#event-filter")).to_have_value("kind:fault.fired")
    expect(page.locator("#event-count")).to_contain_text("3 of 15 shown")
    expect(page.locator("#row-7")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#inspector")).to_contain_text("fault.fired")
    item = page.evaluate("lifeline.timeline.selected && lifeline.timeline.selected.lane.id")
    assert item == "caller:child:1"


def test_it_filters_as_one_types(site: Site, told: Run, open_page: Any) -> None:
    page = opened(open_page(), site.page(told))
    page.keyboard.press("/")
    page.keyboard.type("agent:child -kind:fault.fired complete", delay=5)
    expect(page.locator("#event-count")).to_contain_text("4 of 15 shown")
    page.wait_for_function("() => new URLSearchParams(location.search).get('events')")
    page.keyboard.press("Escape")
    expect(page.locator("#event-count")).to_contain_text("15 of 15 shown")
    assert page.evaluate("document.activeElement.id") == "event-grid"
    page.keyboard.press("/")
    page.keyboard.type("nothing has this")
    expect(page.locator("#events .empty")).to_have_text("No event matches this filter.")


def test_it_calls_agents_by_name_and_finds_them_by_it(site: Site, open_page: Any) -> None:
    run = site.run(started_ago=9, status="ended")
    started = event(run, 1, 0.1, "agent.started", "4bd9c2", name="Kuhn", parent="root")
    said = event(run, 2, 0.2, "message.agent", "4bd9c2", text_length=1, final=True)
    site.write(run, [started, said, event(run, 3, 0.3, "process.exited", code=0)])
    page = opened(open_page(), site.page(run, "?events=agent:kuhn#e2"))
    expect(page.locator("#event-count")).to_contain_text("2 of 3 shown")
    expect(page.locator("#row-2 .who")).to_have_text("Kuhn")
    expect(page.locator("#row-2 .what")).to_have_text("1 character, final")
    expect(page.locator("#inspector dd[data-agent]")).to_have_text("Kuhn 4bd9c2")


def test_it_goes_through_findings_and_lights_up_their_evidence(
    site: Site, told: Run, open_page: Any
) -> None:
    page = opened(open_page(), site.page(told))
    page.keyboard.press("]")
    assert page.url.endswith("#e12")
    expect(page.locator(".finding.lit")).to_contain_text("L2")
    expect(page.locator("#row-11")).to_have_class("event-row bad evident")
    assert page.evaluate("[...lifeline.timeline.evidence]") == [11, 12]
    page.keyboard.press("]")
    assert page.url.endswith("#e13")
    page.keyboard.press("[")
    assert page.url.endswith("#e12")
    page.keyboard.press("Escape")
    assert page.evaluate("lifeline.timeline.evidence.size") == 0
    page.locator(".finding a[data-seq='13']").press("Enter")
    expect(page.locator("#row-13")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#said")).to_contain_text("event 13: notice.delivered")


def test_it_zooms_pans_and_fits_by_key(site: Site, told: Run, open_page: Any) -> None:
    page = opened(open_page(), site.page(told))
    whole = page.evaluate(VIEW)
    page.keyboard.press("w")
    closer = page.evaluate(VIEW)
    assert closer[1] - closer[0] == pytest.approx(0.6 * (whole[1] - whole[0]))
    page.keyboard.press("a")
    left = page.evaluate(VIEW)
    assert left[0] < closer[0]
    assert left[1] - left[0] == pytest.approx(closer[1] - closer[0])
    page.keyboard.press("d")
    assert page.evaluate(VIEW) == pytest.approx(closer)
    page.wait_for_function("() => location.search.startsWith('?range=')")
    page.keyboard.press("s")
    assert page.evaluate(VIEW) == pytest.approx(whole)
    page.keyboard.press("w")
    page.keyboard.press("f")
    assert page.evaluate(VIEW) == pytest.approx(whole)
    assert "range" not in page.url


def test_it_zooms_to_a_drag_pans_a_shifted_one_and_selects_a_press(
    site: Site, told: Run, open_page: Any
) -> None:
    page = opened(open_page(), site.page(told))
    canvas = page.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    x = "t => lifeline.timeline.scale.x(t)"
    y = box["y"] + page.evaluate(
        "lifeline.timeline.layout.rows.find(row => row.lane.id === 'caller:child:1').middle"
    )
    page.mouse.click(box["x"] + page.evaluate(x, 2.1), y)
    expect(page.locator("#row-6")).to_have_attribute("aria-selected", "true")
    page.mouse.move(box["x"] + page.evaluate(x, 2), y)
    page.mouse.down()
    page.mouse.move(box["x"] + page.evaluate(x, 5), y, steps=4)
    page.mouse.up()
    assert page.evaluate(VIEW) == pytest.approx([2, 5], abs=0.05)
    page.mouse.move(box["x"] + page.evaluate(x, 3), y)
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(box["x"] + page.evaluate(x, 4), y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert page.evaluate(VIEW) == pytest.approx([1, 4], abs=0.05)
    page.mouse.wheel(0, -200)
    page.wait_for_function("() => lifeline.timeline.view[1] - lifeline.timeline.view[0] < 2.9")


def test_it_can_be_read_with_the_arrow_keys_alone(site: Site, told: Run, open_page: Any) -> None:
    page = opened(open_page(), site.page(told, "#e2"))
    canvas = page.locator("canvas")
    canvas.focus()
    page.keyboard.press("ArrowDown")
    spoken = page.locator("#timeline-said")
    expect(spoken).to_contain_text("attempts of child:1: attempt 1")
    page.keyboard.press("End")
    expect(spoken).to_contain_text("fault sse-cut")
    page.keyboard.press("ArrowLeft")
    expect(spoken).to_contain_text("attempt 3")
    page.keyboard.press("ArrowUp")
    expect(spoken).to_contain_text("child:")
    assert canvas.get_attribute("role") == "application"


def test_it_inspects_parsed_and_raw_in_tabs_that_stay(
    site: Site, told: Run, open_page: Any
) -> None:
    page = opened(open_page(), site.page(told, "#e3"))
    expect(page.get_by_role("tab", name="parsed")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="raw").click()
    page.keyboard.press("j")
    expect(page.locator("#inspector .event-detail")).to_have_attribute("data-seq", "4")
    expect(page.get_by_role("tab", name="raw")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="raw").press("ArrowLeft")
    expect(page.get_by_role("tabpanel", name="parsed")).to_contain_text("sse-cut")


def test_it_folds_idle_stretches_with_a_visible_break(
    site: Site, told: Run, open_page: Any
) -> None:
    page = opened(open_page(), site.page(told))
    wide = page.evaluate("lifeline.timeline.scale.x(8) - lifeline.timeline.scale.x(5)")
    page.keyboard.press("i")
    folded = page.evaluate("lifeline.timeline.scale.x(8) - lifeline.timeline.scale.x(5)")
    assert folded < wide / 4
    assert "fold=1" in page.url
    assert page.evaluate("lifeline.timeline.bend.folds.length") == 1


def test_it_copies_helps_and_turns_the_clock(site: Site, told: Run, open_page: Any) -> None:
    page = opened(open_page(), site.page(told, "#e12"))
    page.keyboard.press("c")
    page.wait_for_function("() => document.getElementById('said').textContent === 'Copied'")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert (copied["seq"], copied["kind"]) == (12, "agent.ended")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("next finding")
    page.keyboard.press("j")  # keys rest while the help is open
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert page.url.endswith("#e12")
    assert page.locator("#row-12 .time").inner_text() == "4.000"
    page.get_by_role("button", name="UTC").click()
    expect(page.locator("#row-12 .time")).to_contain_text(":")
    page.reload()
    expect(page.locator("#row-12 .time")).to_contain_text(":")
