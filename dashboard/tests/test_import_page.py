"""Import and share in a real browser: drop, paste, axe, and the HTML file from disk."""

from __future__ import annotations

import base64
import json
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from dashboard import bounded
from dashboard.tests.browser import open_page
from dashboard.tests.instance import Up, started
from runs.management.commands.judge import judge_paths
from runs.tests.transcripts.helpers import RECORDED

__all__ = ["open_page", "started"]

pytestmark = [pytest.mark.browser]
CUT = RECORDED / "copilot/1.0.102/sse-cut"
DROP = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, data] of files) {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], name));
  }
  document.dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, bubbles: true}));
}"""


def _sound(page: Page) -> None:
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        found = Axe().run(page)
        assert found.violations_count == 0, f"{page.url} {theme}\n{found.generate_report()}"


def test_drop_and_paste_become_runs_and_a_link_is_shared(
    started: Up, open_page: Any, tmp_path: Path
) -> None:
    page = open_page()
    page.goto(f"{started.address}import/")
    _sound(page)
    files = [(path.name, base64.b64encode(path.read_bytes()).decode())
             for path in CUT.glob("*.jsonl")]  # fmt: skip
    page.evaluate(DROP, files)
    page.wait_for_url("**/runs/*/")
    expect(page.get_by_role("heading", name="What was imported")).to_be_visible()
    _sound(page)

    page.get_by_role("link", name="Share, export…").click()
    expect(page.locator("#preview-title")).to_be_visible()
    _sound(page)
    with page.expect_download() as saved:
        page.get_by_role("link", name="html html, redacted").click()
    saved.value.save_as(tmp_path / "run.html")
    page.get_by_role("button", name="Make a link").click()
    expect(page.get_by_role("heading", name="My links")).to_be_visible()
    _sound(page)
    page.get_by_role("link", name="open", exact=True).first.click()
    expect(page.get_by_role("heading", name="Truth against report")).to_be_visible()
    _sound(page)

    alone = open_page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(f"file://{tmp_path}/run.html")
    expect(alone.get_by_role("heading", name="Truth against report")).to_be_visible()
    assert len(asked) == 1

    page.goto(f"{started.address}import/")
    page.get_by_label("or paste text").fill("no log at all")
    page.complaints.clear()
    page.get_by_role("button", name="Read and judge").click()
    expect(page.get_by_role("alert")).to_contain_text("No known format in pasted.jsonl")
    page.complaints.clear()
    page.get_by_label("or paste text").fill((CUT / "session-events.jsonl").read_text())
    page.get_by_role("button", name="Read and judge").click()
    page.wait_for_url("**/runs/*/")
    assert json.loads(page.locator("#run-data").inner_text())["run"]["status"] == "ended"


def test_a_large_upload_goes_in_pieces_and_is_the_same(started: Up, open_page: Any) -> None:
    page = open_page()
    page.goto(f"{started.address}import/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(started.address)))
    page.evaluate("document.getElementById('bring').dataset.piece = '7000'")
    files = [(path.name, base64.b64encode(path.read_bytes()).decode())
             for path in sorted(CUT.iterdir()) if path.is_file()]  # fmt: skip
    page.get_by_label("or paste text").fill("what I saw")
    page.evaluate(DROP, files)
    page.wait_for_url("**/runs/*/")
    size = sum(path.stat().st_size for path in CUT.iterdir()) + len("what I saw")
    assert asked.count("import/pieces/") == size // 7000 + 1
    run = json.loads(page.locator("#run-data").inner_text())["run"]
    expected = judge_paths([str(CUT)])
    assert run["diagnosis"] == expected["diagnosis"]
    read = page.get_by_role("region", name="What was imported")
    for name in (*(path.name for path in CUT.iterdir()), "pasted.jsonl"):
        expect(read.get_by_text(name).first).to_be_visible()


def test_a_request_beyond_the_limit_is_not_kept_and_answered_in_words(started: Up) -> None:
    address = urlsplit(started.address)
    assert address.hostname
    for accept, wanted in (
        ("text/html", "<!doctype html>"),
        ("*/*", "The request is too large."),
        ("application/json", "{"),
    ):
        connection = HTTPConnection(address.hostname, address.port or 80, timeout=60)
        connection.request(
            "POST",
            "/import/",
            body=(bytes(1 << 20) for _ in range((bounded.LARGEST >> 20) + 1)),
            headers={"Content-Type": "multipart/form-data; boundary=x", "Accept": accept},
            encode_chunked=True,
        )
        answer = connection.getresponse()
        words = answer.read().decode()
        assert answer.status == 413 and words.startswith(wanted) and "judge PATH" in words
        connection.close()


@pytest.mark.parametrize(
    ("path", "headers", "status", "word"),
    [
        ("/compare/?runs=" + "a" * 300_000, {}, 414, "The address"),
        ("/compare/?runs=" + "a" * 10_000, {"Cookie": "a" * 10_000}, 200, "<!doctype"),
        ("/", {"Cookie": "a" * 20_000}, 431, "A header"),
    ],
)
def test_a_head_beyond_the_limit_is_answered_in_words(
    started: Up, path: str, headers: dict[str, str], status: int, word: str
) -> None:
    address = urlsplit(started.address)
    assert address.hostname
    connection = HTTPConnection(address.hostname, address.port or 80, timeout=60)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    assert (answer.status, answer.read().decode().startswith(word)) == (status, True)
    connection.close()
