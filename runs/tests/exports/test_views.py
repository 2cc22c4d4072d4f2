"""Secrets that a text shows to people, though they do not stand in it as one word."""

from __future__ import annotations

import base64
import json
import random
import re
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest

from runs import encoded, redact
from runs.known import Known
from runs.redact import Choice, Redactor

KEY = "ghp_" + "a1B2c3D4e5" * 4
SECRETS = [
    (KEY, f"use {KEY} for it"),
    ("hunter2hunter2", "export DB_PASSWORD='hunter2hunter2'"),
    ("hunter2hunter2", '{"password": "hunter2hunter2"}'),
    ("s3ssi0nvalue", "Cookie: sid=s3ssi0nvalue; theme=dark"),
    ("marlene", "cd /home/marlene/src && ls"),
    ("marlene", "C:\\Users\\marlene\\AppData\\x"),
    ("marlene.d@studio.example.org", "ask marlene.d@studio.example.org first"),
    ("db7.studio.lan", "connect to db7.studio.lan:5432"),
    ("MIIEvQIBADANBg", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----"),
]


def _three_times(text: str, _: str) -> str:
    return json.dumps({"a": json.dumps({"b": json.dumps({"c": text})})})


def _split_by(mark: str) -> Callable[[str, str], str]:
    def split(text: str, secret: str) -> str:
        half = len(secret) // 2
        return text.replace(secret, secret[:half] + mark + secret[half:])

    return split


WAYS: dict[str, Callable[[str, str], str]] = {
    "a text in a text in a text": _three_times,
    "coloured": lambda text, secret: text.replace(secret, f"\x1b[1;32m{secret}\x1b[0m"),
    "coloured, in JSON": lambda text, secret: json.dumps(
        {"out": text.replace(secret, f"\x1b[32m{secret}\x1b[0m")}
    ),
    "split by a colour": _split_by("\x1b[0m\x1b[31m"),
    "split by what nobody sees": _split_by("\u200b"),
    "split by a soft end of line": _split_by("=\n"),
    "split by a continued line": _split_by("\\\n"),
    "in HTML": lambda text, _: text.replace('"', "&quot;").replace("'", "&#39;"),
    "in percent signs": lambda text, _: f"x?y={quote(text, safe='')}",
    "in percent signs twice": lambda text, _: quote(quote(text, safe=""), safe=""),
    "in base64": lambda text, _: f"said {base64.b64encode(text.encode()).decode()} to it",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("secret", "text"), SECRETS)
def test_a_secret_that_is_seen_does_not_leave(way: str, secret: str, text: str) -> None:
    written = WAYS[way](text, secret)
    redactor = Redactor(Choice.of("custom", False, tuple(redact.detectors())), b"salt")
    redactor.learn(written)
    redactor.learned()
    left = redactor.text(written)
    seen = encoded.plain(left)
    halves = (secret[: len(secret) // 2], secret[len(secret) // 2 :])
    for shown in (left, seen.text if seen else "", *(said for _, _, said in encoded.words(left))):
        assert not any(half in shown for half in halves), (written, left)


def test_what_people_see_is_found_where_it_stood() -> None:
    text = 'a \x1b[1mbold\x1b[0m wo\u200brd, \\"quoted\\" \\u0041 &amp; C:\\\\x'
    view = encoded.plain(text)
    assert view is not None
    assert view.text == 'a bold word, "quoted" A & C:\\x'
    for word, stood in (("bold", "\x1b[1mbold"), ("word", "wo\u200brd"), ("A", "\\u0041")):
        start, end = view.place(view.text.index(word), view.text.index(word) + len(word))
        assert text[start:end] == stood
    assert encoded.plain("nothing of it") is None


def test_known_values_are_found_as_one_by_one() -> None:
    chance = random.Random(3)
    for _ in range(400):
        letters = chance.choice(["ab", "ab.", "a1-", "abcdef"])

        def word(most: int, of: str = letters) -> str:
            return "".join(chance.choice(of) for _ in range(chance.randint(1, most)))

        values = {word(6) for _ in range(chance.randint(1, 30))}
        whole = {value for value in values if chance.random() < 0.5}
        text = word(80, letters + " -")
        longest = sorted(values, key=len, reverse=True)
        edge = "[A-Za-z0-9]"
        plain = "|".join(
            (f"(?<!{edge})" if one in whole and one[0].isalnum() else "")
            + re.escape(one)
            + (f"(?!{edge})" if one in whole and one[-1].isalnum() else "")
            for one in longest
        )
        expected = [(found.start(), found.end()) for found in re.finditer(plain, text)]
        assert [place[:2] for place in Known(values, whole.__contains__).find(text)] == expected


def test_values_that_all_begin_with_each_other_are_found() -> None:
    known = Known(["a" * count for count in range(2, 400)], lambda _: True)
    assert [place[:2] for place in known.find("a" * 50 + " " + "a" * 399)] == [(0, 50), (51, 450)]


def test_many_secrets_cost_no_more_each_than_few() -> None:
    def cost(count: int) -> float:
        texts = [f"said u{number}.x@h{number}.example.com, then more" for number in range(count)]
        redactor = Redactor(Choice.of("custom", False, ("email",)), b"salt")
        begun = time.process_time()
        for text in texts:
            redactor.learn(text)
        redactor.learned()
        left = "\n".join(redactor.text(text) for text in texts)
        assert not redactor.leak(left)
        assert "example" not in left
        return (time.process_time() - begun) / count

    few = min(cost(600) for _ in range(3))
    assert cost(6000) < 4 * few
