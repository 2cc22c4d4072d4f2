"""Watches: off by default, a new version is run by itself, a change is told once and sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from runs import binaries, grid, models, watching
from runs.errors import HarnessError
from runs.models import News, Run, Watch
from runs.packages import Published

pytestmark = pytest.mark.django_db


class Hook(HTTPServer):
    """A webhook on loopback; `answer` is the status it gives."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.answer = 204
        self.got: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class Receiver(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append(json.loads(body))
        self.send_response(self.server.answer)
        self.send_header("Location", self.server.url + "/again")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def hook() -> Iterator[Hook]:
    server = Hook()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    known = ["1.0.0"]
    monkeypatch.setattr(
        binaries, "versions", lambda *_, **__: [Published(version) for version in known]
    )
    return known


def ended(version: str, diagnosis: str, broken: str = "") -> None:
    run = {"agent": "reference", "version": version, "scenario": "sse-cut"}
    Run.objects.create(
        **run, status="ended", diagnosis=diagnosis, broken=broken, outcome="completed", exit_code=0
    )
    grid.refresh(*run.values())


def new_watch(**fields: Any) -> Watch:
    watch = watching.create("reference", "sse-cut", repeat=2, **fields)
    watching.turn(watch, on=True)
    return watch


def test_it_does_nothing_while_it_is_off(published: list[str]) -> None:
    watch = watching.create("reference", "sse-cut")
    published.append("1.1.0")
    watching.look(watch.pk)
    watching.tick()
    assert not Run.objects.exists() and not Watch.objects.get().on


def test_it_runs_a_new_version_by_itself_once(published: list[str]) -> None:
    watch = new_watch()
    watching.look(watch.pk)
    assert not Run.objects.exists()  # nothing is new yet
    published += ["1.1.0", "1.2.0-1"]
    Watch.objects.update(asked_at=None)
    watching.look(watch.pk)
    watching.look(watch.pk)
    assert list(Run.objects.values_list("version", flat=True)) == ["1.1.0", "1.1.0"]
    watch.refresh_from_db()
    assert watch.pending == "1.1.0" and watching.settle(watch) is None


def test_it_tells_a_change_of_verdict_and_sends_it(published: list[str], hook: Hook) -> None:
    watch = new_watch(webhook=hook.url)
    ended("1.0.0", "failed_and_reported")
    ended("1.1.0", "cut_stream_false_completion", " L2 ")
    Watch.objects.update(pending="1.1.0")
    watching.tick()
    news = News.objects.get()
    assert (news.before, news.after, news.sent) == ("1.0.0", "1.1.0", "sent, 204")
    assert "failed and reported → false completion" in news.words
    (sent,) = hook.got
    assert sent["agent"] == "reference" and sent["change"] == news.words
    watch.refresh_from_db()
    assert watch.version == "1.1.0" and not watch.pending


def errored(version: str, **error: str) -> None:
    for _ in range(2):
        Run.objects.create(
            agent="reference", version=version, scenario="sse-cut", status="errored", error=error
        )


def test_it_tries_again_what_a_network_kept_from_running(published: list[str]) -> None:
    watch = new_watch()
    for tried in range(1, watching.TRIES + 1):
        errored("1.1.0", what="The registry cannot be reached.")
        Watch.objects.update(pending="1.1.0")
        watching.tick()
        watch.refresh_from_db()
        assert not watch.pending
        assert (watch.version == "1.1.0") == (tried == watching.TRIES)
    assert "without a verdict" in watch.said


def test_it_does_not_try_again_what_cannot_run_here(published: list[str]) -> None:
    watch = new_watch()
    errored("1.1.0", what="No package for this platform.", of="version")
    Watch.objects.update(pending="1.1.0")
    watching.tick()
    watch.refresh_from_db()
    assert watch.version == "1.1.0"


def test_it_is_silent_where_the_verdict_stays(published: list[str]) -> None:
    watch = new_watch()
    ended("1.0.0", "healthy")
    ended("1.1.0", "healthy")
    Watch.objects.update(pending="1.1.0")
    watch.refresh_from_db()
    assert watching.settle(watch) is None
    assert "the verdict is that of 1.0.0" in watch.said and not models.News.objects.exists()


def test_it_follows_no_redirect_and_survives_a_hook_that_is_gone(hook: Hook) -> None:
    hook.answer = 302
    assert watching.send(hook.url, {}) == "refused, 302"
    assert len(hook.got) == 1
    assert watching.send("http://127.0.0.1:9/", {}).startswith("not sent")


@pytest.mark.parametrize(
    "address",
    ["file:///etc/passwd", "ftp://x/", "http://me:word@x/", "//x", "http://", "http://x:y/"],
)
def test_it_takes_only_plain_web_addresses(address: str) -> None:
    with pytest.raises(HarnessError):
        watching.check_webhook(address)
