"""The digests of texts: keyed before they leave, and still equal where they were."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.spoken import digest
from runs import redact
from runs.redact import Choice, Redactor
from runs.shaper import Shaper

EVENTS: list[dict[str, Any]] = [
    {"kind": "message.user", "data": {"digest": digest("yes")}},
    {"kind": "tool.started", "data": {"call": "call_a1", "tool": "read"}},
    {
        "kind": "request.received",
        "data": {"conversation": [f"user {digest('yes')}", "call call_a1", "output call_a1"]},
    },
]


@pytest.mark.parametrize("level", ["structure", "custom"])
def test_a_short_text_is_not_found_by_its_digest_and_still_compares(level: str) -> None:
    redactor = Redactor(Choice.of(level, False, tuple(redact.detectors())), b"salt")
    shaper = Shaper(redactor)
    shaper.learn(EVENTS)
    redactor.learned()
    said, _, asked = (event["data"] for event in shaper.shape("", EVENTS))
    assert digest("yes") not in str([said, asked])
    words = [f"user {said['digest']}", "call call_a1", "output call_a1"]
    assert asked["conversation"] == words


def test_whole_it_stays_as_it_is() -> None:
    shaper = Shaper(Redactor(Choice.of("full"), b"salt"))
    assert shaper.shape("", EVENTS) == EVENTS


def test_what_a_request_counts_and_where_it_goes_stays() -> None:
    redactor = Redactor(Choice.of("structure"), b"salt")
    shaper = Shaper(redactor)
    data = {"path": "/v1/messages?beta=true", "headers": {"x-retry-count": "3", "x-team": "blue"}}
    shaper.learn(data)
    redactor.learned()
    left = shaper.shape("", data)
    assert left["path"].startswith("/v1/messages?⟨text 9 ")
    assert left["headers"]["x-retry-count"] == "3" and "blue" not in str(left)


def test_many_texts_are_no_secrets_and_one_that_is_quoted_goes() -> None:
    redactor = Redactor(Choice.of("structure"), b"salt")
    shaper = Shaper(redactor)
    data = [{"name": f"look at part {number}"} for number in range(redact.MOST_KNOWN + 1)]
    data.append({"reason": "root: look at part 7 was never told."})
    shaper.learn(data)
    redactor.learned()
    assert "look at part" not in str(shaper.shape("", data))


def test_a_command_line_and_a_pair_are_read_together() -> None:
    redactor = Redactor(Choice.of("custom", False, tuple(redact.detectors())), b"salt")
    shaper = Shaper(redactor)
    given = {"argv": ["serve", "--password", "q7Wd2-zKp9Rt"],
             "set": {"name": "x-api-key", "value": "k4JtQ2bN8xVm"}}  # fmt: skip
    shaper.learn(given)
    redactor.learned()
    left = str(shaper.shape("", given))
    assert "q7Wd2" not in left and "k4JtQ" not in left
