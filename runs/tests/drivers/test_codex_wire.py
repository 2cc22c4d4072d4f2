"""Codex's app-server as the driver sees it: the wire, its protocol, rollouts, the conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runs.core.events import KINDS, Draft, Kind
from runs.drivers.codex.protocol import SIDES, Protocol, protocol_of
from runs.drivers.codex.rollouts import LiveRollout
from runs.drivers.codex.wire import Wire
from runs.tests.transcripts.helpers import RECORDED, physical

ROOT, CHILD = "01a2-root-thread", "01a2-child-thread"


class Kept:
    """What a wire emits, and the lines that it keeps."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.lines: list[bytes] = []

    def __call__(self, draft: Draft, raw: bytes = b"") -> None:
        self.drafts.append(draft)
        self.lines += [raw] if raw else []

    def of(self, kind: Kind, **wanted: Any) -> list[Draft]:
        return [
            one for one in self.drafts
            if one.kind is kind and all(getattr(one, key) == v for key, v in wanted.items())
        ]  # fmt: skip


def _replayed(name: str) -> Kept:
    kept = Kept()
    wire = Wire(kept, None)
    for line in (RECORDED / "codex" / name / "events.jsonl").read_text().splitlines():
        record = json.loads(line)
        if "msg" in record:
            wire.note(record["dir"], json.dumps(record["msg"]).encode())
    wire.close()
    return kept


def test_it_keeps_both_directions_byte_for_byte() -> None:
    kept = Kept()
    wire = Wire(kept, None)
    raw = b'{"id":1, "method":"thread/start","params":{"cwd":"\\u00e4"}}'
    wire.note("in", raw + b"\n")
    wire.note("out", b"not json \xff\n")
    first, second = kept.lines
    assert raw in first and json.loads(first)["dir"] == "in"
    assert json.loads(second)["msg"].startswith("not json")
    assert [draft.offset for draft in kept.drafts] == [0, len(first)]
    assert [draft.line for draft in kept.drafts] == [1, 2]


def test_every_draft_keeps_to_the_vocabulary() -> None:
    for name in (
        "0.171.0/app-v2-clean-eof",
        "0.171.0/app-v1-clean-eof",
        "0.120.0/app-v2-clean-eof",
    ):
        for draft in _replayed(name).drafts:
            assert not set(draft.data) - KINDS[draft.kind].keys, draft


def test_a_failed_child_ends_on_its_own_thread_and_nowhere_on_its_parents() -> None:
    kept = _replayed("0.171.0/app-v2-clean-eof")
    (end,) = kept.of(Kind.AGENT_ENDED)
    assert (end.source, end.data["status"]) == ("stdout", "failed")
    sources = {one.source: one.data.get("ends_elsewhere") for one in kept.of(Kind.AGENT_STARTED)}
    assert sources == {"rpc": True, "stdout": None}
    assert not [one for one in kept.of(Kind.NOTICE_DELIVERED) if one.data["status"] == "failed"]
    assert len(kept.of(Kind.MODEL_RETRY, agent=end.agent)) == 2


def test_the_first_generation_shows_the_failure_to_the_parents_thread() -> None:
    kept = _replayed("0.171.0/app-v1-clean-eof")
    told = [one.data["status"] for one in kept.of(Kind.NOTICE_DELIVERED, source="rpc")]
    assert "failed" in told


def test_the_end_of_the_roots_turn_is_the_last_word() -> None:
    kept = _replayed("0.171.0/app-v2-success")
    (result,) = kept.of(Kind.RESULT)
    assert result.data == {"status": "completed", "is_error": False}
    (done,) = kept.of(Kind.NOTICE_DELIVERED, source="rpc")
    assert (done.data["status"], done.data["form"]) == ("completed", "activity")


# The protocol


