"""Zips that lost their table of contents: the entries are read as they stand."""

from __future__ import annotations

import io
import json
import zipfile
from hashlib import blake2b
from pathlib import Path

import pytest

from runs.tests.transcripts.helpers import CASES, broken
from runs.transcript import Case, Unreadable, read_case


def _noise(number: int) -> str:
    return blake2b(b"%d" % number).hexdigest()


FOLDER = next(path for path in CASES if path.name.startswith("03-"))
LOG = (FOLDER / "stdout.jsonl").read_bytes()
FIRST, SECOND, _ = LOG.split(b"\n", 2)
PIECE = {**json.loads(SECOND), "type": "assistant.message_delta"}
NOISE = b"\n".join(
    [FIRST, SECOND]
    + [
        json.dumps({**PIECE, "id": f"n{n}", "data": {"deltaContent": _noise(n)}}).encode()
        for n in range(3000)
    ]
)
REST = ("case.zip", "the archive breaks off: what follows is lost")
NO_TABLE = ("case.zip", "its table of contents is damaged: its files were read without it")


class _Pipe(io.BytesIO):
    """A place where nothing can be written a second time: sizes then stand behind the content."""

    def seek(self, *_: object) -> int:
        raise io.UnsupportedOperation

    def tell(self) -> int:
        raise io.UnsupportedOperation


def _zip(method: int, pipe: bool = False) -> bytes:
    out = _Pipe() if pipe else io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("logs/", b"")
        archive.writestr("logs/stdout.jsonl", LOG)
        archive.writestr("logs/é.jsonl", NOISE)
    return out.getvalue()


KINDS = {
    "stored": _zip(zipfile.ZIP_STORED),
    "deflated": _zip(zipfile.ZIP_DEFLATED),
    "streamed": _zip(zipfile.ZIP_DEFLATED, pipe=True),
}


def _read(folder: Path, data: bytes) -> Case:
    path = folder / "case.zip"
    path.write_bytes(data)
    return read_case([path])


@pytest.mark.parametrize("kind", KINDS)
def test_a_zip_without_its_table_gives_all_its_files(kind: str, tmp_path: Path) -> None:
    data = KINDS[kind]
    found = _read(tmp_path, data[: data.index(b"PK\x01\x02") + 30])
    assert [row["path"] for row in found.formats] == ["logs/stdout.jsonl", "logs/é.jsonl"]
    assert found.left_out == [NO_TABLE]
    assert found.damage == []
    assert found.history.complete is True


@pytest.mark.parametrize("kind", KINDS)
def test_a_zip_that_breaks_off_gives_what_stands_before(kind: str, tmp_path: Path) -> None:
    data = KINDS[kind]
    last = data.index("é.jsonl".encode())
    found = _read(tmp_path, data[: last + (data.index(b"PK\x01\x02") - last) * 2 // 3])
    whole, part = found.formats
    assert (whole["path"], part["path"]) == ("logs/stdout.jsonl", "logs/é.jsonl")
    assert whole["lines"] == LOG.count(b"\n")
    assert 0 < part["lines"] < NOISE.count(b"\n")
    assert "truncated" in {row["what"] for row in found.damage if row["file"] == "logs/é.jsonl"}
    assert found.left_out == [REST]
    assert found.history.complete is False
    assert broken(found) == set()


def test_a_damaged_entry_does_not_cost_those_behind_it(tmp_path: Path) -> None:
    data = bytearray(KINDS["deflated"])
    place = data.index(b"stdout.jsonl") + len(b"stdout.jsonl")
    data[place : place + 8] = bytes(8)
    found = _read(tmp_path, bytes(data[: data.index(b"PK\x01\x02") + 30]))
    assert [row["path"] for row in found.formats] == ["logs/é.jsonl"]
    (name, why), table = found.left_out
    assert (name, table) == ("logs/stdout.jsonl", NO_TABLE)
    assert why.startswith("damaged:")
    assert found.history.complete is False


def test_a_content_with_another_checksum_is_not_believed_whole(tmp_path: Path) -> None:
    data = bytearray(KINDS["stored"])
    place = data.index(b"message_delta")
    data[place] ^= 1
    found = _read(tmp_path, bytes(data[: data.index(b"PK\x01\x02") + 30]))
    assert [row["what"] for row in found.damage if "compressed" in row["detail"]] == ["truncated"]
    assert found.history.complete is False


@pytest.mark.parametrize(
    "data",
    [b"PK\x03\x04", b"PK\x03\x04" + b"\xff" * 60, KINDS["stored"][:60]],
    ids=["mark", "noise", "first"],
)
def test_nothing_comes_out_of_what_is_no_zip(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"case\.zip is a damaged archive"):
        _read(tmp_path, data)
