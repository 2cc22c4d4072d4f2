"""Redaction: nothing that was planted leaves, what is no secret stays, and it fails closed."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from runs import export, imports, material, models, redact, repeat
from runs.redact import Choice, RedactionFailed, Redactor
from runs.tests.exports.planted import CUT, log, secrets


def redactor(*texts: str, level: str = "structure", hide: bool = True) -> Redactor:
    made = Redactor(Choice.of(level, hide, tuple(redact.detectors())), b"salt")
    for text in texts:
        made.learn(text)
    made.learned()
    return made


def test_every_planted_secret_is_found_in_a_text_that_is_kept() -> None:
    planted = secrets()
    assert len({secret for secret, _ in planted}) == 200
    made = redactor(*(text for _, text in planted), level="custom", hide=False)
    left = [(secret, made.text(text)) for secret, text in planted if secret in made.text(text)]
    assert left == []


@pytest.mark.parametrize(
    "text",
    [
        "task-notification-for-agent-a1b2c3d4e5f6a7b8",
        "toolu_01AbCdEfGhIjKlMnOpQrStUv",
        "e1fb85eb-82a6-4ede-87f6-ed6f42c39825",
        "assistant.turn_retry",
        "session-events.jsonl:22",
        "copilot@1.0.102",
        "python3 manage.py reproduce copilot@1.0.84-5 sse-cut",
        "gemini@0.3.0-nightly.20251105.a1b2c3",
        "http://127.0.0.1:8080/v1/responses",
        "gpt-5.4 claude-opus-4.5",
        "max_tokens=4096",
        "00:11:22.333",
        "The finished stream has a token limit.",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redactor(text).text(text) == text


@pytest.mark.parametrize("text", ["bob@163.com", "bob@1.2.3-x.example.com", "bob%401.2.example"])
def test_an_address_that_begins_like_a_version_is_none(text: str) -> None:
    assert "bob" not in redactor(text).text(text)


def test_one_value_has_one_sign_wherever_it_stands() -> None:
    made = redactor("in /home/alicia/work", "mail alicia@corp.example")
    assert made.text("alicia wrote /home/alicia/x") == "⟨user-1⟩ wrote /home/⟨user-1⟩/x"
    assert "alicia" not in made.text("alicia@corp.example")
    assert made.text("malicias") == "malicias"


def test_a_text_becomes_its_length_and_the_same_hash_again() -> None:
    made = redactor()
    first = made.said("Fix the login of our customer")
    assert first == made.said("Fix the login of our customer") != made.said("Fix the login")
    assert first.startswith("⟨text 29 ") and "login" not in first


@pytest.mark.django_db
def test_no_shared_form_holds_any_of_two_hundred_planted_secrets(tmp_path: Path) -> None:
    planted = secrets()
    run = imports.store_paths([log(tmp_path / "case", planted)])
    run.notes, run.tags, run.version = planted[3][1], [planted[30][0]], "1.0.102"
    run.save()
    models.Opinion.objects.create(
        run=run, law="L3", agent="root", word="confirmed", note=planted[50][1],
        link="https://" + planted[11][0],
    )  # fmt: skip
    stored = "".join(str(row) for row in models.Event.objects.filter(run=run).values())
    assert sum(secret in stored for secret, _ in planted) > 60
    made = material.of(
        run, Choice.of("structure"), address="http://localhost/x", command=repeat.command(run)
    )
    assert made.repeat is not None and made.command
    for chosen in export.exports().values():
        with export.render(chosen, made) as found:
            text = _unpacked(found.read())
        assert [secret for secret, _ in planted if secret in text] == [], chosen.name
    assert planted[3][0] not in export.file_name(run, export.named("html"), made.redactor.choice)
    texts_kept = material.of(run, Choice.of("custom", False, tuple(redact.detectors())))
    with export.render(export.named("json"), texts_kept) as found:
        text = found.read().decode()
    assert [secret for secret, _ in planted if secret in text] == []


def _unpacked(data: bytes) -> str:
    if not data.startswith(b"PK"):
        return data.decode()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return "\n".join(f"{name}\n{archive.read(name).decode()}" for name in archive.namelist())


@pytest.mark.django_db
def test_a_detector_that_crashes_ends_the_whole_export(monkeypatch: Any) -> None:
    run = imports.store_paths([CUT])

    def crash(text: str) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(redact.detectors()["email"], "find", crash)
    with pytest.raises(RedactionFailed, match="'email' failed"):
        material.of(run, Choice.of("structure"))
    assert material.of(run, Choice.of("full")).document["permalink"] == run.permalink


@pytest.mark.django_db
def test_a_secret_in_the_place_of_a_version_leaves_in_no_proposal() -> None:
    run = imports.store_paths([CUT])
    token = "1.0.2-ghp_" + "a1B2c3D4e5F6" * 3
    run.version = token
    run.save()
    made = material.of(run, Choice.of("structure"), command=repeat.command(run))
    with export.render(export.named("markdown"), made) as found:
        assert token not in found.read().decode()
