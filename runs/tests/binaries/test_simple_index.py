"""Dates of Python packages: a real pip and our own question, both to an index on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from runs import binaries, pypi, simple_index
from runs.tests.binaries.toy import Toy

pytestmark = pytest.mark.slow


def _file(version: str, at: str, **more: Any) -> dict[str, Any]:
    name = f"lifeline_toy-{version}-py3-none-any.whl"
    return {"filename": name, "url": name, "hashes": {}, "upload-time": at, **more}


FILES = [
    _file("1.2.3", "2026-03-02T00:00:00Z"),
    {**_file("1.2.3", "2026-03-01T00:00:00Z"), "filename": "lifeline-toy-1.2.3.tar.gz"},
    _file("2.0.0", "2026-05-01T00:00:00Z", **{"requires-python": ">=99"}),
    _file("1.9.0", "2026-04-01T00:00:00Z", yanked=True),
    {"filename": "../../x.whl", "upload-time": 7},
    "nonsense",
]


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A package index; what it was asked for, as `ACCEPT PATH`."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.headers['accept']} {self.path}")
            files = [file for file in FILES if isinstance(file, dict) and "url" in file]
            mine = self.headers["accept"] == simple_index.ACCEPT
            found = {"meta": {"api-version": "1.1"}, "name": "lifeline-toy", "versions": []}
            body = json.dumps({**found, "files": FILES if mine else files}).encode()
            self.send_response(200)
            self.send_header("content-type", simple_index.ACCEPT)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_address[1]}/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    pypi._configuration.cache_clear()
    yield asked
    server.shutdown()
    server.server_close()
    pypi._configuration.cache_clear()


def test_it_dates_what_pip_lists_and_names_what_does_not_fit(toy: Toy, index: list[str]) -> None:
    found = {item.version: item for item in binaries.versions("pytoy")}
    assert list(found) == ["1.2.3", "2.0.0"]
    assert found["1.2.3"].date == "2026-03-01T00:00:00Z" and found["1.2.3"].here
    assert found["2.0.0"].date == "2026-05-01T00:00:00Z" and not found["2.0.0"].here
    assert index[-1] == f"{simple_index.ACCEPT} /simple/lifeline-toy/"


def test_an_index_that_does_not_speak_json_costs_the_dates_only() -> None:
    nobody = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    found = simple_index.complete("lifeline-toy", ["1.0.0"], nobody)
    assert [(item.version, item.date, item.here) for item in found] == [("1.0.0", "", True)]


def test_it_asks_no_folder_as_an_index() -> None:
    settings = {"PIP_NO_INDEX": "1", "PIP_EXTRA_INDEX_URL": "file:///x https://y.invalid/simple"}
    assert simple_index._indexes(settings) == ["https://y.invalid/simple"]


@pytest.mark.parametrize(
    ("filename", "version"),
    [
        ("omnigent-0.12.0-py3-none-any.whl", "0.12.0"),
        ("omnigent-0.12.0-1-cp311-cp311-manylinux_2_17_x86_64.whl", "0.12.0"),
        ("hermes-agent-0.16.0.tar.gz", "0.16.0"),
        ("omnigent.whl", ""),
        ("omnigent-0.12.0.exe", ""),
    ],
)
def test_it_reads_the_version_of_a_file(filename: str, version: str) -> None:
    assert simple_index._version(filename) == version
