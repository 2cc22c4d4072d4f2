"""OTLP: an odd word in one span costs no other span of the document."""

from __future__ import annotations

import json

import pytest

from runs.core.events import Kind
from runs.transcripts.otlp import Trace


@pytest.mark.parametrize(("word", "status"), [("529", 529), ("²²²", None), ("٥٢٩", None)])
def test_only_three_plain_digits_are_a_status(word: str, status: int | None) -> None:
    said = {"gen_ai.operation.name": "chat", "error.type": word}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in said.items()]
    span = {
        "traceId": "a" * 32,
        "spanId": "b" * 16,
        "name": "chat",
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": attributes,
        "status": {"code": 2},
    }
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    reader = Trace("trace.json", "trace")
    drafts = [*reader.feed(json.dumps(document).encode(), 1, 0), *reader.end()]
    (found,) = [one for one in drafts if one.kind is Kind.SPAN]
    assert found.data.get("http_status") == status
