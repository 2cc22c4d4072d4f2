"""What our readers cut off: the beginning of a secret that has no shape yet, and our own words."""

from __future__ import annotations

from typing import Any

import pytest

from runs import redact
from runs.cuts import last_run
from runs.redact import Choice, Redactor
from runs.shaper import Shaper

SECRETS = (
    "8123456789:AAHq7Wd2zKp9RtBn4Jt",
    "SK3f9a8b7c6d5e4f3a2b1c0d9e",
    "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAx.G",
    "secret_q7Wd2zKp9RtBn4Jt",
    '{"auth":"Ym9iOnE3V2Qy',
    "build7.corp.loca",
)


def shape(data: dict[str, Any], *, texts: bool, learn: bool = True, **told: Any) -> Any:
    level = "structure" if texts else "custom"
    redactor = Redactor(
        Choice.of(level, texts, tuple(redact.detectors())), b"salt", ours=frozenset({"failed"})
    )
    shaper = Shaper(redactor)
    for part in (told, {"data": data}) if learn else ():
        shaper.learn(part)
    redactor.learned()
    return shaper.shape("", {**told, "data": data})


def cut(secret: str, limit: int, before: str = "x ") -> str:
    """A text that ends, at this length, within a secret."""
    return (before * limit)[: limit - len(secret) - 1] + " " + secret


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize(
    ("key", "limit"), [("raw", 40), ("summary", 80), ("reason", 80), ("finish", 40), ("fault", 80)]
)
def test_the_beginning_of_a_secret_goes(secret: str, texts: bool, key: str, limit: int) -> None:
    for learn in (True, False):
        left = shape({key: cut(secret, limit)}, texts=texts, learn=learn)["data"][key]
        assert secret[-8:] not in left and left.endswith("⟩")
    assert texts or left.startswith("x x ")


def test_alone_it_goes_as_well_and_where_a_sentence_quotes_it() -> None:
    raw = ("MTIzNDU2Nzg5MDEyMzQ1Njc4OTAx.GaBcDe" * 2)[:40]
    told = shape({"raw": raw}, texts=True, sentence=f"child: it says {raw}, and no more.")
    assert raw[:16] not in str(told)
    assert told["data"]["raw"] in told["sentence"]
    name = "Mend the login of our customer " + raw[:9]
    said = shape({"raw": name}, texts=True, sentence=f"child: {name} was never told.")
    assert "login" not in str(said)
    for key, value in (
        *(("native", f"item/{raw}"), ("native", f"{raw}/snapshot")),
        *(("type", raw), ("raw", f"completed {raw}")),
    ):
        assert raw[:16] not in str(shape({key: value}, texts=False))
    assert raw[:16] not in str(shape({"counts": {f"{raw}/snapshot": 1}}, texts=True))
    reason = ("x " * 40)[:66] + raw[:14]
    assert raw[:14] not in str(shape({"reason": reason}, texts=True, sentence=f"“{reason}”."))
    assert shape({"raw": raw[:39]}, texts=True)["data"]["raw"] == raw[:39]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("raw", "0123456789abcdef0123456789abcdef01234567"),
        ("call", "call_9f8e-of-the-turn-7-of-the-session-3"),
        ("native", "item/commandExecution/requestingApproval"),
        ("file", "a15e2362d00c9b351/subagents/session-1.jsonl".rjust(80, "b")),
        ("sentence", "child-a: its end was told 2 times by root."[:40]),
        ("reason", "child-a: it ended 2 times by root's logs"[:39] + "."),
        ("raw", "x " * 17 + "failed"),
        ("raw", "x " * 20),
    ],
)
def test_ids_names_files_and_words_of_ours_stay(key: str, value: str) -> None:
    assert shape({key: value}, texts=False)["data"][key] == value


@pytest.mark.parametrize(
    ("key", "name"),
    [("native", "session/prompt answered"), ("type", "tool output"), ("raw", "finish unknown"),
     ("raw", "isError false")],
)  # fmt: skip
def test_a_name_of_two_words_that_a_reader_gives_stays(key: str, name: str) -> None:
    assert shape({key: name}, texts=True, reason=f"It says {name}.")["data"][key] == name
    for foreign in (f"{name} to Alice", "customer list", f"see ghp_{'a1B2' * 8} answered"):
        left = shape({key: foreign}, texts=True)["data"][key]
        assert not {"Alice", "customer", f"ghp_{'a1B2' * 8}"} & set(left.split()), left


def test_signs_are_no_run_and_take_no_square() -> None:
    assert last_run("it failed ⟨user-1⟩") == last_run("it failed ⟨text 6 ab⟩/") == ""
    assert last_run("at /home/⟨text 6 ab⟩/q") == "/home/⟨text 6 ab⟩/q"
    assert last_run("⟨⟩" * 2000 + "a") == "⟨⟩" * 2000 + "a"
