from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes.script import Child, task
from runs.core.events import Draft, Kind
from runs.core.judge import judge
from runs.core.rows import agent_rows
from runs.drivers.cline import DRIVER, inside
from runs.errors import CannotRunHere
from runs.tests.drivers.conftest import MakeContext
from runs.tests.transcripts.helpers import DATA
from runs.transcript import named, read_case

RECORDED = DATA / "recorded" / "cline"
ROOT, CHILD, OTHER = "agent_1_root", "agent_2_child", "agent_3_other"


# Starting it


def test_it_is_given_one_loopback_provider_and_phones_nobody(make_context: MakeContext) -> None:
    launch = DRIVER.launch(make_context(DRIVER, "3.0.65", mistakes=2))
    files = {path.name: text for path, text in launch.files.items()}
    (provider,) = json.loads(files["providers.json"])["providers"].values()
    assert provider["settings"]["baseUrl"] == "http://127.0.0.1:4321/v1"
    assert provider["settings"]["apiKey"] == "dummy"
    assert launch.env["CLINE_NO_AUTO_UPDATE"] == "1"
    assert json.loads(files["global-settings.json"])["telemetryOptOut"] is True
    assert launch.argv[-1] == "LIFELINE-ROOT Delegate."
    assert launch.argv[launch.argv.index("--retries") + 1] == "2"


def test_it_takes_the_executable_of_this_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.platforms.here", lambda: "linux-x64")
    with pytest.raises(CannotRunHere, match="no package for this platform"):
        DRIVER.executable(tmp_path)
    path = tmp_path / "node_modules/@cline/cli-linux-x64/bin/cline"
    path.parent.mkdir(parents=True)
    path.touch()
    assert DRIVER.executable(tmp_path) == path


def test_its_parent_waits_and_has_no_other_tool_for_a_sub_agent() -> None:
    table = DRIVER.tools(DRIVER.read_options({}), "3.0.65")
    assert table.delegate(task("1")).arguments["task"] == task("1").prompt
    child = Child("1", "x")
    assert [table.wait(child), table.poll(child), table.cancel(child)] == [None] * 3
    assert table.message(child, "more") is None
    note = table.work("note")
    assert note is not None and note.name == "run_commands"


# The program inside


def stored(place: Path) -> Path:
    """A database as Cline leaves it, with a sub-agent that has another beneath."""
    with sqlite3.connect(place) as connection:
        columns = "session_id, started_at, is_subagent, agent_id, parent_agent_id, prompt"
        connection.execute(f"CREATE TABLE sessions ({columns})")
        rows = [
            ("s__b", "2026-01-01T00:00:02Z", 1, OTHER, CHILD, "x" * 9000),
            ("s", "2026-01-01T00:00:00Z", 0, None, None, None),
            ("s__a", "2026-01-01T00:00:01Z", 1, CHILD, ROOT, "b"),
        ]
        connection.executemany("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", rows)
    return place


