"""Archives made to hurt: headers that are bombs, names that no disk takes."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from runs.tests.transcripts.helpers import RECORDED
from runs.transcript import Limits, Unreadable, read_case

LOG = (RECORDED / "copilot/1.0.102/sse-cut/session-events.jsonl").read_bytes()


def _zip(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for name in names:
            packed.writestr(name, LOG)
    return path


def test_a_name_that_no_disk_takes_is_left_out(tmp_path: Path) -> None:
    case = read_case([_zip(tmp_path / "a.zip", "n" * 300 + ".jsonl", "é" * 120, "good.jsonl")])
    assert [row["path"] for row in case.formats] == ["good.jsonl"]
    assert [why for _, why in case.left_out] == ["its name is too long"] * 2


@pytest.mark.parametrize("names", [("a", "a/good.jsonl"), ("a/good.jsonl", "a")])
def test_a_file_and_a_folder_of_one_name_both_stay(names: tuple[str, str], tmp_path: Path) -> None:
    case = read_case([_zip(tmp_path / "a.zip", *names)])
    assert len(case.formats) == 2
    assert {row["format"] for row in case.formats} == {"copilot-events-jsonl"}


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_of_a_tar_is_no_bomb(kind: bytes, tmp_path: Path) -> None:
    head = tarfile.TarInfo("x")
    head.type, head.size = kind, 64 << 20
    path = tmp_path / "a.tar.gz"
    with gzip.open(path, "wb", 1) as packed:
        packed.write(head.tobuf(tarfile.GNU_FORMAT))
        for _ in range(64):
            packed.write(bytes(1 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(Unreadable, match=r"a\.tar\.gz"):
            read_case([path])
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


def test_a_broken_table_of_a_zip_is_damage_and_no_crash(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", "é.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole.replace("é".encode(), b"\xff\xfe"))
    with pytest.raises(Unreadable, match=r"a\.zip is a damaged archive"):
        read_case([path])
    place = whole.rindex(b"PK\x01\x02") + 42
    path.write_bytes(whole[:place] + b"\xff\xff\xff\x7f" + whole[place + 4 :])
    with pytest.raises(Unreadable):
        read_case([path])


def test_links_and_folders_count_as_well(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as packed:
        for number in range(200):
            link = tarfile.TarInfo(f"l{number}")
            link.type, link.linkname = tarfile.SYMTYPE, "x"
            packed.addfile(link)
        good = tarfile.TarInfo("good.jsonl")
        good.size = len(LOG)
        packed.addfile(good, io.BytesIO(LOG))
    with pytest.raises(Unreadable, match="too many files"):
        read_case([path], limits=Limits(files=10))
    assert len(read_case([path], limits=Limits(files=100)).left_out) == 200


def test_a_compressed_tar_counts_once(tmp_path: Path) -> None:
    path, out = tmp_path / "a.tar.gz", io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        good = tarfile.TarInfo("good.jsonl")
        good.size = len(LOG)
        packed.addfile(good, io.BytesIO(LOG))
    path.write_bytes(gzip.compress(out.getvalue()))
    whole = len(out.getvalue())
    case = read_case([path], limits=Limits(unpacked=whole))
    assert [row["path"] for row in case.formats] == ["good.jsonl"]
    with pytest.raises(Unreadable, match="expands to more"):
        read_case([path], limits=Limits(unpacked=whole - 1))


def test_what_is_said_of_an_inner_archive_has_its_whole_name(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w") as packed:
        for name in ("good.jsonl", "more.jsonl"):
            one = tarfile.TarInfo(name)
            one.size = len(LOG)
            packed.addfile(one, io.BytesIO(LOG))
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as outer:
        outer.writestr("v1.2/logs.tar", inner.getvalue()[: len(LOG) + 1024 + 700])
        outer.writestr("v1.2/one.jsonl.gz", gzip.compress(LOG))
        outer.writestr("v1.2/log.gz", gzip.compress(LOG))
    case = read_case([path])
    names = [row["path"] for row in case.formats]
    assert names == ["v1.2/log", "v1.2/logs.tar/good.jsonl", "v1.2/one.jsonl"]
    assert case.left_out == [("v1.2/logs.tar", "the archive breaks off: what follows is lost")]
    with zipfile.ZipFile(path, "w") as outer:
        outer.writestr("v1.2/logs.zip", (_zip(tmp_path / "b.zip", "../x.jsonl")).read_bytes())
    with pytest.raises(Unreadable, match=r"^v1\.2/logs\.zip holds a file outside"):
        read_case([path])
