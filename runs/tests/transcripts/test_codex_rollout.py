"""Codex's rollouts: what one thread's file says of itself and of others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.core.events import Draft, Kind
from runs.tests.transcripts.helpers import drafts_of, lines

ROOT = {"type": "session_meta", "payload": {"id": "th-root", "cli_version": "0.120.0"}}


def _item(**payload: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": payload}


def _read(*records: dict[str, Any]) -> list[Draft]:
    stamped = [{"timestamp": f"2026-10-05T09:00:0{n}Z", **one} for n, one in enumerate(records)]
    return drafts_of("codex-rollout-jsonl", lines(stamped), "rollout.jsonl")


@pytest.mark.parametrize("size", [20, 1_100_000])
def test_a_notice_is_one_however_long_the_answer_in_it(size: int) -> None:
    notice = json.dumps({"agent_path": "/root/a", "status": {"completed": "x" * size}})
    words = f"<subagent_notification>\n{notice}\n</subagent_notification>"
    envelope = json.dumps({"author": "/root/a", "recipient": "/root", "content": words})
    content = [{"type": "output_text", "text": envelope}]
    found = _read(ROOT, _item(type="message", role="assistant", content=content))
    (told,) = [one for one in found if one.kind is Kind.NOTICE_DELIVERED]
    assert (told.data["status"], told.data["text_length"]) == ("completed", size)


def test_a_long_answer_that_stands_there_twice_is_said_once() -> None:
    said = "x" * 1_100_000
    event = {"type": "event_msg", "payload": {"type": "agent_message", "message": said}}
    content = [{"type": "output_text", "text": said}]
    found = _read(ROOT, event, _item(type="message", role="assistant", content=content))
    (message,) = [one for one in found if one.kind is Kind.AGENT_MESSAGE]
    assert message.data["text_length"] == len(said)
