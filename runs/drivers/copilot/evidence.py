"""What proves which Copilot ran: a preload of ours inside the process; and its plain logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from runs.core.events import Draft, Kind

LONGEST = 1 << 16
SUMMARY = 400
_LOG_LINE = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]{8,16}Z) \[(\w{1,12})\] (.*)", re.DOTALL)

_PRELOAD = """"use strict";
// Notes which payload this process has loaded, and its Node. Changes nothing.
const fs = require("fs");
const { isMainThread } = require("worker_threads");
const place = PLACE;
if (isMainThread) {
  let told = "";
  const look = () => {
    let found = null;
    try {
      process.report.excludeNetwork = true;
      const objects = process.report.getReport().sharedObjects || [];
      found = objects
        .map((name) => /[\\\\/]pkg[\\\\/]([^\\\\/]+)[\\\\/]([^\\\\/]+)[\\\\/]/.exec(name))
        .find(Boolean);
    } catch {}
    const facts = {
      node: process.version,
      payload: found ? found[2] : "",
      platform: found ? found[1] : `${process.platform}-${process.arch}`,
    };
    const text = JSON.stringify(facts);
    if (text === told) return;
    told = text;
    try {
      fs.appendFileSync(place, JSON.stringify({ at: Date.now() / 1000, ...facts }) + "\\n");
    } catch {}
  };
  let pause = 250;
  const again = () => {
    look();
    if (pause < 16000) setTimeout(again, (pause *= 2)).unref();
  };
  setTimeout(again, pause).unref();
  process.on("exit", look);
}
"""


def preload(place: Path) -> str:
    """The script for ``--require``; it writes JSON lines to `place`, as the agent sees it."""
    return _PRELOAD.replace("PLACE", json.dumps(str(place)))


class _Plain:
    """What both readers share: a place in a file, and never raising."""

    def __init__(self, file: str, source: str) -> None:
        self.file, self.source = file, source
        self.facts: dict[str, Any] = {}

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """One draft for each line that is not blank."""
        if not line.strip():
            return []
        kind, at, native, data = self.read(line[:LONGEST].decode("utf-8", "replace").strip())
        return [
            Draft(
                kind=kind,
                source=self.source,
                file=self.file,
                at=at,
                data=data,
                native=native,
                line=number,
                offset=offset,
                length=len(line),
            )
        ]

    def end(self) -> Iterable[Draft]:
        """Nothing is held back."""
        return []

    def read(self, text: str) -> tuple[Kind, float | None, str, dict[str, Any]]:
        """Kind, time, native name and data of one line."""
        raise NotImplementedError


class LogReader(_Plain):
    """A plain log: ``TIME [LEVEL] words``, or just words (standard error)."""

    def read(self, text: str) -> tuple[Kind, float | None, str, dict[str, Any]]:
        """Kept for people; nothing is concluded from its words."""
        found = _LOG_LINE.match(text)
        if found is None:
            return Kind.OTHER, None, "line", {"type": "line", "summary": text[:SUMMARY]}
        at: float | None = None
        try:
            at = datetime.fromisoformat(found[1].replace("Z", "+00:00")).timestamp()
        except ValueError:
            pass
        level = found[2].lower()
        return Kind.OTHER, at, level, {"type": level, "summary": found[3][:SUMMARY]}


class RuntimeReader(_Plain):
    """What the preload wrote."""

    def read(self, text: str) -> tuple[Kind, float | None, str, dict[str, Any]]:
        """Node, payload and platform; a line that is something else is named."""
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return Kind.DAMAGE, None, "", {"what": "not-json", "repaired": False}
        at = given.get("at")
        data = {key: str(given.get(key, ""))[:80] for key in ("node", "payload", "platform")}
        self.facts.update({key: value for key, value in data.items() if value})
        return Kind.RUNTIME, float(at) if isinstance(at, int | float) else None, "preload", data