def test_it_writes_down_what_is_stored_and_leaves_with_the_agents_code(tmp_path: Path) -> None:
    database, rows = stored(tmp_path / "sessions.db"), tmp_path / "logs" / "rows.jsonl"
    program = [sys.executable, "-I", "-S", str(Path(inside.__file__)), str(database), str(rows)]
    agent = [sys.executable, "-c", "print('hello'); raise SystemExit(3)"]
    done = subprocess.run([*program, *agent], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (3, "hello\n")
    told = [json.loads(line)["cline_session"] for line in rows.read_text().splitlines()]
    assert [row["session_id"] for row in told] == ["s", "s__a", "s__b"]
    assert max(len(row["prompt"] or "") for row in told) == inside.LONGEST


def test_it_needs_no_database(tmp_path: Path) -> None:
    inside.store(tmp_path / "none.db", tmp_path / "rows.jsonl")
    assert not (tmp_path / "rows.jsonl").exists()


# What it reads


def hook(name: str, agent: str, parent: str | None = None) -> dict[str, Any]:
    kept = {"hookEventName": name, "agentId": agent, "parentAgentId": parent}
    return {"ts": "2026-11-30T05:00:00.000Z", "type": "hook_event", **kept}


def event(kind: str, **more: Any) -> dict[str, Any]:
    inner = {"type": kind, **more}
    return {"ts": "2026-11-30T05:00:00.000Z", "type": "agent_event", "event": inner}


def spawn(call: str) -> dict[str, Any]:
    kept = {"toolName": "spawn_agent", "toolCallId": call, "input": {"task": "do"}}
    return event("content_start", contentType="tool", **kept)


def spawned(call: str, **output: Any) -> dict[str, Any]:
    kept = {"toolName": "spawn_agent", "toolCallId": call, "output": output}
    return event("content_end", contentType="tool", **kept)


def fed(*records: dict[str, Any]) -> list[Draft]:
    reader = named("cline-json").reader("stdout.jsonl")
    found: list[Draft] = []
    for place, record in enumerate(records, 1):
        found += reader.feed(json.dumps(record).encode() + b"\n", place, 0)
    return [*found, *reader.end()]


def test_it_lays_events_without_a_name_on_the_agent_at_work() -> None:
    drafts = fed(
        hook("agent_start", ROOT),
        spawn("c1"),
        hook("agent_start", CHILD, ROOT),
        event("content_start", contentType="text", text="one"),
        hook("agent_end", CHILD, ROOT),
        event("done", reason="completed"),
        event("content_start", contentType="text", text="two"),
    )
    assert [one.agent for one in drafts if one.kind is Kind.DELTA] == [CHILD, "root"]
    assert next(one for one in drafts if one.native == "event/done").agent == CHILD


def test_equal_records_of_one_moment_are_several() -> None:
    word = event("content_start", contentType="text", text="very")
    begun = event("iteration_start", iteration=1)
    nameless = [each for each in (hook("tool_call", ROOT), begun, word) for _ in range(2)]
    drafts = fed(hook("agent_start", ROOT), *nameless)
    assert not [one for one in drafts if one.kind is Kind.DAMAGE]
    assert len([one for one in drafts if one.kind is Kind.DELTA]) == 2
    copied = fed(hook("agent_start", ROOT), *[hook("agent_end", ROOT)] * 2)
    assert [one.data["what"] for one in copied if one.kind is Kind.DAMAGE] == ["duplicate"]


def test_it_says_of_nobody_what_one_of_two_sub_agents_does() -> None:
    drafts = fed(
        hook("agent_start", ROOT),
        spawn("c1"),
        spawn("c2"),
        hook("agent_start", CHILD, ROOT),
        hook("agent_start", OTHER, ROOT),
        event("content_start", contentType="text", text="one"),
        hook("agent_error", OTHER, ROOT),
        spawned("c2", finishReason="error", text="bad"),
    )
    assert [one.agent for one in drafts if one.kind is Kind.DELTA] == [""]
    (told,) = [one for one in drafts if one.kind is Kind.NOTICE_DELIVERED]
    assert (told.agent, told.data["child"], told.data["status"]) == ("root", OTHER, "failed")


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ({"finishReason": "completed", "text": "yes"}, "completed"),
        ({"finishReason": "error", "text": "no"}, "failed"),
        ({"finishReason": "aborted", "text": ""}, "cancelled"),
        ({"finishReason": "max_iterations", "text": ""}, "failed"),
        ({"error": "Tool timed out"}, "failed"),
        ({"finishReason": "novel"}, "unknown"),
    ],
)
def test_the_parent_is_told_the_reason_of_the_end(output: dict[str, Any], status: str) -> None:
    begun = (hook("agent_start", ROOT), spawn("c1"), hook("agent_start", CHILD, ROOT))
    drafts = fed(*begun, spawned("c1", **output))
    (told,) = [one for one in drafts if one.kind is Kind.NOTICE_DELIVERED]
    assert told.data["status"] == status


def test_a_spawn_that_started_nobody_is_refused() -> None:
    drafts = fed(hook("agent_start", ROOT), spawn("c1"), spawned("c1", error="no such tool"))
    (answer,) = [one for one in drafts if one.kind is Kind.SPAWN_ANSWERED]
    assert (answer.data["ok"], answer.data["refusal"]) == (False, "error")


# Runs of our own, shortened


def test_it_finds_a_failed_child_that_is_stored_as_completed() -> None:
    case = read_case([RECORDED / "3.0.65-sse-cut"])
    (child,) = [row for row in agent_rows(case.history) if row["parent"]]
    assert child["terminal"] == {"stdout": "failed", "session": "completed"}
    assert child["told"] is not None and child["told"]["status"] == "failed"
    found = judge(case.history)
    assert found.diagnosis == "cut_stream_false_completion"
    assert {one.law: one.label for one in found.broken} == {
        "L2": "cut_stream_false_completion",
        "L13": "views_disagree",
    }
    assert DRIVER.runtime(case.history, None).version == "3.0.65"  # type: ignore[arg-type]


def test_it_finds_that_an_older_version_took_a_cut_answer_for_a_whole_one() -> None:
    case = read_case([RECORDED / "3.0.57-sse-cut"])
    (child,) = [row for row in agent_rows(case.history) if row["parent"]]
    assert child["terminal"] == {"stdout": "completed", "session": "completed"}
    found = judge(case.history)
    assert found.diagnosis == "truncated_success"
    assert {one.law for one in found.broken} == {"L2", "L3", "L16"}


def test_it_finds_nothing_against_a_good_run() -> None:
    found = judge(read_case([RECORDED / "3.0.65-success"]).history)
    assert found.diagnosis == "healthy" and not found.broken
