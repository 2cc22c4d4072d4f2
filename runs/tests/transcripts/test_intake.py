"""What may be attached: files, folders, archives; and what hostile ones meet."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard

from runs.core.events import Kind
from runs.tests.transcripts.helpers import CASES, broken, lines
from runs.tests.transcripts.makers import CopilotLog
from runs.transcript import Limits, Unreadable, read_case

CASE = next(path for path in CASES if path.name.startswith("04-"))
SMALL = Limits(file=1 << 20, total=2 << 20, files=20, unpacked=1 << 20, depth=6, line=64 << 10)


def _members() -> dict[str, bytes]:
    return {
        str(path.relative_to(CASE)): path.read_bytes()
        for path in sorted(CASE.rglob("*"))
        if path.is_file()
    }


def _zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def _tar(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.zst"])
def test_it_judges_an_archive_like_the_folder(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"case.{kind}"
    if kind == "zip":
        _zip(path, _members())
    elif kind == "tar":
        path.write_bytes(_tar(_members()))
    elif kind == "tar.gz":
        path.write_bytes(gzip.compress(_tar(_members())))
    else:
        path.write_bytes(zstandard.ZstdCompressor().compress(_tar(_members())))
    found, wanted = read_case([path]), read_case([CASE])
    assert broken(found) == broken(wanted) != set()
    assert [event.ref for event in found.events] == [event.ref for event in wanted.events]


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_it_reads_one_compressed_file(kind: str, tmp_path: Path) -> None:
    data = (CASE / "proj/s-04.jsonl").read_bytes()
    packed = gzip.compress(data) if kind == "gz" else zstandard.ZstdCompressor().compress(data)
    found = read_case([_written(tmp_path / f"s-04.jsonl.{kind}", packed)])
    assert [row["path"] for row in found.formats] == ["s-04.jsonl"]


def test_it_reads_several_paths_as_one_case() -> None:
    paths = sorted(CASE.rglob("*.jsonl"))
    assert broken(read_case(paths)) == broken(read_case([CASE]))


@pytest.mark.parametrize(
    "name", ["../evil.jsonl", "/etc/evil.jsonl", "a/../../evil", "..\\evil", "C:\\evil"]
)
def test_it_unpacks_nothing_outside_of_its_folder(name: str, tmp_path: Path) -> None:
    path = _zip(tmp_path / "evil.zip", {name: b"{}", **_members()})
    with pytest.raises(Unreadable, match="outside of its folder"):
        read_case([path])
    assert not (tmp_path / "evil.jsonl").exists()


def test_it_leaves_out_links_in_archives_and_folders(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        link = tarfile.TarInfo("secret.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        for name, data in _members().items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    found = read_case([_written(tmp_path / "case.tar", out.getvalue())])
    assert found.left_out == [("secret.jsonl", "a link")]
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes((CASE / "proj/s-04.jsonl").read_bytes())
    (folder / "b.jsonl").symlink_to("/etc/passwd")
    (folder / "all").symlink_to("/")
    assert read_case([folder]).left_out == [("all", "a link"), ("b.jsonl", "a link")]


def test_it_stops_an_archive_that_expands_without_end(tmp_path: Path) -> None:
    bomb = _zip(tmp_path / "bomb.zip", {"a.jsonl": b"\0" * (8 << 20)})
    with pytest.raises(Unreadable, match="expands to more"):
        read_case([bomb], limits=SMALL)
    packed = _written(tmp_path / "bomb.gz", gzip.compress(b"x" * (8 << 20)))
    with pytest.raises(Unreadable, match="expands to more"):
        read_case([packed], limits=SMALL)


def test_it_refuses_too_many_too_large_too_deep_and_says_what_to_do(tmp_path: Path) -> None:
    many = _zip(tmp_path / "many.zip", {f"{n}.jsonl": b"{}" for n in range(30)})
    with pytest.raises(Unreadable, match="too many files"):
        read_case([many], limits=SMALL)
    with pytest.raises(Unreadable, match="large.jsonl has 1 MiB"):
        read_case([_written(tmp_path / "large.jsonl", b" " * (1 << 20) + b"x")], limits=SMALL)
    deep = tmp_path.joinpath("top", *"abcdefghij")
    deep.mkdir(parents=True)
    with pytest.raises(Unreadable, match="folders deep") as error:
        read_case([tmp_path / "top"], limits=SMALL)
    assert error.value.do


def test_it_refuses_what_is_damaged_missing_or_unknown(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="damaged archive"):
        read_case([_written(tmp_path / "cut.zip", b"PK\x03\x04" + b"\0" * 40)])
    with pytest.raises(Unreadable, match="is not a file or folder"):
        read_case([tmp_path / "absent"])
    with pytest.raises(Unreadable, match=r"No known format in notes\.txt"):
        read_case([_written(tmp_path / "notes.txt", b"dear diary")])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable, match="not a regular file"):
        read_case([tmp_path / "pipe"])


def test_it_names_a_line_that_is_too_long_and_goes_on(tmp_path: Path) -> None:
    good = (CASE / "proj/s-04.jsonl").read_bytes().splitlines(keepends=True)
    long = json.dumps({"type": "user", "message": {"content": "x" * 200_000}}).encode() + b"\n"
    path = _written(tmp_path / "s.jsonl", b"".join([*good[:4], long, *good[4:]]))
    found = read_case([path], limits=SMALL)
    assert [(row["what"], row["line"]) for row in found.damage] == [("too-long", 5)]
    assert len(found.history.of(Kind.NOTICE_DELIVERED)) == 2


def test_it_takes_an_export_of_ours_instead_of_its_raw_files(tmp_path: Path) -> None:
    events = read_case([CASE]).events
    rows = [
        {
            "seq": one.seq, "t": one.t, "kind": one.kind, "agent": one.agent, "source": one.source,
            "file": one.file, "line": one.line, "pointer": one.pointer, "native": one.native,
            "data": dict(one.data),
            "also": [place._asdict() if hasattr(place, "_asdict") else
                     {"source": place.source, "file": place.file, "line": place.line,
                      "pointer": place.pointer} for place in one.also],
        }
        for one in events
    ]  # fmt: skip
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path = _zip(tmp_path / "run.zip", {"events.jsonl": lines, **_members()})
    found = read_case([path])
    assert broken(found) == broken(read_case([CASE]))
    assert [one.ref for one in found.events] == [one.ref for one in events]


def test_it_does_not_parse_what_would_take_too_much_memory(tmp_path: Path) -> None:
    log = lines(CopilotLog().spawn(1, "A", "c").records)
    parts = b'{"type":"x","data":[' + b"{}," * 2_000_000 + b"{}]}\n"
    words = b'{"type":"x","data":"' + b"x" * 8_000_000 + b'"}\n'
    (tmp_path / "events.jsonl").write_bytes(log + parts + words)
    found = read_case([tmp_path])
    assert [(row["what"], row["line"]) for row in found.damage if row["lost"]] == [
        ("too-long", log.count(b"\n") + 1)
    ]
    assert found.formats[0]["other"]["x"] == 1
    (tmp_path / "events.jsonl").unlink()
    spans = b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + b"{},\n" * 2_000_000 + b"{}]}]}]}"
    (tmp_path / "trace.json").write_bytes(spans)
    (damage,) = read_case([tmp_path]).damage
    assert (damage["what"], damage["lost"]) == ("too-long", "file")


def test_it_unpacks_what_is_packed_within_a_folder_or_an_archive_once(tmp_path: Path) -> None:
    events = next(path for path in CASES if path.name.startswith("02-")) / "events.jsonl"
    inner = _zip(tmp_path / "inner.zip", {"events.jsonl": events.read_bytes()})
    packed = {
        "logs/events.jsonl.gz": gzip.compress(events.read_bytes()),
        "inner.zip": inner.read_bytes(),
        "broken.gz": gzip.compress(b"x" * 99)[:8],
        "outer.zip": _zip(tmp_path / "o.zip", {"again.zip": inner.read_bytes()}).read_bytes(),
    }
    found = read_case([_zip(tmp_path / "all.zip", packed)])
    assert {row["path"] for row in found.formats} == {
        "logs/events.jsonl",
        "inner.zip/events.jsonl",
    }
    assert {name for name, _ in found.left_out} == {"broken.gz", "outer.zip/again.zip"}


def test_packed_files_may_not_become_too_much_together(tmp_path: Path) -> None:
    zeros = gzip.compress(bytes(700 << 10))
    with pytest.raises(Unreadable, match=r"b\.gz expands to more than is allowed"):
        read_case([_zip(tmp_path / "two.zip", {"a.gz": zeros, "b.gz": zeros})], limits=SMALL)


def test_two_members_of_one_name_both_stay(tmp_path: Path) -> None:
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.jsonl", lines(CopilotLog().close(9)))
        archive.writestr("a.jsonl", "a note")
    assert {row["path"] for row in read_case([path]).formats} == {"a.jsonl", "2/a.jsonl"}


def test_it_knows_a_file_by_what_follows_a_very_long_first_line(tmp_path: Path) -> None:
    first = b'{"type":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
    path = _written(tmp_path / "long.jsonl", first + lines(CopilotLog().close(9)))
    found = read_case([path])
    assert [row["format"] for row in found.formats] == ["copilot-events-jsonl"]
    assert found.damage[0]["what"] == "too-deep"


def test_it_says_in_words_that_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(Unreadable, match="There is no file in it"):
        read_case([tmp_path / "none"])
    with pytest.raises(Unreadable, match=r"log\.jsonl is empty"):
        read_case([_written(tmp_path / "log.jsonl", b"")])
