"""From an event that is written to the eyes of whoever watches: how long, and is it whole?

The events go through the real recorder (with its batches), the database, Redis,
the web server and a socket. “Seen” is in a browser the frame after the row stands in the
list, and for the further watchers, plain clients, the arrival of the message.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from dashboard import benching
from dashboard.benches._browser import chromium, page_of
from dashboard.benches._story import run_of
from dashboard.benches._watchers import Watcher
from dashboard.benches._writing import Writer, use_redis
from runs.bench import Bench, Figure, Say, percentile
from runs.models import Run

EVENTS = 400
RATE = 25.0
MANY = 50
P50, P95 = 60.0, 200.0
RECONNECTS = 10
_EYE = """() => {
  window.seenAt = {};
  let last = 0;
  const after = new MessageChannel();
  let shown = [];
  after.port1.onmessage = () => {
    const now = performance.timeOrigin + performance.now();
    for (const seq of shown.splice(0)) seenAt[seq] = now;
  };
  const look = () => {
    const newest = lifeline.list.shown.at(-1)?.seq ?? 0;
    if (newest > last && document.getElementById(`row-${newest}`)) {
      while (last < newest) shown.push((last += 1));
      after.port2.postMessage(0);
    }
    requestAnimationFrame(look);
  };
  look();
}"""


def measure(say: Say) -> list[Figure]:
    """Percentiles with one watcher and with fifty; losses over reconnects."""
    where = benching.address(settings.VAR)
    use_redis()
    figures = []
    with chromium() as browser:
        figures += _watched(browser, where, 0)
        say("measured with one browser")
        figures += _watched(browser, where, MANY)
        say(f"measured with {MANY} watchers and the browser")
    return figures + _reconnects(where)


def _watched(browser: Any, where: str, many: int) -> list[Figure]:
    run = run_of(0, ended=False)
    page = page_of(browser)
    page.goto(f"{where}runs/{run.permalink}/")
    page.wait_for_function("() => document.getElementById('live-state').textContent === 'live'")
    page.evaluate(_EYE)
    others = _others(where, run, many) if many else None
    web, before = benching.web_of(settings.VAR), 0.0
    before = benching.busy(web)
    writer = Writer(run, EVENTS, RATE)
    writer.start()
    writer.join()
    page.wait_for_function(f"() => seenAt[{EVENTS}]")
    spent = benching.busy(web) - before
    seen = page.evaluate("seenAt")
    page.context.close()
    delays = [seen[str(seq)] - at * 1000 for seq, at in writer.written.items()]
    count = f"{many} watchers" if many else "1 watcher"
    figures = _delays(f"{count}, in the browser", delays)
    if others is not None:
        told = json.loads(others.communicate(timeout=120)[0])
        figures += _delays(f"{count}, at their sockets", [one * 1000 for one in told["delays"]])
        figures.append(Figure(f"{count}: lost or repeated", told["wrong"], "", 0))
    share = spent / EVENTS / max(1, many + 1) * 1000
    name = f"{count}: processor time of the web server an event and watcher"
    return [*figures, Figure(name, round(share, 3), "ms")]


def _delays(lead: str, delays: list[float]) -> list[Figure]:
    return [
        Figure(f"{lead}: p50", round(percentile(delays, 0.5), 1), "ms", P50),
        Figure(f"{lead}: p95", round(percentile(delays, 0.95), 1), "ms", P95),
    ]


def _others(where: str, run: Run, many: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "dashboard.benches._watchers", where]
        + [f"/ws/runs/{run.permalink}/?after=0", str(many), str(EVENTS)],
        cwd=settings.BASE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def _reconnects(where: str) -> list[Figure]:
    """A client that hangs up ten times while events are written, and goes on from its last."""
    run, total = run_of(0, ended=False), 600
    writer = Writer(run, total, 150.0)
    writer.start()
    watcher = asyncio.run(_hang_up(where, run, total))
    writer.join()
    return [
        Figure(f"events over {RECONNECTS} reconnects", len(watcher.delays), "", total),
        Figure(f"lost or repeated over {RECONNECTS} reconnects", watcher.wrong, "", 0),
    ]


async def _hang_up(where: str, run: Run, total: int) -> Watcher:
    parts, watcher = urlsplit(where), Watcher()
    for turn in range(1, RECONNECTS + 2):
        path = f"/ws/runs/{run.permalink}/?after={watcher.at}"
        await watcher.open(parts.hostname or "127.0.0.1", parts.port or 80, path)
        await watcher.follow(total * turn // (RECONNECTS + 1))
        watcher.drop()
    return watcher


BENCH = Bench("How long from an event to the eyes of those who watch?", measure, up=True)