def _bundle(folder: Path) -> Path:
    """A small bundle in the form in which the binary writes one."""
    params = {
        "type": "object",
        "required": ["threadId", "item"],
        "properties": {
            "threadId": {"type": "string"},
            "item": {"$ref": "#/definitions/Item"},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    }
    item = {
        "oneOf": [
            {"type": "object", "required": ["type", "text"],
             "properties": {"type": {"enum": ["said"]}, "text": {"type": "string"}}},
            {"type": "object", "required": ["type", "kind"],
             "properties": {"type": {"enum": ["did"]}, "kind": {"enum": ["started"]}}},
        ]
    }  # fmt: skip
    for side, name in SIDES.items():
        method = {"server-notification": "item/done", "client-request": "thread/start"}.get(side)
        entry = {
            "properties": {
                "method": {"enum": [method]},
                "params": {
                    "$ref": f"#/definitions/{'Start' if 'start' in str(method) else 'Done'}Params"
                },
            }
        }
        document = {
            "oneOf": [entry] if method else [],
            "definitions": {"DoneParams": params, "Item": item, "StartParams": {"type": "object"}},
        }
        (folder / f"{name}.json").write_text(json.dumps(document))
    answer = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
    (folder / "StartResponse.json").write_text(json.dumps(answer))
    return folder


def _done(**item: Any) -> dict[str, Any]:
    return {"method": "item/done", "params": {"threadId": "t", "item": item, "map": {"any": "x"}}}


def test_a_message_that_the_schema_knows_leaves_no_remark(tmp_path: Path) -> None:
    protocol = Protocol(_bundle(tmp_path))
    for _ in range(2):
        assert protocol.check("server-notification", _done(type="said", text="a")) == []
        assert protocol.check("server-notification", _done(type="did", kind="started")) == []


@pytest.mark.parametrize(
    ("message", "what", "place"),
    [
        ({"method": "item/new", "params": {}}, "unknown-method", ""),
        (_done(type="did", kind="started", model="m"), "unknown-field", "params.item.model"),
        (_done(type="did", kind="completed"), "invalid", "params.item"),
        ({**_done(type="said", text="a"), "emittedAtMs": 1}, "unknown-field", "emittedAtMs"),
        ({"method": "item/done", "params": {"threadId": "t"}}, "invalid", "params"),
    ],
)
def test_what_the_schema_does_not_know_or_forbids_is_remarked(
    tmp_path: Path, message: dict[str, Any], what: str, place: str
) -> None:
    protocol = Protocol(_bundle(tmp_path))
    assert protocol.check("server-notification", _done(type="did", kind="started")) == []
    found = protocol.check("server-notification", message)
    assert (what, place) in [(remark.what, remark.place) for remark in found]


def test_remarks_become_events_and_answers_are_checked_too(tmp_path: Path) -> None:
    kept = Kept()
    wire = Wire(kept, protocol_of(_bundle(tmp_path)))
    wire.note("in", b'{"id":1,"method":"thread/start","params":{}}')
    wire.note("out", b'{"id":1,"result":{"name":"x"}}')
    wire.note("out", json.dumps({"method": "item/new", "params": {}}).encode())
    remarks = [one for one in kept.drafts if str(one.data.get("type")).startswith("protocol/")]
    assert [(one.data["type"], one.native) for one in remarks] == [
        ("protocol/invalid", "thread/start"),
        ("protocol/unknown-field", "thread/start"),
        ("protocol/unknown-method", "item/new"),
    ]


def test_a_bundle_that_is_none_is_no_protocol(tmp_path: Path) -> None:
    assert protocol_of(tmp_path) is None


# Rollouts


def test_a_parent_that_knows_a_path_is_told_of_the_thread_that_another_file_names() -> None:
    folder = RECORDED / "codex" / "0.120.0" / "app-v2-clean-eof"
    parent, child = sorted(folder.glob("rollout-*.jsonl"))
    if b"thread_spawn" in parent.read_bytes().split(b"\n", 1)[0]:
        parent, child = child, parent
    paths: dict[str, str] = {}
    readers = [LiveRollout(file.name, paths) for file in (parent, child)]
    drafts: list[Draft] = []
    # The parent's file is read first: its reader waits for the child's.
    for reader, file in zip(readers, (parent, child), strict=True):
        offset = 0
        for number, line in enumerate(physical(file.read_bytes()), 1):
            drafts += reader.feed(line, number, offset)
            offset += len(line)
    drafts += [draft for reader in readers for draft in reader.end()]
    (started,) = [one for one in drafts if one.kind is Kind.AGENT_STARTED]
    notices = [one for one in drafts if one.kind is Kind.NOTICE_DELIVERED]
    assert {one.data["child"] for one in notices} == {started.agent}
    assert {one.data["status"] for one in notices} == {"completed"}


def test_a_name_that_nobody_explains_is_kept_as_it_is() -> None:
    reader = LiveRollout("r.jsonl", {})
    lines = [
        {"type": "session_meta", "payload": {"id": "t", "cli_version": "0.171.0"}},
        {"type": "response_item", "payload": {"type": "agent_message", "author": "/root/x",
         "content": [{"type": "input_text", "text": "Message Type: FINAL_ANSWER\nPayload:\nok"}]}},
    ]  # fmt: skip
    drafts = [
        draft
        for number, line in enumerate(lines, 1)
        for draft in reader.feed(json.dumps(line).encode() + b"\n", number, 0)
    ]
    assert [draft.kind for draft in drafts] == [Kind.SESSION_STARTED]
    (held,) = reader.end()
    assert held.data["child"] == "/root/x"
