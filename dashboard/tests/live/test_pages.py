"""The pages in a real browser: accessible in both themes and on a phone, and usable by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from dashboard.tests import factory
from dashboard.tests.browser import launched
from dashboard.tests.live.site import Site
from runs.models import Event, Run

pytestmark = [pytest.mark.browser]
DESK, PHONE = (1280, 900), (390, 844)
ALL = ((DESK, "light"), (DESK, "dark"), (PHONE, "light"), (PHONE, "dark"))
CROSSED = (ALL[0], ALL[3])
"""Enough for pages that are made of the same parts as others."""
axe = Axe()


class ToSite:
    """Lets the factory write where the live site reads."""

    def __init__(self, alias: str) -> None:
        self.alias = alias

    def db_for_read(self, model: Any, **_: Any) -> str:
        return self.alias

    db_for_write = db_for_read


@pytest.fixture
def stage(site: Site, settings: Any) -> Iterator[Site]:
    """The live site, its list empty, with the factory writing into it."""
    settings.DATABASE_ROUTERS = [ToSite(site.alias)]
    settings.VAR = Path(site.environment["LIFELINE_VAR"])
    Run.objects.all().delete()
    yield site


def _sound(page: Page, looks: Any = ALL) -> None:
    """No axe violation and no sideways scrolling, in each look (size and theme)."""
    for (width, height), theme in looks:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme)
        found = axe.run(page)
        said = f"{page.url} {width} {theme}\n{found.generate_report()}"
        assert found.violations_count == 0, said
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wider <= 0, f"{page.url} is {wider} pixels wider than {width}"


@pytest.mark.parametrize("filled", [False, True])
def test_the_list_is_accessible_in_light_and_dark_on_a_desk_and_on_a_phone(
    stage: Site, open_page: Any, filled: bool
) -> None:
    if filled:
        factory.cut_run(tags=["flaky"], keep=True)
        factory.open_run()
        Run.objects.create(agent="codex", version="1", status="errored", error={"what": "No."})
    page = open_page()
    page.goto(f"{stage.address}/?q={'-agent:none+nope:x' if filled else ''}")
    _sound(page, ALL if filled else CROSSED)


@pytest.mark.parametrize("kind", ["cut", "open", "hostile"])
def test_a_run_is_accessible_in_light_and_dark_on_a_desk_and_on_a_phone(
    stage: Site, open_page: Any, kind: str
) -> None:
    run = getattr(factory, f"{kind}_run")()
    page = open_page()
    page.goto(stage.page(run))
    page.wait_for_load_state("load")
    _sound(page, ALL if kind == "cut" else CROSSED)


@pytest.mark.parametrize("name", ["agents", "scenarios", "faults", "laws", "nothing", "event"])
def test_every_other_page_is_accessible(stage: Site, open_page: Any, name: str) -> None:
    page = open_page()
    event = f"runs/{factory.cut_run().permalink}/events/20" if name == "event" else name
    page.goto(f"{stage.address}/{event}/")
    _sound(page, CROSSED)
    page.close()
    page.complaints.clear()  # the 404 is said on the console


def test_one_press_on_the_empty_page_leads_to_a_run(stage: Site, open_page: Any) -> None:
    page = open_page()
    page.goto(stage.address)
    page.get_by_role("button", name="Cut a stream of the reference agent").click()
    page.wait_for_url(re.compile(r"/runs/\w+/$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("reference")
    expect(page.locator("#run")).to_have_attribute("data-status", "queued")
    expect(page.locator(".notice").first).to_contain_text("No worker is listening.")


def test_the_version_field_offers_the_versions_of_the_chosen_agent(
    stage: Site, open_page: Any
) -> None:
    page = open_page()
    page.goto(f"{stage.address}/?agent=reference")
    version = page.get_by_label("version")
    expect(version).to_have_attribute("list", "versions-reference")
    page.get_by_label("agent", exact=True).select_option("copilot")
    expect(version).to_have_attribute("list", "versions-copilot")


def test_a_new_run_appears_in_the_list_by_itself_and_changes_there(
    stage: Site, open_page: Any
) -> None:
    page = open_page()
    page.goto(stage.address)
    run = stage.run(version="9.9.9")
    stage.poke(run)
    row = page.locator(f'[data-run="{run.permalink}"]')
    expect(row).to_contain_text("reference 9.9.9")
    expect(row).to_contain_text("running")
    stage.change(run, status="ended", outcome="completed", diagnosis="healthy")
    expect(row).to_contain_text("healthy")
    expect(page.locator("#live-state")).to_have_text("live")


def test_the_filter_is_found_by_slash_and_lives_in_the_address(stage: Site, open_page: Any) -> None:
    factory.cut_run()
    stage.run(agent="codex", version="2.2.2")
    page = open_page()
    page.goto(stage.address)
    page.keyboard.press("/")
    page.keyboard.type("agent:copilot law:L3")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"q=agent"))
    expect(page.locator(".run-row")).to_have_count(1)
    page.get_by_role("link", name="agent:copilot").click()
    expect(page.get_by_label("Filter runs")).to_have_value("law:L3")


def test_theme_and_clock_change_at_once_and_stay(stage: Site, open_page: Any) -> None:
    cut = factory.cut_run()
    page = open_page()
    page.goto(stage.page(cut))
    page.get_by_role("button", name="dark").click()
    page.get_by_role("button", name="UTC").click()
    html = page.locator("html")
    expect(html).to_have_attribute("data-theme", "dark")
    started = page.locator("#attempts [data-t]").first
    expect(started).to_have_text(re.compile(r"\d\d:\d\d:\d\d\.\d{3}"))
    page.reload()
    expect(html).to_have_attribute("data-theme", "dark")
    expect(html).to_have_attribute("data-clock", "utc")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 19, 21)"


def test_an_issue_a_command_and_an_id_are_copied_on_a_press(stage: Site, open_page: Any) -> None:
    cut = factory.cut_run()
    page = open_page()
    page.goto(stage.page(cut))

    def copied() -> str:
        return str(page.evaluate("navigator.clipboard.readText()"))

    page.get_by_text("Copy as").click()
    page.get_by_role("button", name="Copy", exact=True).first.click()
    expect(page.locator("#said")).to_have_text("Copied")
    assert copied().startswith("### copilot 1.0.81 · sse-cut: false completion")
    page.get_by_role("button", name="Copy", exact=True).nth(1).click()
    page.wait_for_function("navigator.clipboard.readText().then((t) => t.startsWith('python3'))")
    page.keyboard.press("Escape")
    expect(page.locator("#copy-issue")).to_be_hidden()
    page.locator(f'[data-copy="{cut.sha256}"]').first.click()
    page.wait_for_function(f"navigator.clipboard.readText().then((t) => t === '{cut.sha256}')")


def test_the_tables_and_actions_of_a_run_follow_it_to_its_end(stage: Site, open_page: Any) -> None:
    going = factory.open_run()
    page = open_page()
    page.goto(stage.page(going))
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.locator("#attempts tbody tr")).to_have_count(3)
    writer = factory.Writer(going)
    writer.rows = list(Event.objects.filter(run=going).order_by("seq"))
    before = len(writer.rows)
    factory.attempt(writer, 3)
    stage.write(going, writer.rows[before:])
    expect(page.locator("#attempts tbody tr")).to_have_count(4)
    ended = {"status": "ended", "outcome": "model-request-failed", "diagnosis": "notice_lost"}
    stage.change(going, **ended)
    expect(page.get_by_role("button", name="Delete")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.locator(".head")).to_contain_text("never told")


def test_the_run_page_is_light(stage: Site, open_page: Any) -> None:
    cut = factory.cut_run()
    page = open_page()
    page.goto(stage.page(cut))
    expect(page.locator("#live-state")).to_contain_text("ended")
    assert page.evaluate("document.querySelectorAll('*').length") <= 1500


def test_without_javascript_the_run_page_is_whole(stage: Site) -> None:
    cut = factory.cut_run()
    context = launched().new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(stage.page(cut))
        expect(page.locator("#truth tbody tr")).to_have_count(2)
        expect(page.locator("#attempts tbody tr")).to_have_count(8)
        expect(page.locator("#retries tbody tr")).to_have_count(6)
        assert page.locator("#event-rows tr").count() > 30
        page.locator("#findings a[data-seq]").first.click()
        assert re.search(r"#e\d+$", page.url)
        page.get_by_label("Filter events").fill("kind:fault.fired")
        page.get_by_role("button", name="Filter").click()
        expect(page.locator("#event-rows tr")).to_have_count(6)
        page.get_by_role("button", name="dark").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.get_by_role("button", name="Keep").click()
        expect(page.get_by_role("button", name="Kept ✓")).to_be_visible()
    finally:
        context.close()


def test_a_page_of_another_origin_gets_nothing_from_a_browser(stage: Site, open_page: Any) -> None:
    """The very page that an attacker would serve, on another port of this machine."""
    import http.server
    import threading

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>evil</title>")

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = open_page()
    try:
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        said = page.evaluate(
            """async (target) => {
              const body = "agent=reference&scenario=sse-cut&repeat=1";
              const form = new URLSearchParams(body);
              const tries = {
                read: () => fetch(`${target}/api/runs`).then((r) => r.text()),
                simple: () => fetch(`${target}/api/runs`, {method: "POST", body: "{}"}),
                form: () => fetch(target, {method: "POST", mode: "no-cors", body: form}),
                script: () => new Promise((done, fail) => {
                  const tag = document.createElement("script");
                  tag.src = `${target}/static/dashboard/base.js`;
                  tag.onload = () => done("loaded");
                  tag.onerror = () => fail(new Error("refused"));
                  document.head.append(tag);
                }),
                socket: () => new Promise((done, fail) => {
                  const socket = new WebSocket(`${target.replace("http", "ws")}/ws/runs/`);
                  socket.onopen = () => done("opened");
                  socket.onerror = () => fail(new Error("refused"));
                }),
              };
              const said = {};
              for (const [name, attempt] of Object.entries(tries)) {
                try { said[name] = String(await attempt()); } catch { said[name] = "refused"; }
              }
              return said;
            }""",
            stage.address,
        )
    finally:
        server.shutdown()
    # An opaque answer to a no-cors form is all a browser tells; that nothing started is below.
    assert {name for name, word in said.items() if word != "refused"} <= {"form"}
    assert not Run.objects.exists()
    page.close()
    page.complaints.clear()
