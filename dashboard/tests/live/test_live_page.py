"""The run page while its run lives, in a real browser, against a real server and Redis."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from playwright.sync_api import expect

from dashboard.tests.live.site import Site, event, notes

pytestmark = pytest.mark.browser

HELD = "lifeline.store.events.map(event => event.seq)"
ARRIVED = "count => lifeline.store.last >= count"


def test_it_shows_events_one_by_one_as_they_are_written(site: Site, open_page: Any) -> None:
    run, page = site.run(), open_page()
    page.goto(site.page(run))
    expect(page.locator("#live-state")).to_have_text("live")
    for attempt in range(1, 4):
        rows = [event(run, attempt, attempt / 10, "request.received", "child", caller="child:1")]
        rows[0].data["attempt"] = attempt
        site.write(run, rows)
        row = page.locator(f"#row-{attempt}")
        expect(row).to_contain_text(f"attempt {attempt}")
        assert page.locator("#event-grid [data-seq]:visible").count() == attempt
    expect(page.locator("#event-count")).to_contain_text("3 of 3 shown")


def test_it_draws_what_came_while_it_lives(site: Site, open_page: Any) -> None:
    run, page = site.run(), open_page()
    page.goto(site.page(run))
    site.write(run, [event(run, 1, 0.1, "agent.started", "child", name="child", parent="root")])
    lane = "lifeline.timeline.model.lanes.find(lane => lane.agent === 'child')"
    page.wait_for_function(f"() => {lane}")
    assert page.evaluate(f"{lane}.bars[0].end") is None
    site.write(run, [event(run, 2, 0.4, "agent.ended", "child", status="completed")])
    page.wait_for_function(f"() => {lane}.bars[0].end === 0.4")
    site.change(run, status="ended", outcome="completed")
    expect(page.locator("#live-state")).to_have_text("ended")


def test_it_says_to_readers_what_is_tried_again_and_how_it_ended(
    site: Site, open_page: Any
) -> None:
    run, page = site.run(), open_page()
    page.goto(site.page(run))
    expect(page.locator("#live-state")).to_have_text("live")
    where = {"call": 1, "caller": "child:1", "source": "provider", "request": "r3"}
    site.write(run, [event(run, 1, 0.1, "request.received", "child", attempt=3, **where)])
    expect(page.locator("#said")).to_have_text("attempt 3")
    site.change(run, status="ended", outcome="completed", diagnosis="notice_lost")
    expect(page.locator("#said")).to_contain_text("ended, never told, completed")


def test_it_shows_the_same_to_one_who_joins_late_and_one_who_is_cut_off_ten_times(
    site: Site, open_page: Any
) -> None:
    run, total = site.run(), 1500
    early, dropped = open_page(), open_page()
    for page in (early, dropped):
        page.goto(site.page(run))
        expect(page.locator("#live-state")).to_have_text("live")
    writer = threading.Thread(target=_write_slowly, args=(site, run, total))
    writer.start()
    late = None
    for turn in range(1, 11):
        dropped.wait_for_function(ARRIVED, arg=turn * 120)
        dropped.evaluate("lifeline.socket.socket.close(3001)")
        if turn == 5:
            late = open_page()
            late.goto(site.page(run))
    writer.join()
    assert late is not None
    for page in (early, dropped, late):
        page.wait_for_function(ARRIVED, arg=total)
        assert page.evaluate(HELD) == list(range(1, total + 1))
    expect(dropped.locator("#live-state")).to_have_text("live")


def _write_slowly(site: Site, run: Any, total: int) -> None:
    import time

    for first in range(1, total + 1, 15):
        site.write(run, notes(run, first, 15))
        time.sleep(0.02)
    site.disconnect()


def test_it_says_when_it_is_connecting_again_and_misses_nothing(
    lonely_site: tuple[Site, Any], open_page: Any
) -> None:
    site, _ = lonely_site
    run, page = site.run(), open_page()
    page.goto(site.page(run))
    site.write(run, notes(run, 1, 20))
    page.wait_for_function(ARRIVED, arg=20)
    site.stop(kill=True)
    expect(page.locator("#live-state")).to_contain_text("reconnecting")
    site.write(run, notes(run, 21, 20), poke=False)
    site.start()
    page.wait_for_function(ARRIVED, arg=40)
    expect(page.locator("#live-state")).to_have_text("live")
    assert page.evaluate(HELD) == list(range(1, 41))
    page.close()
    page.complaints.clear()  # the connections that were refused meanwhile


def test_it_stops_following_when_one_looks_back_and_offers_what_is_new(
    site: Site, open_page: Any
) -> None:
    run, page = site.run(started_ago=4), open_page()
    site.write(run, notes(run, 1, 300))
    page.goto(site.page(run))
    page.wait_for_function("() => lifeline.timeline.model.version > 0")
    page.keyboard.press("w")
    page.keyboard.press("a")
    assert page.evaluate("lifeline.timeline.following") is False
    page.evaluate("lifeline.list.scroller.scrollTop = 0")
    site.write(run, notes(run, 301, 12))
    expect(page.locator(".timeline-news")).to_have_text("12 new")
    expect(page.locator(".event-news")).to_have_text("12 new")
    page.keyboard.press(".")
    expect(page.locator(".timeline-news")).to_be_hidden()
    expect(page.locator(".event-news")).to_be_hidden()
    expect(page.locator("#row-312")).to_be_visible()
    assert page.evaluate("lifeline.timeline.following")
    site.write(run, notes(run, 313, 5))
    expect(page.locator("#row-317")).to_be_visible()


def test_it_says_which_attempt_it_is_and_how_long_it_is_silent(site: Site, open_page: Any) -> None:
    run, page = site.run(started_ago=30), open_page()
    site.write(run, notes(run, 1, 3))
    page.goto(site.page(run))
    expect(page.locator("#present")).to_contain_text("of 300 s")
    retry = {"attempt": 3, "of": 6, "delay": 60}
    site.write(run, [event(run, 4, 30.0, "model.retry", "child", **retry)])
    expect(page.locator("#present")).to_contain_text("attempt 3 of 6, next in")
    expect(page.locator("#pulse")).to_contain_text("attempt 3 of 6, next in")


def test_it_holds_the_end_of_a_long_run_that_goes_on(site: Site, open_page: Any) -> None:
    run, page = site.run(started_ago=100), open_page()
    site.write(run, notes(run, 1, 6000))
    page.goto(site.page(run))
    page.wait_for_function(ARRIVED, arg=6000)
    expect(page.locator("#event-count")).to_contain_text("5,000 of 6,000 shown")
    page.get_by_role("button", name="earlier events").click()
    expect(page.locator("#event-count")).to_contain_text("6,000 of 6,000 shown")
    assert page.evaluate(HELD) == list(range(1, 6001))


def test_it_says_that_a_run_was_deleted(site: Site, open_page: Any) -> None:
    run, page = site.run(), open_page()
    page.goto(site.page(run))
    expect(page.locator("#live-state")).to_have_text("live")
    run.__class__.objects.using(site.alias).filter(pk=run.pk).delete()
    expect(page.locator("#live-state")).to_have_text("deleted")
    page.close()
    page.complaints.clear()  # its parts are gone as well
