"""Damaged files: each kind has a name and a physical line, and what is certain is repaired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runs.core.events import Draft, Kind
from runs.tests.transcripts.helpers import CASES, broken, case, drafts_of, verdicts
from runs.transcript import read_case

COPILOT = next(path for path in CASES if path.name.startswith("02-")) / "events.jsonl"
GOOD = COPILOT.read_bytes().splitlines(keepends=True)


def _damage(drafts: list[Draft]) -> list[tuple[str, int | None, bool]]:
    return [
        (str(one.data["what"]), one.line, bool(one.data["repaired"]))
        for one in drafts
        if one.kind is Kind.DAMAGE
    ]


def _facts(drafts: list[Draft]) -> list[tuple[str, str]]:
    return [(one.kind.value, one.agent) for one in drafts if one.kind is not Kind.DAMAGE]


def _read(lines: list[bytes]) -> list[Draft]:
    return drafts_of("copilot-events-jsonl", b"".join(lines))


WHOLE = _read(GOOD)


def test_it_finds_no_damage_in_a_whole_file() -> None:
    assert _damage(WHOLE) == []


@pytest.mark.parametrize(
    ("what", "lines", "line"),
    [
        ("bom", [b"\xef\xbb\xbf" + GOOD[0], *GOOD[1:]], 1),
        ("crlf", [line.replace(b"\n", b"\r\n") for line in GOOD], 1),
        ("nul", [*GOOD[:4], b"\0\0" + GOOD[4], *GOOD[5:]], 5),
        ("glued", [*GOOD[:4], GOOD[4].rstrip() + GOOD[5], *GOOD[6:]], 5),
        ("duplicate", [*GOOD[:6], GOOD[5], *GOOD[6:]], 7),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_repairs_what_is_certain(what: str, lines: list[bytes], line: int) -> None:
    drafts = _read(lines)
    assert _damage(drafts) == [(what, line, True)]
    assert _facts(drafts) == _facts(WHOLE)


def test_it_joins_a_record_that_a_raw_newline_split() -> None:
    record = json.loads(GOOD[6])
    record["data"]["result"]["content"] = "started@agent_id: agent-A"
    split = json.dumps(record).replace("@", "\n").encode() + b"\n"
    drafts = _read([*GOOD[:6], split, *GOOD[7:]])
    assert _damage(drafts) == [("half-line", 7, True), ("half-line", 8, True)]
    assert _facts(drafts) == _facts(WHOLE)


def test_it_joins_a_record_that_is_spread_over_many_lines() -> None:
    record = json.loads(GOOD[6])
    record["data"]["result"]["content"] = "started@@a table:@ 1 | 2@agent_id: agent-A"
    split = json.dumps(record).replace("@", "\n").encode() + b"\n"
    drafts = _read([*GOOD[:6], split, *GOOD[7:]])
    assert _damage(drafts) == [("half-line", line, True) for line in range(7, 12)]
    assert _facts(drafts) == _facts(WHOLE)


def test_it_loses_no_line_after_a_torn_record() -> None:
    drafts = _read([*GOOD[:6], GOOD[6][:50] + b"\n", b"noise\n", b"more\n", *GOOD[7:]])
    assert _damage(drafts)[:3] == [
        ("half-line", 7, False),
        ("not-json", 8, False),
        ("not-json", 9, False),
    ]


def test_it_keeps_a_whole_record_behind_a_torn_one() -> None:
    torn = GOOD[11][: len(GOOD[11]) // 2] + GOOD[12]
    drafts = _read([*GOOD[:11], torn, *GOOD[13:]])
    assert ("half-line", 12, False) in _damage(drafts)
    kinds = [one.kind for one in drafts if one.line == 12]
    assert Kind.NOTICE_DELIVERED in kinds
    assert Kind.AGENT_ENDED not in kinds


def test_it_knows_a_torn_prefix_of_the_record_that_follows_it() -> None:
    torn = GOOD[11][: len(GOOD[11]) // 2] + GOOD[11]
    drafts = _read([*GOOD[:11], torn, *GOOD[12:]])
    assert _damage(drafts) == [("half-line", 12, True)]
    assert _facts(drafts) == _facts(WHOLE)


def test_it_never_takes_the_tail_of_a_torn_record_for_a_record() -> None:
    torn = b'{"type": "x", "data": {"type": "subagent.completed", "agentId": "evil"}\n'
    drafts = _read([*GOOD[:5], torn, *GOOD[5:]])
    assert ("half-line", 6, False) in _damage(drafts)
    assert not [one for one in drafts if one.agent == "evil"]


def test_it_says_that_the_file_ends_inside_of_a_record(tmp_path: Path) -> None:
    cut = b"".join(GOOD[:11]) + GOOD[11][:40]
    found = case(tmp_path, {"events.jsonl": cut})
    assert [(row["what"], row["line"]) for row in found.damage] == [("truncated", 12)]
    assert not found.history.complete
    assert ("L1", "agent-A") not in broken(found)
    assert "holds" not in verdicts(found, "L1")


def test_it_names_nuls_at_the_end_and_a_line_of_only_nuls() -> None:
    drafts = _read([*GOOD, b"\0" * 1728])
    assert _damage(drafts) == [("nul", len(GOOD) + 1, False)]


def test_it_replaces_what_is_no_utf8_and_keeps_the_record() -> None:
    spoiled = GOOD[16].replace(b"The worker", b"The w\xfforker")
    drafts = _read([*GOOD[:16], spoiled, *GOOD[17:]])
    assert _damage(drafts) == [("invalid-utf8", 17, True)]
    assert _facts(drafts) == _facts(WHOLE)


def test_it_keeps_a_line_separator_inside_of_a_text() -> None:
    parts = GOOD[16].replace(b"The worker", "The\u2028worker".encode())
    assert _damage(_read([*GOOD[:16], parts, *GOOD[17:]])) == []


def test_it_sorts_lines_that_stand_out_of_order(tmp_path: Path) -> None:
    shuffled = [*GOOD[:5], GOOD[6], GOOD[5], *GOOD[7:11], GOOD[12], GOOD[11], *GOOD[13:]]
    found = case(tmp_path, {"events.jsonl": b"".join(shuffled)})
    whats = {row["what"] for row in found.damage}
    assert whats <= {"reordered", "time-backwards"}
    assert "reordered" in whats
    assert broken(found) == set()
    assert [run.status for run in found.history.runs] == ["failed"]


def test_it_names_a_broken_chain_and_a_missing_start(tmp_path: Path) -> None:
    found = case(tmp_path, {"events.jsonl": b"".join([*GOOD[3:7], *GOOD[8:]])})
    assert [(row["what"], row["line"]) for row in found.damage] == [
        ("missing-start", 1),
        ("broken-parent", 5),
    ]


def test_it_straightens_a_clock_that_was_set_back(tmp_path: Path) -> None:
    moved = [
        line if place < 12 else line.replace(b"T09:00:", b"T08:00:")
        for place, line in enumerate(GOOD)
    ]
    found = case(tmp_path, {"events.jsonl": b"".join(moved)})
    assert {row["what"] for row in found.damage} == {"time-backwards"}
    assert broken(found) == set()
    order = [event.kind for event in found.history.events]
    assert order.index(Kind.AGENT_ENDED) < order.index(Kind.NOTICE_DELIVERED)


def test_it_names_what_is_nested_too_deep() -> None:
    deep = b'{"type":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    drafts = _read([*GOOD[:5], deep, *GOOD[5:]])
    assert ("too-deep", 6, False) in _damage(drafts)


def test_it_reads_a_file_that_a_shell_wrote_as_utf16(tmp_path: Path) -> None:
    text = b"".join(GOOD).decode()
    found = case(
        tmp_path, {"stdout.jsonl": "\ufeff".encode("utf-16-le") + text.encode("utf-16-le")}
    )
    assert [row["what"] for row in found.damage] == ["bom"]
    assert [run.status for run in found.history.runs] == ["failed"]


def test_it_says_unknown_where_a_lost_line_may_have_held_the_end(tmp_path: Path) -> None:
    lost = [*GOOD[:11], GOOD[11][:60] + b"\n", *GOOD[13:15], *GOOD[15:]]
    found = case(tmp_path, {"events.jsonl": b"".join(lost)})
    assert ("half-line", 12) in {(row["what"], row["line"]) for row in found.damage}
    assert ("L1", "agent-A") not in broken(found)
    assert ("L3", "agent-A") not in broken(found)


def test_it_reads_a_document_with_a_bom_and_names_one_that_is_cut(tmp_path: Path) -> None:
    folder = next(path for path in CASES if path.name.startswith("09-"))
    child = (folder / "child.export.json").read_bytes()
    parent = (folder / "parent.export.json").read_bytes()
    files = {"parent.export.json": b"\xef\xbb\xbf" + parent, "child.export.json": child[:-700]}
    found = case(tmp_path, files)
    assert {(row["file"], row["what"]) for row in found.damage} == {
        ("parent.export.json", "bom"),
        ("child.export.json", "truncated"),
    }


def test_it_reads_a_folder_that_holds_nothing_but_a_good_file(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# nothing")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (tmp_path / "events.jsonl").write_bytes(b"".join(GOOD))
    found = read_case([tmp_path])
    assert {row["path"]: row["format"] for row in found.formats} == {
        "README.md": None,
        "events.jsonl": "copilot-events-jsonl",
        "picture.png": None,
    }


def test_it_does_not_trust_a_name_that_lost_a_letter() -> None:
    spoiled = GOOD[8].replace(b'"agentId": "agent-A"', b'"agentId": "agent\xff-A"')
    assert spoiled != GOOD[8]
    assert _damage(_read([*GOOD[:8], spoiled, *GOOD[9:]])) == [("invalid-utf8", 9, False)]


def test_it_takes_the_same_words_at_the_same_time_for_one_record() -> None:
    row = (
        b'{"timestamp": "2026-10-05T09:00:30.500Z", "type": "event_msg", '
        b'"payload": {"type": "task_complete", "turn_id": "t1", "last_agent_message": "x"}}\n'
    )
    later = row.replace(b"30.500", b"31.500")
    found = drafts_of("codex-rollout-jsonl", row + row + later, "rollout-a.jsonl")
    assert ("duplicate", 2, True) in _damage(found)
    assert [one.line for one in found if one.kind is Kind.TURN_ENDED] == [1, 3]


def test_a_rollout_without_its_first_record_has_its_thread_in_the_name() -> None:
    thread = "01a227a2-b6f8-78b0-a5ff-8e54c88891ca"
    row = b'{"timestamp": "2026-10-05T09:00:30.500Z", "type": "event_msg", '
    row += b'"payload": {"type": "task_started", "turn_id": "t1"}}\n'
    name = f"sessions/rollout-2026-10-05T09-00-00-{thread}.jsonl"
    found = drafts_of("codex-rollout-jsonl", row, name)
    assert _damage(found) == [("missing-start", 1, False)]
    assert found[-1].agent == thread


def test_a_start_that_stands_before_its_call_still_has_its_spawner(tmp_path: Path) -> None:
    inner = [json.loads(line) for line in GOOD]
    inner[4]["agentId"] = "agent-M"
    rows = [*inner[:4], inner[5], inner[4], *inner[6:]]
    found = case(tmp_path, {"events.jsonl": rows})
    assert found.history.parent_of("agent-A") == "agent-M"


def test_a_task_that_was_only_seen_at_its_answer_is_neither_begun_nor_ended(
    tmp_path: Path,
) -> None:
    bus = next(path for path in CASES if path.name.startswith("10-")) / "events.jsonl"
    lines = bus.read_bytes().splitlines(keepends=True)
    found = case(tmp_path, {"events.jsonl": b"".join([*lines[:1], *lines[2:]])})
    assert ("L2", "ses_c10") not in broken(found)
    assert ("L12", "ses_c10") not in broken(found)


def test_an_output_that_stands_before_its_call_still_answers_it(tmp_path: Path) -> None:
    folder = next(path for path in CASES if path.name.startswith("07-")) / "sessions"
    lines = (folder / "rollout-parent.jsonl").read_bytes().splitlines(keepends=True)
    swapped = [*lines[:3], lines[4], lines[3], *lines[5:]]
    files = {"parent.jsonl": b"".join(swapped),
             "child.jsonl": (folder / "rollout-child.jsonl").read_bytes()}  # fmt: skip
    (spawn,) = case(tmp_path, files).history.spawns
    assert (spawn.child, spawn.accepted) == ("th-child", True)
