from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.script import Child, Finisher, task
from runs.core.events import Draft, Kind, number
from runs.core.history import History
from runs.core.judge import judge
from runs.core.rows import agent_rows
from runs.drivers.gemini import DRIVER
from runs.drivers.gemini.evidence import Children, LiveChat, LiveStdout
from runs.errors import CannotRunHere
from runs.tests.drivers.conftest import MakeContext
from runs.tests.transcripts.helpers import DATA
from runs.transcript import Reader, named, read_case

RECORDED = DATA / "recorded" / "gemini"
AT = "2026-11-30T05:00:00.000Z"
CHILD = "6a3422e2-0107-42b5-8902-1d94fe47347a"


# Starting it


def settings(context: Any) -> dict[str, Any]:
    (text,) = DRIVER.launch(context).files.values()
    found: dict[str, Any] = json.loads(text)
    return found


def test_it_is_given_a_loopback_address_and_a_dummy_key(make_context: MakeContext) -> None:
    context = make_context(DRIVER, model="gemini-2.5-flash")
    launch = DRIVER.launch(context)
    assert launch.env["GOOGLE_GEMINI_BASE_URL"] == "http://127.0.0.1:4321"
    assert launch.env["GEMINI_API_KEY"] == "dummy"
    assert launch.argv[launch.argv.index("-m") + 1] == "gemini-2.5-flash"
    assert settings(context)["security"] == {"auth": {"selectedType": "gemini-api-key"}}


def test_it_updates_and_reports_nothing(make_context: MakeContext) -> None:
    found = settings(make_context(DRIVER))
    assert found["general"]["enableAutoUpdate"] is False
    assert found["privacy"] == {"usageStatisticsEnabled": False}
    assert found["telemetry"] == {"enabled": False}


def test_it_leaves_attempts_alone_when_told_to(make_context: MakeContext) -> None:
    assert settings(make_context(DRIVER))["general"]["maxAttempts"] == 4
    assert "maxAttempts" not in settings(make_context(DRIVER, max_attempts=-1))["general"]


def test_it_needs_the_bundle_of_its_package(tmp_path: Path) -> None:
    with pytest.raises(CannotRunHere, match="no bundle"):
        DRIVER.executable(tmp_path)


def test_its_sub_agents_hand_their_answer_in() -> None:
    table = DRIVER.tools(DRIVER.read_options({"agent_type": "codebase_investigator"}), "0.61.0")
    call = table.delegate(task("1"))
    assert call.arguments == {"agent_name": "codebase_investigator", "prompt": task("1").prompt}
    assert isinstance(table, Finisher)
    assert table.finish("done").arguments == {"result": {"response": "done"}}
    child = Child("1", "x")
    assert [table.wait(child), table.poll(child), table.cancel(child)] == [None] * 3


# What it reads


def fed(reader: Reader, *records: dict[str, Any]) -> list[Draft]:
    found: list[Draft] = []
    for place, record in enumerate(records, 1):
        found += reader.feed(json.dumps(record).encode() + b"\n", place, 0)
    return found


def use(call: str, prompt: str = "do") -> dict[str, Any]:
    given = {"agent_name": "generalist", "prompt": prompt}
    kept = {"tool_name": "invoke_agent", "tool_id": call, "parameters": given}
    return {"type": "tool_use", "timestamp": AT, **kept}


def used(call: str, word: str = "success") -> dict[str, Any]:
    return {"type": "tool_result", "timestamp": AT, "tool_id": call, "status": word}


def child_file(child: str, prompt: str = "do") -> tuple[dict[str, Any], dict[str, Any]]:
    header = {"sessionId": child, "projectHash": "0", "startTime": AT, "kind": "subagent"}
    said = {"id": "u1", "timestamp": AT, "type": "user", "content": [{"text": prompt}]}
    return header, said


def ends(drafts: list[Draft]) -> list[tuple[str, str]]:
    return [(d.agent, str(d.data["status"])) for d in drafts if d.kind is Kind.AGENT_ENDED]


def test_the_stream_takes_the_names_of_sub_agents_from_their_files() -> None:
    children = Children()
    stdout = LiveStdout("stdout.jsonl", children)
    fed(stdout, use("c1", "one"), use("c2", "two"), use("c3", "two"))
    for child, prompt in (("b", "two"), ("a", "one"), ("c", "two")):
        fed(LiveChat(f"session-{child}.jsonl", children), *child_file(child, prompt))
    drafts = fed(stdout, used("c3"), used("c1", "error"), used("c2"))
    assert ends(drafts) == [("b", "completed"), ("a", "failed"), ("c", "completed")]


def test_the_stream_waits_for_a_file_that_comes_late() -> None:
    children = Children()
    stdout = LiveStdout("stdout.jsonl", children)
    assert ends(fed(stdout, use("c1"), used("c1"))) == []
    fed(LiveChat("session-a.jsonl", children), *child_file("a"))
    late = list(stdout.end())
    assert ends(late) == [("a", "completed")]
    assert late[0].at is not None


