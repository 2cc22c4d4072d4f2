"""Chrome trace JSON: the timeline's lanes as threads; opens in Perfetto and chrome://tracing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

from runs.export import Export
from runs.material import Material


class ChromeTrace(Export):
    """For trace viewers that know nothing of agents."""

    name = "chrome-trace"
    title = "Chrome trace JSON: opens in Perfetto"
    suffix = "trace.json"
    media = "application/json"

    def write(self, material: Material, out: IO[bytes]) -> None:
        """One process, a thread a lane."""
        document = {
            "displayTimeUnit": "ms",
            "otherData": {
                "title": material.title,
                "permalink": material.run["permalink"],
                "diagnosis": material.document["diagnosis"] or "",
            },
            "traceEvents": list(_events(material)),
        }
        out.write(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))


def _events(material: Material) -> Iterator[dict[str, Any]]:
    timeline = material.timeline
    end = float(timeline.get("duration") or 0.0)
    yield {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": material.title}}
    for number, lane in enumerate(timeline["lanes"], 1):
        base = {"pid": 1, "tid": number}
        name = "  " * int(lane.get("depth") or 0) + str(lane["label"])
        yield {**base, "ph": "M", "name": "thread_name", "args": {"name": name}}
        yield {**base, "ph": "M", "name": "thread_sort_index", "args": {"sort_index": number}}
        for bar in lane["bars"]:
            still = bar["end"] is None
            yield {
                **base,
                "ph": "X",
                "name": str(bar["label"] or bar["kind"]),
                "cat": str(bar["kind"]),
                "ts": bar["start"] * 1e6,
                "dur": max(0.0, (end if still else bar["end"]) - bar["start"]) * 1e6,
                "args": {"seq": bar["seq"], "tone": bar["tone"], "open": still},
            }
        for mark in lane["marks"]:
            yield {
                **base,
                "ph": "i",
                "s": "t",
                "name": str(mark["label"] or mark["kind"]),
                "cat": str(mark["kind"]),
                "ts": mark["t"] * 1e6,
                "args": {"seq": mark["seq"], "tone": mark["tone"]},
            }
    for t, rss, cpu in timeline.get("samples") or []:
        yield {"ph": "C", "pid": 1, "name": "memory", "ts": t * 1e6, "args": {"rss": rss}}
        yield {"ph": "C", "pid": 1, "name": "processor", "ts": t * 1e6, "args": {"cpu": cpu}}


EXPORT = ChromeTrace()
