"""Imports as runs: the same judgement as `judge`, the same raw lines, clear errors."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from runs import imports, models, report, store
from runs.management.commands.judge import judge_paths
from runs.tests.transcripts.helpers import CASES, RECORDED
from runs.transcript import Unreadable

CUT = RECORDED / "copilot/1.0.102/sse-cut"


def verdicts(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Findings without the numbers of their events."""
    keys = ("law", "verdict", "agent", "because", "reason")
    refs = [
        list(dict.fromkeys(one if isinstance(one, str) else one["ref"] for one in row["evidence"]))
        for row in rows
    ]
    return [(*(row[key] for key in keys), place) for row, place in zip(rows, refs, strict=True)]


@pytest.mark.django_db
@pytest.mark.parametrize("case", [*CASES[::3], CUT], ids=lambda path: path.name)
def test_it_gives_the_judgement_of_judge_and_keeps_every_raw_line(case: Path) -> None:
    judged = judge_paths([str(case)])
    run = imports.store_paths([case])
    assert (run.kind, run.status) == ("import", "ended")
    assert run.diagnosis == judged["diagnosis"]
    assert verdicts(report.findings(run)) == verdicts(judged["findings"])
    assert [row["path"] for row in run.summary["intake"]["formats"]]
    for event in models.Event.objects.filter(run=run, length__gt=0)[:40]:
        raw = (case / event.file).read_bytes()
        assert event.offset is not None and event.length is not None
        assert store.raw_line(run, event.seq) == raw[event.offset : event.offset + event.length]


@pytest.mark.django_db
def test_judge_prints_the_permalink_of_what_it_stored() -> None:
    out = io.StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("judge", str(CUT), "--store", "--json", stdout=out)
    assert end.value.code == 1
    said = json.loads(out.getvalue())
    run = models.Run.objects.get(permalink=said["permalink"])
    assert (run.agent, run.version, run.diagnosis) == ("copilot", "1.0.102", said["diagnosis"])
    assert run.started_at is not None and run.ended_at is not None


def _zip(names: dict[str, bytes], links: tuple[str, ...] = ()) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in names.items():
            archive.writestr(name, data)
        for name in links:
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o120777 << 16
            archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def _tar(link: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo(link)
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    return out.getvalue()


LOG = (CASES[0] / "events.jsonl").read_bytes()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("../../up.jsonl", LOG, "no name for a file"),
        ("/etc/cron.d/x", LOG, "no name for a file"),
        ("a/" * 40 + "deep.jsonl", LOG, "no name for a file"),
        ("up.zip", _zip({"../up.jsonl": LOG}), "outside of its folder"),
        ("bomb.zip", _zip({"zeros.jsonl": bytes(40 << 20)}), "expands to more"),
        ("torn.zip", _zip({"a.jsonl": LOG})[:20], "damaged archive"),
        ("links.zip", _zip({}, links=("passwd",)), "no file in it. Left out: 'passwd' (a link)."),
        ("links.tar", _tar("passwd"), "no file in it. Left out: 'passwd' (a link)."),
        ("notes.txt", b"no log at all\n", "No known format"),
        ("empty.jsonl", b"", "nothing in it"),
        ("lifeline.zip", _zip({
            "manifest.json": b'{"lifeline": 1, "what": "run"}', "events.jsonl": b"[]\n",
        }), "events.jsonl:1 of this archive is damaged"),
        ("lifeline.zip", _zip({
            "manifest.json": b'{"lifeline": 99, "what": "run"}', "events.jsonl": b"[]\n",
        }), "format 99"),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else value[:40],  # a zip holds the time
)  # fmt: skip
def test_a_hostile_upload_is_refused_in_words_and_leaves_nothing(
    name: str, data: bytes, words: str
) -> None:
    folders = Path(settings.VAR) / "runs"
    before = set(folders.iterdir()) if folders.is_dir() else set()
    with pytest.raises(Unreadable) as trouble:
        imports.begin(*imports.receive([(name, iter([data]))]))
    assert words in str(trouble.value)
    assert not models.Run.objects.exists()
    assert (set(folders.iterdir()) if folders.is_dir() else set()) == before


@pytest.mark.django_db
def test_a_dropped_folder_and_an_archive_are_the_same_case_as_their_files() -> None:
    files = {path.name: path.read_bytes() for path in CASES[0].iterdir() if path.is_file()}
    loose, _ = imports.receive((name, iter([data])) for name, data in files.items())
    folder, _ = imports.receive((f"case/{name}", iter([data])) for name, data in files.items())
    packed, _ = imports.receive([("case.zip", iter([_zip(files)]))])
    found = [verdicts(report.findings(imports.begin(run, 1))) for run in (loose, folder, packed)]
    assert found[0] == found[1] == found[2]
