"""Cases of which a part is missing or damaged: what is healthy stays so, and nothing new breaks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from runs.management.commands.judge import judge_paths
from runs.tests.transcripts.helpers import CASES, OWN
from runs.transcript import Unreadable

FOLDERS = [*CASES, *OWN]
_ALIAS = {"/root/review": "th-child", "rollout-parent": "th-root"}
"""What a thread is called where the record that names it is not there."""


@pytest.fixture(params=FOLDERS, ids=lambda path: path.name)
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def _files(folder: Path) -> list[Path]:
    texts = ("expected.json", "note.md")
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in texts]


def _alarms(folder: Path, paths: list[Path], **settings: Any) -> list[tuple[str, str, str]]:
    """What is broken and not expected to be in the whole case."""
    expected = json.loads((folder / "expected.json").read_text())
    wanted = {
        (row["law"], _ALIAS.get(row["agent"], row["agent"])) for row in expected["violations"]
    }
    extra = expected.get("allowed_extra", [])
    try:
        found = judge_paths([str(path) for path in paths], **settings)
    except Unreadable:
        return []
    return [
        (row["law"], row["agent"], row["reason"])
        for row in found["findings"]
        if row["verdict"] == "broken"
        and (row["law"], _ALIAS.get(row["agent"], row["agent"])) not in wanted
        and not any(words.split()[0] == row["law"] and row["agent"] in words for words in extra)
    ]


def test_each_file_alone_raises_no_alarm(folder: Path) -> None:
    for path in _files(folder):
        assert _alarms(folder, [path]) == [], path.name


def test_a_case_without_one_of_its_files_raises_no_alarm(folder: Path, tmp_path: Path) -> None:
    files = _files(folder)
    for place, left_out in enumerate(files if len(files) > 1 else []):
        part = tmp_path / str(place)
        for path in files:
            if path != left_out:
                _put(part / path.relative_to(folder), path.read_bytes())
        assert _alarms(folder, [part]) == [], f"without {left_out.name}"


def test_files_that_are_cut_raise_no_alarm(folder: Path, tmp_path: Path) -> None:
    for share in (0.4, 0.7, 0.9):
        part = tmp_path / str(share)
        for path in _files(folder):
            lines = path.read_bytes().splitlines(keepends=True)
            whole = path.suffix != ".jsonl"
            kept = lines if whole else lines[: max(1, int(len(lines) * share))]
            if path.name != "exit.json":
                _put(part / path.relative_to(folder), b"".join(kept))
        assert _alarms(folder, [part], incomplete=True) == [], share


@pytest.mark.parametrize("name", ["half", "hole", "letters", "glued", "swapped", "dressed"])
def test_damage_raises_no_alarm(folder: Path, tmp_path: Path, name: str) -> None:
    for path in _files(folder):
        lines = path.read_bytes().splitlines(keepends=True)
        if path.suffix == ".jsonl" and len(lines) > 3:
            lines = list(_DAMAGE[name](lines, Random(f"{folder.name}/{path.name}/{name}")))
        _put(tmp_path / path.relative_to(folder), b"".join(lines))
    assert _alarms(folder, [tmp_path]) == []
    shutil.rmtree(tmp_path)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _half(lines: list[bytes], random: Random) -> Iterator[bytes]:
    """The file ends inside of its last record."""
    yield from lines[:-1]
    yield lines[-1][: len(lines[-1]) // 2]


def _hole(lines: list[bytes], random: Random) -> Iterator[bytes]:
    """One line is cut off."""
    place = random.randrange(len(lines))
    for number, line in enumerate(lines):
        yield line if number != place else line[: len(line) // 2] + b"\n"


def _letters(lines: list[bytes], random: Random) -> Iterator[bytes]:
    """Bytes that are no text, in the middle of one line."""
    place = random.randrange(len(lines))
    for number, line in enumerate(lines):
        half = len(line) // 2
        yield line if number != place else line[:half] + b"\xff\xfe" + line[half:]


def _glued(lines: list[bytes], random: Random) -> Iterator[bytes]:
    """Two records on one line."""
    place = random.randrange(len(lines) - 1)
    for number, line in enumerate(lines):
        yield line.rstrip(b"\n") if number == place else line


def _swapped(lines: list[bytes], random: Random) -> Iterator[bytes]:
    """Two neighbours in the other order."""
    place = random.randrange(1, len(lines) - 1)
    yield from [*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]]


def _dressed(lines: list[bytes], random: Random) -> Iterator[bytes]:
    """A byte order mark, CR LF, and NULs behind the end."""
    yield b"\xef\xbb\xbf"
    yield from (line.replace(b"\n", b"\r\n") for line in lines)
    yield b"\0" * 64


_DAMAGE: dict[str, Callable[[list[bytes], Random], Iterator[bytes]]] = {
    "half": _half,
    "hole": _hole,
    "letters": _letters,
    "glued": _glued,
    "swapped": _swapped,
    "dressed": _dressed,
}
