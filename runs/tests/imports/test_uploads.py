"""Uploads in pieces: the same import as at once, limits kept, nothing left of a refused one."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from runs import imports, models, report, uploads
from runs.tests.imports.test_imports import verdicts
from runs.tests.transcripts.helpers import RECORDED
from runs.transcript import Unreadable

CUT = RECORDED / "copilot/1.0.102/sse-cut"
FILES = {path.name: path.read_bytes() for path in CUT.iterdir() if path.is_file()}
pytestmark = pytest.mark.django_db


def _left() -> set[str]:
    base = Path(settings.VAR) / "uploads"
    return {path.name for path in base.iterdir()} if base.is_dir() else set()


def _pieces(size: int) -> Iterator[tuple[str, int, list[bytes]]]:
    for name, data in FILES.items():
        for at in range(0, max(1, len(data)), size):
            yield f"case/{name}", at, [data[at : at + size]]


def test_pieces_become_the_import_that_the_whole_files_are() -> None:
    upload = ""
    for piece in _pieces(5000):
        upload = uploads.put(upload, [piece])
    run, size = uploads.finish(upload)
    assert size == sum(map(len, FILES.values()))
    pieces = imports.begin(run, 1)
    whole = imports.begin(imports.receive((n, iter([d])) for n, d in FILES.items())[0], 1)
    assert verdicts(report.findings(pieces)) == verdicts(report.findings(whole))
    assert upload not in _left()
    with pytest.raises(Unreadable, match="not known"):
        uploads.finish(upload)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([("../x", 0, [b"a"])], "no name for a file"),
        ([("/etc/x", 0, [b"a"])], "no name for a file"),
        ([("a", 0, [b"aa"]), ("a", 1, [b"b"])], "missing or came twice"),
        ([("a", 0, [b"aa"]), ("a", 3, [b"b"])], "missing or came twice"),
        ([("a", 0, [b"aa"]), ("a", 0, [b"b"])], "there twice"),
        ([("a", 5, [b"aa"])], "has no place"),
        ([("a", 0, [b"aa"]), ("a/b", 0, [b"b"])], "there twice"),
        ([("a", 0, [b"x" * 600]), ("b", 0, [b"x" * 600])], "over"),
        ([(str(place), 0, [b"x"]) for place in range(12)], "More than 10 files"),
    ],
)
def test_a_hostile_piece_is_refused_and_nothing_stays(
    pieces: list[tuple[str, int, list[bytes]]], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = dataclasses.replace(imports.LIMITS, total=1000, files=10)
    monkeypatch.setattr(imports, "LIMITS", limits)
    before = _left()
    with pytest.raises(Unreadable, match=words):
        uploads.put("", pieces)
    assert _left() == before


def test_an_upload_that_nobody_finished_is_removed() -> None:
    old = uploads.put("", [("a", 0, [b"x"])])
    folder = Path(settings.VAR) / "uploads" / old
    os.utime(folder, (1, 1))
    new = uploads.put("", [("a", 0, [b"x"])])
    assert old not in _left()
    assert new in _left()


@pytest.mark.parametrize("name", ["", "..", "nothere", "a/b", "\u0661"])
def test_no_other_folder_is_an_upload(name: str, client: Client) -> None:
    with pytest.raises(Unreadable):
        uploads.finish(name)
    answer = client.post("/import/", {"upload": name}, headers={"accept": "application/json"})
    assert answer.status_code == 422
    assert not models.Run.objects.exists()


@pytest.mark.parametrize("places", ["", "7", "[[1]]", '[["a", "x"]]', '[["a", 0]]'])
def test_a_request_without_its_places_is_refused(places: str, client: Client) -> None:
    assert client.post("/import/pieces/", {"places": places}).status_code == 422
