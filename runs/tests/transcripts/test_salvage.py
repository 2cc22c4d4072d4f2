"""Compressed files that break off: what still comes out is read, and what is lost is named."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest
import zstandard

from runs.tests.transcripts.helpers import CASES, broken, verdicts
from runs.transcript import Case, Unreadable, read_case
from runs.transcripts._report import report
from runs.transcripts._salvage import zstd_is_whole

FOLDER = next(path for path in CASES if path.name.startswith("03-"))
LOG = (FOLDER / "stdout.jsonl").read_bytes()
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
}


def _long() -> bytes:
    """The log, with as many pieces of streamed text in it as fill some blocks of each packer."""
    first, second, rest = LOG.split(b"\n", 2)
    piece = {**json.loads(second), "type": "assistant.message_delta"}
    pieces = [
        json.dumps(
            {**piece, "id": f"n{n}", "data": {"deltaContent": blake2b(b"%d" % n).hexdigest()}}
        )
        for n in range(20_000)
    ]
    return b"\n".join([first, second, "\n".join(pieces).encode(), rest])


def _read(folder: Path, name: str, data: bytes) -> Case:
    path = folder / name
    path.write_bytes(data)
    return read_case([path])


@pytest.mark.parametrize("kind", PACK)
def test_it_reads_what_comes_out_of_a_cut_file_and_names_what_does_not(
    kind: str, tmp_path: Path
) -> None:
    packed = PACK[kind](_long())
    found = _read(tmp_path, f"stdout.jsonl.{kind}", packed[: len(packed) * 6 // 10])
    (row,) = found.formats
    assert (row["path"], row["format"]) == ("stdout.jsonl", "copilot-stdout-jsonl")
    assert row["lines"] > 1000
    last = [one for one in found.damage if "compressed" in one["detail"]]
    assert [(one["file"], one["line"], one["what"]) for one in last] == [
        ("stdout.jsonl", row["lines"], "truncated")
    ]
    assert found.history.complete is False
    assert broken(found) == set()
    assert verdicts(found, "L1") <= {"unknown"}
    assert report(found)["diagnosis"] != "healthy"


@pytest.mark.parametrize("kind", PACK)
def test_a_whole_file_has_no_such_damage(kind: str, tmp_path: Path) -> None:
    found = _read(tmp_path, f"stdout.jsonl.{kind}", PACK[kind](LOG))
    assert found.damage == []
    assert broken(found) == broken(read_case([FOLDER])) != set()


def test_it_keeps_what_stands_before_a_damaged_place(tmp_path: Path) -> None:
    packed = bytearray(PACK["zst"](_long()))
    packed[len(packed) * 6 // 10] ^= 255
    found = _read(tmp_path, "stdout.jsonl.zst", bytes(packed))
    assert found.formats[0]["lines"] > 1000
    assert [one["what"] for one in found.damage if "compressed" in one["detail"]] == ["truncated"]


def test_nothing_comes_out_of_what_breaks_off_at_once(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="damaged archive"):
        _read(tmp_path, "stdout.jsonl.gz", gzip.compress(LOG)[:12])


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.zst"])
def test_the_files_before_the_place_where_an_archive_breaks_off_are_read(
    kind: str, tmp_path: Path
) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in (("a/stdout.jsonl", LOG), ("b/noise.jsonl", _long())):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    packed = PACK[kind[4:]](out.getvalue()) if kind[3:] else out.getvalue()
    found = _read(tmp_path, f"case.{kind}", packed[: len(packed) * 6 // 10])
    assert [row["path"] for row in found.formats] == ["a/stdout.jsonl", "b/noise.jsonl"]
    assert ("b/noise.jsonl", "truncated") in {(one["file"], one["what"]) for one in found.damage}
    assert (f"case.{kind}", "the archive breaks off: what follows is lost") in found.left_out
    assert found.history.complete is False


def test_a_damaged_member_of_a_zip_does_not_cost_the_others(tmp_path: Path) -> None:
    path = tmp_path / "case.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("stdout.jsonl", LOG)
        archive.writestr("other.jsonl", LOG)
    data = bytearray(path.read_bytes())
    data[data.rindex(b"other.jsonl", 0, len(data) // 2 + 200) + 500] ^= 1
    found = _read(tmp_path, "case.zip", bytes(data))
    assert [row["path"] for row in found.formats] == ["stdout.jsonl"]
    ((name, why),) = found.left_out
    assert name == "other.jsonl"
    assert why.startswith("damaged:")
    assert found.history.complete is False


def test_it_knows_a_whole_zstandard_file_from_its_blocks() -> None:
    for level, data in ((1, LOG), (9, b""), (3, bytes(1 << 20)), (3, _long())):
        for sum_ in (False, True):
            packer = zstandard.ZstdCompressor(level=level, write_checksum=sum_)
            one = packer.compress(data)
            skipped = (0x184D2A51).to_bytes(4, "little") + (3).to_bytes(4, "little") + b"abc"
            for whole in (one, one + one, skipped + one, one + skipped):
                assert zstd_is_whole(io.BytesIO(whole))
            for cut in {1, 3, len(one) // 2, len(one) - 1} - {0, len(one)}:
                assert not zstd_is_whole(io.BytesIO(one[:cut]))
