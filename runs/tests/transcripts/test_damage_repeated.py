"""Lines that stand twice or in a wrong order, and times that cannot be believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runs.core.events import Draft, Kind
from runs.tests.transcripts.helpers import CASES, broken, case, drafts_of, lines
from runs.tests.transcripts.makers import ClaudeLog, claude_child

GOOD = (next(path for path in CASES if path.name.startswith("02-")) / "events.jsonl").read_bytes()
ROWS = GOOD.splitlines(keepends=True)


def _damage(drafts: list[Draft]) -> list[tuple[str, int | None, bool]]:
    return [
        (str(one.data["what"]), one.line, bool(one.data["repaired"]))
        for one in drafts
        if one.kind is Kind.DAMAGE
    ]


def test_a_terminal_without_a_time_that_stands_there_twice_is_one() -> None:
    turn = {"id": "t", "status": "completed"}
    end = {"method": "turn/completed", "params": {"threadId": "c", "turn": turn}}
    begun = {"method": "thread/started", "params": {"thread": {"id": "c", "parentThreadId": "r"}}}
    other = {"method": "item/completed", "params": {"threadId": "r", "item": {"type": "x"}}}
    woken = {"method": "turn/started", "params": {"threadId": "c", "turn": {"id": "t2"}}}
    for rows, wanted in (
        ([begun, end, end], 1),
        ([begun, end, other, other, end], 1),
        ([begun, end, woken, end], 2),
    ):
        found = drafts_of("codex-app-server-rpc", lines(rows))
        assert len([one for one in found if one.kind is Kind.AGENT_ENDED]) == wanted
        assert (("duplicate", len(rows), True) in _damage(found)) is (wanted == 1)


def test_a_start_in_the_same_words_after_the_end_may_be_a_copy(tmp_path: Path) -> None:
    start = {"hook_event_name": "SubagentStart", "session_id": "s", "agent_id": "h1"}
    stop = {"hook_event_name": "SubagentStop", "session_id": "s", "agent_id": "h1",
            "stop_hook_active": False}  # fmt: skip
    over = {"hook_event_name": "SessionEnd", "session_id": "s", "reason": "other"}
    found = case(tmp_path, {"hooks.jsonl": [start, stop, start, over]})
    assert [(row["what"], row["line"], row["repaired"]) for row in found.damage] == [
        ("duplicate", 3, False)
    ]
    assert broken(found) == set()


def test_a_rollout_says_whose_it_is_also_further_down(tmp_path: Path) -> None:
    folder = next(path for path in CASES if path.name.startswith("07-"))
    files: dict[str, bytes] = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.jsonl")
    }
    rows = files["sessions/rollout-child.jsonl"].splitlines(keepends=True)
    files["sessions/rollout-child.jsonl"] = b"".join([rows[1], rows[0], *rows[2:]])
    found = case(tmp_path, files)
    assert broken(found) == {("L15", "th-child")}
    assert [(row["what"], row["line"]) for row in found.damage] == [("reordered", 1)]


@pytest.mark.parametrize("years", [b"2025-", b"2031-"], ids=["behind", "ahead"])
def test_one_wild_time_is_not_believed(tmp_path: Path, years: bytes) -> None:
    wild = [*ROWS[:11], ROWS[11].replace(b'"2026-', b'"' + years), *ROWS[12:]]
    assert wild[11] != ROWS[11]
    found = case(tmp_path, {"events.jsonl": b"".join(wild)})
    assert [(row["what"], row["line"], row["lost"]) for row in found.damage] == [
        ("time-backwards", 12, "time")
    ]
    assert broken(found) == set()
    assert found.history.end < 60


def _claude(back: float) -> dict[str, list[dict[str, Any]]]:
    """A root with one child; the root's clock goes back by that much after the launch."""
    root = ClaudeLog().put(0, "user", "go").launch(1, "tu1", "a1")
    root.told(100 - back, "a1", "tu1").say(103 - back, "It is done.").say(200 - back, "Bye.")
    return {
        "s.jsonl": root.records,
        "s/subagents/agent-a1.jsonl": claude_child("a1", 99),
    }


def test_what_two_clocks_say_is_not_known_where_one_was_set_back(tmp_path: Path) -> None:
    assert broken(case(tmp_path / "right", _claude(0))) == set()
    found = case(tmp_path / "back", _claude(7200))
    assert [(row["file"], row["what"], row["lost"]) for row in found.damage] == [
        ("s.jsonl", "time-backwards", "clock")
    ]
    assert broken(found) == set()


def test_files_whose_clocks_do_not_fit_are_not_compared(tmp_path: Path) -> None:
    """The child would have begun after word of its end: its clock is another one."""
    files = _claude(0)
    for record in files["s/subagents/agent-a1.jsonl"]:
        record["timestamp"] = record["timestamp"].replace("T09:", "T10:")
    assert broken(case(tmp_path, files)) == set()


def test_a_record_that_the_chain_misses_may_have_been_what_did_not_come(tmp_path: Path) -> None:
    found = case(tmp_path, {"events.jsonl": b"".join([*ROWS[:11], *ROWS[12:]])})
    assert [(row["what"], row["line"], row["lost"]) for row in found.damage] == [
        ("broken-parent", 12, "record")
    ]
    assert broken(found) == set()


def test_a_side_chain_without_its_first_record_is_nobodys(tmp_path: Path) -> None:
    root = ClaudeLog().put(0, "user", "go").use(1, "tu1", "Task", prompt="count")
    side = {"isSidechain": True, "parentUuid": "gone", "uuid": "x2"}
    root.say(2, "12", **side).result(3, "tu1", "12").say(4, "It is 12.")
    found = case(tmp_path, {"s.jsonl": root.records})
    assert [(row["what"], row["lost"]) for row in found.damage] == [
        ("broken-parent", "whose it is")
    ]
    assert broken(found) == set()


def test_a_rollout_that_lost_its_first_record_is_the_parents_that_has_no_file(
    tmp_path: Path,
) -> None:
    folder = next(path for path in CASES if path.name.startswith("07-"))
    files: dict[str, bytes] = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.jsonl")
    }
    rows = files["sessions/rollout-parent.jsonl"].splitlines(keepends=True)
    files["sessions/rollout-parent.jsonl"] = b"".join(rows[1:])
    found = case(tmp_path, files)
    assert broken(found) == {("L15", "th-child")}
    assert set(found.history.agents) == {"th-root", "th-child"}
