"""Matrix, sweeps, bisections, compare, agents and watch in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from dashboard.tests import factory
from dashboard.tests.live.site import Site
from dashboard.tests.live.test_pages import ALL, CROSSED, _sound, stage
from runs import bisections, grid, sweeps
from runs.models import Cell, Installation, News, Run, Sweep, Watch

__all__ = ["stage"]
pytestmark = [pytest.mark.browser]
NAMES = ("cut_stream_false_completion", "notice_lost", "healthy", "healthy")


@pytest.fixture
def shown(stage: Site) -> Iterator[Site]:
    """The site with three versions of a cell, one of them mixed."""
    for table in (Cell, Sweep, Watch, Installation):
        table.objects.all().delete()
    for version, name in zip(("1.0.81", "1.0.85", "1.0.85", "1.0.92"), NAMES, strict=True):
        run = factory.cut_run(version=version, diagnosis=name)
        grid.refresh(run.agent, run.version, run.scenario)
    yield stage


def test_the_matrix_is_accessible_and_shows_a_cells_runs(shown: Site, open_page: Any) -> None:
    page = open_page()
    page.goto(f"{shown.address}/matrix/?versions=1.0.81..,1.0.99&order=newest")
    _sound(page, ALL)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator(".cell > a").first.hover()
    card = page.locator("#cell-card")
    expect(card).to_contain_text("healthy")
    expect(card.locator("a[href^='/runs/']")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.get_by_role("button", name="Compare the chosen").click()
    words = page.locator(".chosen-words")
    expect(words).to_have_text("Choose two first.")
    page.get_by_label("Choose copilot 1.0.81 sse-cut").check()
    page.get_by_label("Choose copilot 1.0.92 sse-cut").check()
    expect(words).to_contain_text("↔")
    page.get_by_role("button", name="Compare the chosen").click()
    expect(page.locator("#timeline")).to_have_attribute("data-drawn", "1")
    expect(page.get_by_text("The cells")).to_be_visible()
    _sound(page, CROSSED)


def test_no_more_runs_are_sent_to_compare_than_it_takes(shown: Site, open_page: Any) -> None:
    factory.cut_run(version="1.0.99")
    page = open_page()
    page.goto(f"{shown.address}/compare/")
    boxes = page.get_by_role("checkbox")
    for place in range(5):
        boxes.nth(place).check()
    expect(page.locator(".chosen-words")).to_contain_text("5 are chosen: 4 at most")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("5 are chosen")
    boxes.nth(0).uncheck()
    expect(page.locator(".chosen-words")).to_have_text("4 chosen")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator(".letter").first).to_have_text("A")


def test_a_sweep_is_planned_in_words_and_followed_live(shown: Site, open_page: Any) -> None:
    page = open_page()
    page.goto(f"{shown.address}/sweeps/")
    page.get_by_label("agents and versions").fill("reference@1.0.0..")
    page.get_by_text("scenarios to choose from").click()
    page.get_by_role("button", name="sse-cut", exact=True).click()
    expect(page.locator("#sweep-planned")).to_contain_text("3 versions × 1 scenario × 1 = 3 runs")
    _sound(page, CROSSED)
    page.get_by_role("button", name="Start the sweep").click()
    expect(page.locator("h1")).to_have_text("reference, 3 versions × sse-cut")
    run = Sweep.objects.get().runs.order_by("pk").first()
    assert run is not None
    Run.objects.filter(pk=run.pk).update(status="ended", diagnosis="healthy", outcome="completed")
    expect(page.locator(".cell b")).to_have_text("healthy")
    expect(page.locator("[data-part=head]")).to_contain_text("1 of 3 runs ended")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_a_bisection_is_accessible_while_it_goes_and_when_it_is_found(
    shown: Site, open_page: Any
) -> None:
    made = bisections.create("reference", "0.4.1", "0.6.1", "sse-cut", "law:L2")
    sweeps.advance(made)
    page = open_page()
    page.goto(f"{shown.address}/bisects/{made.permalink}/")
    expect(page.locator(".verdict")).to_contain_text("now at 0.4.1")
    _sound(page, CROSSED)
    steps = [{"version": "0.5.0", "runs": [], "saw": "0 of 3"}]
    steps += [{"version": "0.6.0", "runs": [], "saw": "3 of 3"}]
    found = {"verdict": "found", "first": "0.6.0", "last_before": "0.5.0", "steps": steps}
    Sweep.objects.update(result=found, state="ended")
    expect(page.locator(".verdict")).to_contain_text("0.6.0 is the first version")
    _sound(page, CROSSED)


def test_the_log_of_an_installation_grows_while_it_is_read(shown: Site, open_page: Any) -> None:
    Installation.objects.create(agent="copilot", version="1.0.1", state="failed", log="no such")
    going = Installation.objects.create(
        agent="copilot", version="1.0.2", state="installing", log="one", progress="1 MB"
    )
    page = open_page()
    page.goto(f"{shown.address}/agents/copilot/")
    jobs = page.locator("[data-part=jobs]")
    jobs.locator("li", has_text="1.0.2").get_by_text("log", exact=True).click()
    jobs.locator("li", has_text="1.0.1").get_by_text("log", exact=True).click()
    expect(page.get_by_label("Log of 1.0.2")).to_have_text("one")
    Installation.objects.filter(pk=going.pk).update(log="one\ntwo", progress="2 MB")
    expect(jobs).to_contain_text("2 MB", timeout=15_000)
    expect(page.get_by_label("Log of 1.0.2")).to_have_text("one two")
    expect(page.get_by_label("Log of 1.0.2")).to_be_visible()
    expect(page.get_by_label("Log of 1.0.1")).to_be_hidden()


def test_agents_and_watches_are_accessible(shown: Site, open_page: Any) -> None:
    error = {"what": "npm failed.", "do": "See its log."}
    Installation.objects.create(
        agent="copilot", version="1.0.81", state="failed", log="a line", error=error
    )
    watch = Watch.objects.create(agent="copilot", scenario="sse-cut", on=True, pending="1.0.85")
    News.objects.create(watch=watch, before="1.0.81", after="1.0.85", words="exit 1 → 0")
    page = open_page()
    for address in ("/agents/", "/agents/copilot/", "/agents/reference/", "/watch/", "/compare/"):
        page.goto(f"{shown.address}{address}")
        _sound(page, CROSSED)
    page.goto(f"{shown.address}/matrix/cell/?agent=copilot&version=1.0.85&scenario=sse-cut")
    _sound(page, CROSSED)
