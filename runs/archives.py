"""Lifeline's own archive, read back: the same events with the same numbers, judged anew.

Its judgement is not believed: it is made again from the events. What the manifest says
of the run is checked field by field; scenario and thresholds pass the scenario's reader.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from runs import catalogue, models, start
from runs.core.events import KINDS, Kind
from runs.recorder import clean_json, clean_text
from runs.scenario import Scenario, ScenarioError
from runs.transcript import Attached, Unreadable

FORMAT = 1
MANIFEST, EVENTS = "manifest.json", "events.jsonl"
_FOLDERS = ("sources", "bodies")
_DO = "Export the run again."
LINE_LIMIT = 8 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """The checked beginning of an archive."""

    data: dict[str, Any]


def recognise(files: list[Attached]) -> Manifest | None:
    """The manifest, if these files are an archive of ours with its events."""
    by_name = {file.name: file for file in files}
    if MANIFEST not in by_name or EVENTS not in by_name:
        return None
    return _manifest(by_name[MANIFEST].path)


def _manifest(path: Path) -> Manifest | None:
    if path.stat().st_size > 64 << 20:
        return None
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or "lifeline" not in data or "what" not in data:
        return None
    if data["lifeline"] != FORMAT:
        raise Unreadable(
            f"This archive has format {str(data['lifeline'])[:20]}; this Lifeline reads {FORMAT}.",
            "Use the version of Lifeline that wrote it, or attach its sources/ alone.",
        )
    return Manifest(data)


def place(name: str) -> PurePosixPath:
    """Where a file of an archive lies in the run's folder."""
    pure = PurePosixPath(name)
    return pure if pure.parts[0] in _FOLDERS else PurePosixPath("archive") / pure


def restore(run: models.Run, base: Path) -> None:
    """Fill the run from the archive that lies in its folder."""
    from runs.imported import write

    folder = base / "archive"
    manifest = _manifest(folder / MANIFEST)
    assert manifest is not None  # it was recognised before it was laid here
    _describe(run, manifest.data)
    write(run, _rows(run.pk, folder / EVENTS))
    (folder / EVENTS).unlink()


def _describe(run: models.Run, data: dict[str, Any]) -> None:
    given = data.get("run")
    said: dict[str, Any] = given if isinstance(given, dict) else {}
    agent, version = str(said.get("agent") or ""), str(said.get("version") or "")
    run.agent = clean_text(agent, 32) or "unknown"
    run.version = version if start.VERSION.fullmatch(version) else ""
    run.reported_version = clean_text(str(said.get("reported_version") or ""), 64)
    run.sha256 = clean_text(str(said.get("sha256") or ""), 64)
    run.started_at, run.ended_at = _moment(said.get("started_at")), _moment(said.get("ended_at"))
    run.notes = clean_text(str(said.get("notes") or ""), 20_000)
    run.snapshot = _scenario(data.get("scenario"))
    run.scenario = str(run.snapshot.get("name") or "")[:80]
    for key in ("options", "runtime", "sealed"):
        if isinstance(said.get(key), dict):
            setattr(run, key, clean_json(said[key]))
    judgeable = data.get("what") == "run" and agent in catalogue.drivers()
    complete = said.get("complete")
    run.summary = {
        **({"complete": complete} if isinstance(complete, bool) else {}),
        "intake": {
            "archive": {
                "outcome": judgeable,
                "permalink": clean_text(str(said.get("permalink") or ""), 32),
                "redacted": clean_text(str(data.get("redacted") or ""), 20),
            },
            **_intake(data),
        },
    }


def _intake(data: dict[str, Any]) -> dict[str, Any]:
    kept = data.get("intake")
    found = clean_json(kept) if isinstance(kept, dict) else {}
    return {
        "formats": _dicts(found.get("formats")),
        "damage": _dicts(found.get("damage")),
        "missing": [str(one) for one in _list(found.get("missing"))],
        "left_out": [
            [str(one) for one in pair] for pair in _list(found.get("left_out"))
            if isinstance(pair, list) and len(pair) == 2
        ],
        "facts": {},
        "damaged": len(_dicts(found.get("damage"))),
        "files": len(_dicts(found.get("formats"))),
        "folded": 0,
    }  # fmt: skip


def _list(value: Any) -> list[Any]:
    return value[:500] if isinstance(value, list) else []


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in _list(value) if isinstance(one, dict)]


def _scenario(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict) or not given:
        return {}
    try:
        return dict(Scenario.read(given).as_dict())
    except ScenarioError as wrong:
        raise Unreadable(f"The scenario of this archive is not valid: {wrong}", _DO) from None


def _moment(text: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def _rows(run_id: int, path: Path) -> Iterator[models.Event]:
    """The events line by line; a damaged line ends the import, with its number."""
    last = 0
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LINE_LIMIT), b""), 1):
            row = _row(run_id, line, last)
            if row is None:
                raise Unreadable(f"{EVENTS}:{number} of this archive is damaged.", _DO)
            last = row.seq
            yield row
    if not last:
        raise Unreadable(f"{EVENTS} of this archive is empty.", _DO)


def _row(run_id: int, line: bytes, last: int) -> models.Event | None:
    try:
        record = json.loads(line)
        kind = Kind(record["kind"])
        seq, t = record["seq"], record["t"]
        data = record["data"]
        whole = isinstance(seq, int) and last < seq < 1 << 31 and isinstance(data, dict)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not whole or not (t is None or _finite(t)):
        return None
    return models.Event(
        run_id=run_id,
        seq=seq,
        t=t,
        kind=kind.value,
        agent=_text(record, "agent", 200),
        source=_text(record, "source", 32),
        file=_text(record, "file", 400),
        line=_number(record.get("line")),
        pointer=_text(record, "pointer", 400),
        native=_text(record, "native", 120),
        native_id=_text(record, "native_id", 200),
        offset=_number(record.get("offset")),
        length=_number(record.get("length")),
        data=clean_json({key: data[key] for key in data if key in KINDS[kind].keys}),
    )


def _text(record: dict[str, Any], key: str, limit: int) -> str:
    value = record.get(key)
    return clean_text(value, limit) if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 48 else None


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < 1e12
