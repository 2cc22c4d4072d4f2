"""What the transcript tests share: where the data is, how lines are fed and cases made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from runs.core.events import Draft
from runs.transcript import Case, Format, named, read_case
from runs.transcripts._report import report

DATA = Path(__file__).parent / "data"
CASES = sorted(path for path in (DATA / "cases").iterdir() if path.is_dir())
OWN = sorted(path for path in (DATA / "own").iterdir() if path.is_dir())
"""More cases: healthy logs that look broken, and broken ones that look healthy."""
RECORDED = DATA / "recorded"


def drafts_of(format: str | Format, data: bytes, file: str = "file.jsonl") -> list[Draft]:
    """All drafts of a file's bytes, fed line by line to one reader."""
    reader = (named(format) if isinstance(format, str) else format).reader(file)
    found: list[Draft] = []
    offset = 0
    for number, line in enumerate(physical(data), 1):
        found.extend(reader.feed(line, number, offset))
        offset += len(line)
    found.extend(reader.end())
    return found


def physical(data: bytes) -> list[bytes]:
    """The physical lines of a file's bytes, with their line feeds."""
    found = [line + b"\n" for line in data.split(b"\n")]
    found[-1] = found[-1][:-1]
    return found if found[-1] else found[:-1]


def lines(records: Iterable[Mapping[str, Any] | str]) -> bytes:
    """Records as JSON lines; texts are put in as they are."""
    found = [one if isinstance(one, str) else json.dumps(one) for one in records]
    return ("\n".join(found) + "\n").encode()


def case(folder: Path, files: Mapping[str, Sequence[Any] | bytes | dict[str, Any]]) -> Case:
    """A case of these files: lists are JSON lines, objects one document, bytes as they are."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, dict):
            path.write_text(json.dumps(content))
        else:
            path.write_bytes(lines(content))
    return read_case([folder])


def broken(found: Case) -> set[tuple[str, str]]:
    """What is broken in a case, as law and agent."""
    return {
        (row["law"], row["agent"])
        for row in report(found)["findings"]
        if row["verdict"] == "broken"
    }


def verdicts(found: Case, law: str) -> set[str]:
    """All verdicts of one law."""
    return {row["verdict"] for row in report(found)["findings"] if row["law"] == law}
