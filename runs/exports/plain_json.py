"""The run's document with its scenario and all its events, as one JSON document."""

from __future__ import annotations

import json
from typing import IO

from runs.export import Export
from runs.material import Material


class PlainJson(Export):
    """For programs."""

    name = "json"
    title = "JSON: document, scenario, events"
    suffix = "json"
    media = "application/json"

    def write(self, material: Material, out: IO[bytes]) -> None:
        """The events one by one, so that a long run needs no memory."""
        head = {
            "lifeline": 1,
            "redacted": material.level,
            **material.document,
            "run": material.run,
            "snapshot": material.scenario,
            "intake": material.intake,
            "opinions": material.opinions,
        }
        text = json.dumps(head, ensure_ascii=False, indent=1)
        out.write(text[:-2].encode("utf-8", "replace") + b',\n "events": [')
        for number, event in enumerate(material.events()):
            line = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
            out.write((b",\n  " if number else b"\n  ") + line.encode("utf-8", "replace"))
        out.write(b"\n ]\n}\n")


EXPORT = PlainJson()
