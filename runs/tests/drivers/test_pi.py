from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakes.script import Child, task
from runs.core.events import Draft, Kind
from runs.core.judge import judge
from runs.core.rows import agent_rows
from runs.drivers.pi import DRIVER
from runs.drivers.pi.about import APIS
from runs.errors import CannotRunHere
from runs.tests import needs
from runs.tests.drivers.conftest import MakeContext
from runs.tests.transcripts.helpers import DATA
from runs.transcript import named, read_case

RECORDED = DATA / "recorded" / "pi"
WATCH = Path(__file__).parents[2] / "drivers" / "pi" / "watch.js"


def written(context: Any) -> dict[str, str]:
    return {path.name: text for path, text in DRIVER.launch(context).files.items()}


# Starting it


@pytest.mark.parametrize(
    ("dialect", "api", "base"),
    [
        ("chat_completions", "openai-completions", "http://127.0.0.1:4321/v1"),
        ("responses", "openai-responses", "http://127.0.0.1:4321/v1"),
        ("messages", "anthropic-messages", "http://127.0.0.1:4321"),
    ],
)
def test_it_speaks_the_dialect_that_is_asked_for(
    make_context: MakeContext, dialect: str, api: str, base: str
) -> None:
    files = written(make_context(DRIVER, dialect=dialect))
    (provider,) = json.loads(files["models.json"])["providers"].values()
    assert (provider["api"], provider["baseUrl"], provider["apiKey"]) == (api, base, "dummy")


def test_its_sub_agents_find_the_same_settings(make_context: MakeContext) -> None:
    context = make_context(DRIVER, max_retries=1, provider_retries=0)
    settings = json.loads(written(context)["settings.json"])
    assert settings["retry"] == {"maxRetries": 1, "provider": {"maxRetries": 0}}
    assert settings["defaultModel"] == "gpt-5.4"
    example, watch = settings["extensions"]
    assert example.endswith("examples/extensions/subagent")
    assert watch == str(context.home / "lifeline" / "watch.js")
    assert json.loads(written(make_context(DRIVER))["settings.json"])["retry"] == {}


def test_it_looks_nowhere_but_at_the_provider(make_context: MakeContext) -> None:
    launch = DRIVER.launch(make_context(DRIVER))
    assert launch.env["PI_OFFLINE"] == launch.env["PI_SKIP_VERSION_CHECK"] == "1"
    assert launch.argv[1:] == ("--mode", "json", "-p", "LIFELINE-ROOT Delegate.")


def test_it_needs_the_example_that_its_package_brings(tmp_path: Path) -> None:
    package = tmp_path / "node_modules/@mariozechner/pi-coding-agent"
    program = package / "dist/cli.js"
    program.parent.mkdir(parents=True)
    program.touch()
    with pytest.raises(CannotRunHere, match="no example of sub-agents"):
        DRIVER.executable(tmp_path)
    (package / "examples/extensions/subagent").mkdir(parents=True)
    assert DRIVER.executable(tmp_path) == program


def test_one_of_its_dialects_can_say_that_an_answer_failed() -> None:
    able = [one for one in APIS if "response-failed" not in DRIVER.no_meaning({"dialect": one})]
    assert able == ["responses"]


def test_its_parent_waits_and_has_no_other_tool_for_a_sub_agent() -> None:
    table = DRIVER.tools(DRIVER.read_options({}), "0.73.1")
    assert table.delegate(task("1")).arguments["task"] == task("1").prompt
    child = Child("1", "x")
    assert [table.wait(child), table.poll(child), table.cancel(child)] == [None] * 3
    assert table.message(child, "more") is None


# The extension of ours


def test_our_extension_notes_what_its_process_says(tmp_path: Path) -> None:
    needs.program("node")
    program = tmp_path / "try.mjs"
    text = WATCH.read_text()
    text = text.replace('import { VERSION } from "@mariozechner/pi-coding-agent";', "")
    text = text.replace("export default function (pi)", "function on(pi)")
    program.write_text(
        f"const VERSION = '9.9.9';\n{text}"
        """
        const heard = {};
        on({ on: (name, hear) => { heard[name] = hear; } });
        heard.session_start();
        heard.before_agent_start({ prompt: "Task: do" });
        const call = { toolName: "subagent", toolCallId: "c1", args: { task: "x" } };
        heard.tool_execution_start(call);
        heard.tool_execution_start({ toolName: "bash", toolCallId: "c2", args: {} });
        const failed = { role: "assistant", stopReason: "error" };
        heard.agent_end({ messages: [failed, { role: "user" }] });
        heard.agent_end({ messages: [] });
        heard.session_shutdown();
        """
    )
    notes = tmp_path / "notes.jsonl"
    env = {"LIFELINE_NOTES": str(notes), "PATH": "/usr/bin:/bin"}
    node = shutil.which("node") or ""
    subprocess.run([node, str(program)], env=env, check=True, timeout=60)
    told = [json.loads(line) for line in notes.read_text().splitlines()]
    types = [one["type"] for one in told]
    assert types == [
        *("session_start", "prompt", "subagent"),
        *("agent_end", "agent_end", "session_shutdown"),
    ]
    assert (told[0]["version"], told[1]["prompt"], told[2]["call"]) == ("9.9.9", "Task: do", "c1")
    assert told[3]["stopReason"] == "error"


# What it reads


def fed(name: str, *records: dict[str, Any]) -> list[Draft]:
    reader = named(name).reader("file")
    found: list[Draft] = []
    for place, record in enumerate(records, 1):
        found += reader.feed(json.dumps(record).encode() + b"\n", place, 0)
    return [*found, *reader.end()]


