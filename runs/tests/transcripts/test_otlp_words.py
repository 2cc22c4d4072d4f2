"""OTLP: an odd word in one span costs no other span of the document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.core.events import Draft, Kind
from runs.transcripts.otlp import Trace


def _chat(status: dict[str, int], *more: dict[str, Any], **said: str) -> Draft:
    """What a document with one span of a call says of it."""
    words = {"gen_ai.operation.name": "chat", **said}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in words.items()]
    span = {
        "traceId": "a" * 32,
        "spanId": "b" * 16,
        "name": "chat",
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": [*attributes, *more],
        "status": status,
    }
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    reader = Trace("trace.json", "trace")
    drafts = [*reader.feed(json.dumps(document).encode(), 1, 0), *reader.end()]
    (found,) = [one for one in drafts if one.kind is Kind.SPAN]
    return found


@pytest.mark.parametrize(("word", "status"), [("529", 529), ("²²²", None), ("٥٢٩", None)])
def test_only_three_plain_digits_are_a_status(word: str, status: int | None) -> None:
    found = _chat({"code": 2}, **{"error.type": word})
    assert found.data.get("http_status") == status


def test_a_type_of_error_says_that_it_failed_where_the_status_is_left_out() -> None:
    assert _chat({}, **{"error.type": "timeout"}).data.get("ok") is False
    assert _chat({"code": 1}, **{"error.type": "timeout"}).data.get("ok") is True
    assert _chat({}).data.get("ok") is None


@pytest.mark.parametrize("status", ["529", 529])
def test_an_answer_of_an_error_says_so_too(status: str | int) -> None:
    answered = {"key": "http.response.status_code", "value": {"intValue": status}}
    assert _chat({}, answered).data.get("ok") is False
    assert _chat({}, answered).data.get("http_status") == 529
    assert _chat({"code": 1}, answered).data.get("ok") is True


def test_of_a_list_the_first_value_counts() -> None:
    values = {"arrayValue": {"values": [{"stringValue": "length"}, {"stringValue": "stop"}]}}
    reasons = {"key": "gen_ai.response.finish_reasons", "value": values}
    assert _chat({"code": 1}, reasons).data.get("finish") == "length"
    empty = {"key": "gen_ai.response.finish_reasons", "value": {"arrayValue": {}}}
    assert _chat({"code": 1}, empty).data.get("finish") is None