def test_the_stream_alone_names_nobody() -> None:
    reader = named("gemini-stream-json").reader("stdout.jsonl")
    drafts = [*fed(reader, use("c1"), used("c1", "error")), *reader.end()]
    assert ends(drafts) == []
    (answer,) = [d for d in drafts if d.kind is Kind.SPAWN_ANSWERED]
    assert (answer.data["ok"], answer.data["refusal"]) == (False, "error")


def call(output: str, **display: Any) -> dict[str, Any]:
    answer = {"functionResponse": {"name": "invoke_agent", "response": {"output": output}}}
    return {
        "id": "c1",
        "name": "invoke_agent",
        "args": {"agent_name": "generalist", "prompt": "do"},
        "result": [answer],
        "status": "success",
        "timestamp": AT,
        "agentId": CHILD,
        "resultDisplay": display,
    }


FINISHED = "Subagent 'generalist' finished.\nTermination Reason: {}\nResult:\nx"


@pytest.mark.parametrize(
    ("one", "end", "told"),
    [
        (
            call(FINISHED.format("GOAL"), state="completed", terminateReason="GOAL"),
            ("completed", "completed GOAL"),
            ("completed", "GOAL"),
        ),
        (
            call(FINISHED.format("MAX_TURNS"), state="completed", terminateReason="MAX_TURNS"),
            ("failed", "completed MAX_TURNS"),
            ("failed", "MAX_TURNS"),
        ),
        (
            call(FINISHED.format("ABORTED"), state="cancelled", terminateReason="ABORTED"),
            ("cancelled", "cancelled ABORTED"),
            ("cancelled", "ABORTED"),
        ),
        (
            call("Subagent 'generalist' failed. Error: x", state="error"),
            ("failed", "error"),
            ("failed", "failed"),
        ),
        (call("something else", state="completed"), ("completed", "completed"), ("unknown", "")),
    ],
)
def test_the_roots_file_tells_the_end_and_what_the_parent_is_told(
    one: dict[str, Any], end: tuple[str, str], told: tuple[str, str]
) -> None:
    reader = named("gemini-chat-jsonl").reader("session.jsonl")
    message = {"id": "m1", "timestamp": AT, "type": "gemini", "content": ""}
    drafts = fed(reader, message, {**message, "toolCalls": [one]}, {**message, "toolCalls": [one]})
    (ended,) = [d for d in drafts if d.kind is Kind.AGENT_ENDED]
    assert (ended.data["status"], ended.data["raw"]) == end
    (notice,) = [d for d in drafts if d.kind is Kind.NOTICE_DELIVERED]
    assert (notice.data["status"], notice.data["raw"]) == told
    assert len([d for d in drafts if d.kind is Kind.AGENT_MESSAGE]) == 1


# Runs of our own, shortened


def replayed(folder: Path) -> History:
    """The sources of a run through the driver's own readers, in order of time."""
    children = Children()
    readers: list[tuple[str, Reader]] = [
        ("session-child.jsonl", LiveChat("session-child.jsonl", children)),
        ("session-root.jsonl", LiveChat("session-root.jsonl", children)),
        ("stdout.jsonl", LiveStdout("stdout.jsonl", children)),
        ("provider.jsonl", named("lifeline-journal").reader("provider.jsonl")),
    ]
    drafts: list[Draft] = []
    for name, reader in readers:
        records = [json.loads(line) for line in (folder / name).read_text().splitlines()]
        drafts += [*fed(reader, *records), *reader.end()]
    began = min(draft.at for draft in drafts if draft.at is not None)
    drafts.sort(key=lambda one: one.at or began)
    return History(
        [number(one, place, (one.at or began) - began) for place, one in enumerate(drafts, 1)]
    )


def test_it_finds_a_failed_child_whose_call_is_a_success_in_the_stream() -> None:
    history = replayed(RECORDED / "0.61.0-sse-cut")
    (child,) = [row for row in agent_rows(history) if row["parent"]]
    assert child["terminal"] == {"stdout": "completed", "session": "failed"}
    assert child["told"] is not None and child["told"]["status"] == "failed"
    found = judge(history)
    assert found.diagnosis == "cut_stream_false_completion"
    labels = {one.law: one.label for one in found.broken}
    assert labels == {"L2": "cut_stream_false_completion", "L13": "views_disagree"}
    assert DRIVER.runtime(history, None).version == "0.61.0"  # type: ignore[arg-type]


def test_it_finds_nothing_against_a_good_run() -> None:
    found = judge(replayed(RECORDED / "0.61.0-success"))
    assert found.diagnosis == "healthy" and not found.broken


def test_it_reads_the_same_files_when_somebody_attaches_them() -> None:
    case = read_case([RECORDED / "0.61.0-sse-cut"])
    assert {row["format"] for row in case.formats} == {
        *("gemini-chat-jsonl", "gemini-stream-json", "lifeline-journal")
    }
    (child,) = [row for row in agent_rows(case.history) if row["parent"]]
    assert child["terminal"] == {"stdout": "completed", "session": "failed"}
    assert {one.law for one in judge(case.history).broken} == {"L2", "L13"}
