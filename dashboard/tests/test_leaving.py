"""Import, share, export and opinion pages, without JavaScript."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from runs import export, imports, models, redact, shares
from runs.exports.html import STYLE_HASH
from runs.tests.transcripts.helpers import CASES, RECORDED

CUT = RECORDED / "copilot/1.0.102/sse-cut"
FILES = {path.name: path.read_bytes() for path in sorted(CUT.glob("*.jsonl"))}


def _text(answer: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


@pytest.fixture
def imported(db: None) -> models.Run:
    return imports.store_paths([CUT])


@pytest.mark.django_db
def test_dropped_files_become_a_run_that_says_what_they_are(client: Client) -> None:
    files = [SimpleUploadedFile(name, data) for name, data in FILES.items()]
    paths = json.dumps([f"case/{name}" for name in FILES])
    answer = client.post("/import/", {"files": files, "paths": paths}, follow=True)
    run = models.Run.objects.get()
    assert answer.redirect_chain == [(f"/runs/{run.permalink}/", 302)]
    text = _text(answer)
    assert "imported" in text and "3 files · 0 damaged lines" in text
    for name in FILES:
        assert name in text
    assert "Reproduce it: copilot 1.0.102 · sse-cut" in text


@pytest.mark.django_db
def test_pasted_text_is_read_and_damage_is_named_by_file_and_line(client: Client) -> None:
    log = (CASES[0] / "events.jsonl").read_text().splitlines()
    text = "\r\n".join([*log[:4], log[4][: len(log[4]) // 2], *log[5:]])
    answer = client.post("/import/", {"text": text}, follow=True)
    assert "pasted.jsonl:5" in _text(answer)
    assert "Missing, and what therefore cannot be judged No request log" in _text(answer)


@pytest.mark.django_db
def test_what_cannot_be_read_is_said_on_the_page_and_to_the_script(client: Client) -> None:
    answer = client.post("/import/", {"text": "hello"})
    assert answer.status_code == 422 and "No known format in pasted.jsonl." in _text(answer)
    answer = client.post(
        "/import/",
        {"files": [SimpleUploadedFile("x.jsonl", b"{}")], "paths": '["../../x.jsonl"]'},
        headers={"accept": "application/json"},
    )
    assert answer.status_code == 422 and "no name for a file" in answer.json()["error"]["what"]
    assert not models.Run.objects.exists()


@pytest.mark.django_db
def test_the_api_takes_text_and_base64(client: Client) -> None:
    files = [
        {"name": name, "base64": base64.b64encode(data).decode()}
        if name.startswith("stdout")
        else {"name": name, "text": data.decode()}
        for name, data in FILES.items()
    ]
    answer = client.post("/api/imports", {"files": files}, content_type="application/json")
    assert answer.status_code == 201
    said = answer.json()
    assert said["diagnosis"] == models.Run.objects.get(permalink=said["permalink"]).diagnosis
    assert len(said["intake"]["formats"]) == 3 and said["findings"]
    for body, named in (
        ({"files": []}, "files: "),
        ({"files": [{"name": "x", "base64": "%"}]}, "'x'"),
        ({"files": [{"text": "x"}]}, "files.0.name: "),
        ({"nothing": 1}, "files: "),
    ):
        answer = client.post("/api/imports", body, content_type="application/json")
        assert answer.status_code == 422 and named in answer.json()["error"]["what"]


@pytest.mark.django_db
def test_one_press_runs_the_proposal_and_both_are_on_one_clock(
    client: Client, imported: models.Run, monkeypatch: Any
) -> None:
    from runs import start

    monkeypatch.setattr(start, "send", lambda pk: None)
    answer = client.post(f"/runs/{imported.permalink}/reproduce/")
    fresh = models.Run.objects.get(kind="run")
    assert answer.headers["location"] == f"/runs/{fresh.permalink}/"
    assert (fresh.agent, fresh.version, fresh.scenario) == ("copilot", "1.0.102", "sse-cut")
    page = client.get(f"/runs/{imported.permalink}/").content.decode()
    assert f"/compare/?runs={imported.permalink},{fresh.permalink}" in page
    assert "copilot 1.0.102 · sse-cut</a>" in page
    fresh.delete()
    assert fresh.permalink not in client.get(f"/runs/{imported.permalink}/").content.decode()


@pytest.mark.django_db
def test_an_import_offers_the_script_of_what_it_proposes(
    client: Client, imported: models.Run
) -> None:
    page = client.get(f"/runs/{imported.permalink}/").content.decode()
    (address,) = re.findall(r'href="(/runs/\w+/export/script\?redact=structure)">Script', page)
    answer = client.get(address)
    text = b"".join(answer.streaming_content) if answer.streaming else answer.content
    assert answer.status_code == 200
    compile(text, "repeat.py", "exec")
    assert b"copilot 1.0.102" in text and b"sse-cut" in text


@pytest.mark.django_db
def test_a_verdict_of_a_person_shows_on_the_finding_and_in_the_list(
    client: Client, imported: models.Run
) -> None:
    finding = models.Finding.objects.filter(run=imported, verdict="broken")[0]
    address = f"/runs/{imported.permalink}/opinions/"
    given = {"law": finding.law, "agent": finding.agent, "word": "by design",
             "note": "They <b>want</b> it so.", "link": "https://example.com/1"}  # fmt: skip
    assert client.post(address, given).status_code == 302
    text = _text(client.get(f"/runs/{imported.permalink}/"))
    assert "by design They &lt;b&gt;want&lt;/b&gt; it so. https://example.com/1" in text
    assert f"{finding.law} by design" in _text(client.get("/"))
    assert client.post(address, {**given, "link": "javascript:alert(1)"}).status_code == 400
    assert client.post(address, {**given, "agent": "nobody"}).status_code == 404
    client.post(address, {**given, "word": ""})
    assert not models.Opinion.objects.exists()


@pytest.mark.django_db
def test_the_preview_shows_what_is_replaced(client: Client, imported: models.Run) -> None:
    models.Run.objects.filter(pk=imported.pk).update(notes="mail bob@corp.example about it")
    address = f"/runs/{imported.permalink}/share/"
    text = _text(client.get(address))
    assert "Preview" in text and "texts as length and hash" in text and "⟨text" in text
    text = _text(client.get(address + "?redact=custom&detector=email"))
    assert "bob@corp.example ⟨email-1⟩" in text
    assert client.get(address + "?redact=nothing").status_code == 400


@pytest.mark.django_db
def test_a_link_serves_the_redacted_page_until_it_is_revoked(
    client: Client, imported: models.Run
) -> None:
    made = client.post(f"/runs/{imported.permalink}/share/", {"redact": "structure", "days": "7"})
    share = models.Share.objects.get()
    assert made.headers["location"] == f"/shares/#s{share.pk}"
    assert f"/s/{share.key}/" in client.get("/shares/").content.decode()
    answer = client.get(f"/s/{share.key}/")
    page = b"".join(answer.streaming_content).decode()
    assert "Truth against report" in page and "Redacted" in page
    assert "script" not in answer.headers["content-security-policy"].replace("script-src", "")
    assert answer.headers["cache-control"] == "no-store"
    archive = client.get(f"/s/{share.key}/archive.zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(archive.streaming_content))) as packed:
        held = "".join(packed.read(name).decode() for name in packed.namelist())
    assert imported.permalink not in page + held
    for below in ("events", f"runs/{imported.permalink}/", "archive.zip/"):
        assert client.get(f"/s/{share.key}/{below}").status_code == 404
    assert client.post(f"/s/{share.key}/").status_code == 405
    ended = client.post(f"/shares/{share.pk}/revoke/")
    assert ended.headers["location"] == f"/shares/#s{share.pk}"
    told = client.get(f"/s/{share.key}/", headers={"accept": "text/html"})
    assert told.status_code == 410 and told.content.decode().startswith("<!doctype html>")
    assert "revoked or has expired" in told.content.decode()
    assert STYLE_HASH in told.headers["content-security-policy"]
    for rest in ("", "archive.zip", "events", f"runs/{imported.permalink}/"):
        assert client.get(f"/s/{share.key}/{rest}").status_code == 410
    assert not shares.path_of(share, "html").exists()
    assert client.get("/s/nothing/").status_code == 404
    assert "revoked" in _text(client.get("/shares/"))


@pytest.mark.django_db
def test_a_link_ends_with_its_time_and_with_its_run(client: Client, imported: models.Run) -> None:
    from runs import start
    from runs.redact import Choice

    late = shares.create(imported, Choice.of("structure"), 1)
    models.Share.objects.filter(pk=late.pk).update(expires_at=timezone.now() - timedelta(days=1))
    assert client.get(f"/s/{late.key}/").status_code == 410
    orphan = shares.create(imported, Choice.of("structure"), 1)
    imported.refresh_from_db()
    start.delete(imported)
    assert client.get(f"/s/{orphan.key}/").status_code == 410


@pytest.mark.django_db
def test_a_link_needs_no_token_and_everything_else_does(
    client: Client, imported: models.Run, settings: Any
) -> None:
    from runs.redact import Choice

    share = shares.create(imported, Choice.of("structure"), 1)
    settings.TOKEN = "a-token-of-some-length"
    assert client.get(f"/s/{share.key}/").status_code == 200
    for address in (f"/runs/{imported.permalink}/", "/shares/", "/import/",
                    f"/runs/{imported.permalink}/export/json"):  # fmt: skip
        assert client.get(address).status_code == 302
    assert client.post(f"/shares/{share.pk}/revoke/").status_code in (401, 403)


@pytest.mark.django_db
def test_every_format_downloads_redacted_unless_it_is_asked_for_whole(
    client: Client, imported: models.Run
) -> None:
    base = f"/runs/{imported.permalink}/export"
    answer = client.get(f"{base}/json")
    assert json.loads(b"".join(answer.streaming_content))["redacted"] == "structure"
    assert "-redacted.json" in answer.headers["content-disposition"]
    answer = client.get(f"{base}/json?redact=full")
    assert json.loads(b"".join(answer.streaming_content))["redacted"] == "full"
    assert client.get(f"{base}/pdf").status_code == 404


@pytest.mark.django_db
def test_a_detector_that_crashes_ends_every_form_and_no_page(
    client: Client, imported: models.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(text: str) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(redact.detectors()["email"], "find", crash)
    base = f"/runs/{imported.permalink}"
    for name in export.exports():
        answer = client.get(f"{base}/export/{name}")
        assert answer.status_code == 500 and "Nothing was exported" in _text(answer), name
    assert client.get(f"{base}/share/").status_code == 400
    assert client.post(f"{base}/share/", {"redact": "structure", "days": "7"}).status_code == 400
    assert not models.Share.objects.exists()
    page = client.get(f"{base}/")
    assert page.status_code == 200 and "Nothing was exported" in page.content.decode()