def result(**more: Any) -> dict[str, Any]:
    return {"agent": "a", "agentSource": "user", "exitCode": 0, "messages": [], **more}


def ended(mode: str, *results: dict[str, Any], is_error: bool = False) -> list[Draft]:
    details = {"mode": mode, "results": list(results)}
    told = {"content": [{"type": "text", "text": "x"}], "details": details}
    kept = {"toolCallId": "c1", "toolName": "subagent", "result": told, "isError": is_error}
    return fed("pi-json", {"type": "tool_execution_end", **kept})


@pytest.mark.parametrize(
    ("one", "status"),
    [
        (result(stopReason="stop"), ["completed"]),
        (result(stopReason="length"), ["completed"]),
        (result(stopReason="error"), ["failed"]),
        (result(stopReason="aborted"), ["cancelled"]),
        (result(stopReason="stop", exitCode=1), ["failed"]),
        (result(stopReason="toolUse"), []),
        (result(), []),
    ],
)
def test_a_process_ends_as_its_last_message_does(one: dict[str, Any], status: list[str]) -> None:
    drafts = ended("single", one)
    assert [d.data["status"] for d in drafts if d.kind is Kind.AGENT_ENDED] == status
    (told,) = [d for d in drafts if d.kind is Kind.NOTICE_DELIVERED]
    assert (told.data["child"], told.data["status"]) == ("c1", "completed")


def test_one_call_may_start_several_and_some_may_not_start() -> None:
    unknown = result(agentSource="unknown", exitCode=1)
    drafts = ended("parallel", result(stopReason="stop"), unknown, result(stopReason="error"))
    started = [d.agent for d in drafts if d.kind is Kind.AGENT_STARTED]
    assert started == ["c1.1", "c1.3"]
    (answer,) = [d for d in drafts if d.kind is Kind.SPAWN_ANSWERED]
    assert answer.data["ok"] is True
    (refused,) = [d for d in ended("single", unknown) if d.kind is Kind.SPAWN_ANSWERED]
    assert (refused.data["ok"], refused.data["refusal"]) == (False, "error")


def test_a_sub_agents_messages_keep_their_own_times() -> None:
    said = {"role": "assistant", "content": [], "stopReason": "stop"}
    one = result(stopReason="stop", messages=[{**said, "timestamp": 1_796_000_005_000}])
    message = {"role": "toolResult", "toolCallId": "c1", "toolName": "subagent"}
    message["details"] = {"mode": "single", "results": [one]}
    entry = {"type": "message", "timestamp": "2026-11-30T00:53:29Z", "message": message}
    drafts = [one for one in fed("pi-session-jsonl", entry) if one.agent == "c1"]
    assert [(one.kind, one.at) for one in drafts] == [
        (Kind.AGENT_STARTED, 1_796_000_005.0),
        (Kind.AGENT_MESSAGE, 1_796_000_005.0),
        (Kind.AGENT_ENDED, 1_796_000_009.0),
    ]


def test_it_tells_a_sub_agent_by_the_task_that_its_prompt_repeats() -> None:
    def note(kind: str, pid: int, ppid: int, **more: Any) -> dict[str, Any]:
        return {"type": kind, "at": 1_796_015_000_000, "pid": pid, "ppid": ppid, **more}

    drafts = fed(
        "pi-notes",
        note("session_start", 3, 2, version="0.73.1"),
        note("subagent", 3, 2, call="c1", task="one"),
        note("subagent", 3, 2, call="c2", task="two"),
        note("prompt", 8, 3, prompt="Task: two"),
        note("prompt", 9, 3, prompt="Task: one"),
        note("prompt", 99, 98, prompt="Task: one"),
        note("agent_end", 8, 3, stopReason="error"),
        note("agent_end", 8, 3, stopReason="stop"),
        note("session_shutdown", 8, 3),
        note("agent_end", 9, 3, stopReason="error"),
    )
    assert [d.agent for d in drafts if d.kind is Kind.AGENT_STARTED] == ["c2", "c1"]
    ends = [(d.agent, d.data["status"]) for d in drafts if d.kind is Kind.AGENT_ENDED]
    assert ends == [("c2", "completed")]  # the other one did not leave in order


# Runs of our own, shortened


def test_it_finds_an_error_that_the_parent_gets_as_a_result() -> None:
    case = read_case([RECORDED / "0.73.1-sse-error"])
    (child,) = [row for row in agent_rows(case.history) if row["parent"]]
    assert child["terminal"] == {"stdout": "failed", "session": "failed", "hooks": "failed"}
    assert child["told"] is not None
    assert (child["told"]["status"], child["told"]["raw"]) == ("completed", "isError false")
    found = judge(case.history)
    assert found.diagnosis == "provider_error_false_completion"
    labels = {one.law: one.label for one in found.broken}
    assert labels == {"L3": "provider_error_false_completion", "L16": "failed_untold"}
    assert DRIVER.runtime(case.history, None).version == "0.73.1"  # type: ignore[arg-type]


def test_it_finds_a_cut_answer_that_everybody_takes_for_whole() -> None:
    case = read_case([RECORDED / "0.73.1-sse-cut"])
    found = judge(case.history)
    assert found.diagnosis == "truncated_success"
    assert {one.law for one in found.broken} == {"L2", "L3", "L16"}


def test_it_finds_a_grandchild_in_the_details_of_a_child() -> None:
    case = read_case([RECORDED / "0.73.1-nested"])
    depths = {agent.id: agent.depth for agent in case.history.children}
    assert sorted(depths.values()) == [1, 2]
    found = judge(case.history)
    assert found.diagnosis == "healthy" and not found.broken
