from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import ModelRequest, ToolCall, Turn
from fakes.script import Child, task
from fakes.targeting import UTILITY
from runs.core.events import Draft, Kind
from runs.drivers.opencode import DRIVER
from runs.drivers.opencode.callers import Sessions
from runs.drivers.opencode.evidence import LiveBus, LiveExport
from runs.errors import CannotRunHere
from runs.tests.drivers.conftest import MakeContext
from runs.transcript import Reader

DATA = Path(__file__).parent / "data" / "opencode"
ROOT, CHILD, GRANDCHILD = "ses_00000000root", "ses_0000000child", "ses_0000grandchild"


def planned(context: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The plan of the program inside, and the agent's configuration."""
    files = {path.name: text for path, text in DRIVER.launch(context).files.items()}
    return json.loads(files["plan.json"]), json.loads(files["opencode.json"])


def fed(reader: Reader, *records: Any) -> list[Draft]:
    found: list[Draft] = []
    for place, record in enumerate(records, 1):
        found += reader.feed(json.dumps(record).encode() + b"\n", place, 0)
    return [*found, *reader.end()]


# Starting it


@pytest.mark.parametrize(
    ("dialect", "package"),
    [
        ("chat_completions", "@ai-sdk/openai-compatible"),
        ("responses", "@ai-sdk/openai"),
        ("messages", "@ai-sdk/anthropic"),
    ],
)
def test_it_speaks_the_dialect_that_is_asked_for(
    make_context: MakeContext, dialect: str, package: str
) -> None:
    _, configuration = planned(make_context(DRIVER, dialect=dialect))
    (provider,) = configuration["provider"].values()
    assert provider["npm"] == package
    assert provider["options"] == {"baseURL": "http://127.0.0.1:4321/v1", "apiKey": "dummy"}


def test_it_serves_inside_or_runs_one_prompt(make_context: MakeContext) -> None:
    plan, _ = planned(make_context(DRIVER))
    assert plan["argv"][1] == "serve"
    assert plan["message"]["parts"][0]["text"] == "LIFELINE-ROOT Delegate."
    assert plan["interrupt"] == "none"
    plan, _ = planned(make_context(DRIVER, form="run"))
    assert plan["argv"][1:4] == ["run", "--format", "json"]
    assert plan["argv"][-1] == "LIFELINE-ROOT Delegate."


def test_it_shares_updates_and_fetches_nothing(make_context: MakeContext) -> None:
    context = make_context(DRIVER)
    _, configuration = planned(context)
    assert configuration["share"] == "disabled"
    assert configuration["autoupdate"] is False
    assert configuration["enabled_providers"] == list(configuration["provider"])
    env = DRIVER.launch(context).env
    for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"):
        assert env[f"OPENCODE_DISABLE_{name}"] == "1"


def test_it_sets_only_what_a_version_knows(make_context: MakeContext) -> None:
    _, old = planned(make_context(DRIVER, "1.2.27"))
    _, new = planned(make_context(DRIVER, "1.18.33", subagent_depth=3, chunk_timeout_ms=900))
    assert "subagent_depth" not in old
    assert new["subagent_depth"] == 3
    (provider,) = new["provider"].values()
    assert provider["options"]["chunkTimeout"] == 900


def test_a_sub_agent_may_delegate_where_the_run_lets_it(make_context: MakeContext) -> None:
    for version in ("1.2.27", "1.18.33"):
        _, flat = planned(make_context(DRIVER, version))
        _, nested = planned(make_context(DRIVER, version, subagent_depth=2))
        assert "agent" not in flat
        assert nested["agent"] == {"general": {"permission": {"task": "allow"}}}


def test_it_runs_sub_agents_in_the_background_only_when_told_to(make_context: MakeContext) -> None:
    name = "OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS"
    assert name not in DRIVER.launch(make_context(DRIVER)).env
    assert DRIVER.launch(make_context(DRIVER, background=True)).env[name] == "true"
    for on in (False, True):
        table = DRIVER.tools(DRIVER.read_options({"background": on}), "1.18.33")
        assert ("background" in table.delegate(task("1")).arguments) is on


@pytest.mark.parametrize("found", ["opencode-linux-x64", "opencode-linux-x64-baseline"])
def test_it_takes_the_executable_of_this_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: str
) -> None:
    monkeypatch.setattr(
        "runs.drivers.opencode._platforms", lambda: ("linux-x64", "linux-x64-baseline")
    )
    path = tmp_path / "node_modules" / found / "bin" / "opencode"
    with pytest.raises(CannotRunHere, match="no package for this platform"):
        DRIVER.executable(tmp_path)
    path.parent.mkdir(parents=True)
    path.touch()
    assert DRIVER.executable(tmp_path) == path


# Who asks, and its tools


def request(session: str = "", parent: str = "", tools: tuple[str, ...] = ("task",)) -> Any:
    headers = {"x-session-id": session, "x-parent-session-id": parent}
    return ModelRequest(
        dialect="chat_completions",
        model="m",
        stream=True,
        turns=(Turn("user", "LIFELINE-TASK-1 go"),),
        tools=tools,
        path="/v1/chat/completions",
        headers={name: value for name, value in headers.items() if value},
        body={},
    )


def test_it_tells_who_asks_by_the_sessions_and_leaves_older_versions_to_the_markers() -> None:
    rule = Sessions()
    assert rule(request()) is None
    assert rule(request(ROOT)) is None
    assert rule(request(ROOT, tools=())) is UTILITY
    child, below = rule(request(CHILD, ROOT)), rule(request(GRANDCHILD, CHILD))
    assert child is not None and (child.depth, child.key, child.parent) == (1, CHILD, ROOT)
    assert below is not None and (below.depth, below.key) == (2, GRANDCHILD)
    assert rule(request("not a session", "nor this")) is None


@pytest.mark.parametrize(
    "output",
    [f'<task id="{CHILD}" state="completed">', f"task_id: {CHILD} (for resuming)"],
)
def test_it_reads_the_session_of_a_child_out_of_the_task_call(output: str) -> None:
    table = DRIVER.tools(DRIVER.read_options({}), "1.18.33")
    call = table.delegate(task("2"))
    asked = ToolCall(call.name, call.arguments, id="c1")
    turns = (Turn("assistant", "", (asked,)), Turn("tool", output, call_id="c1"))
    found = table.children(
        ModelRequest("chat_completions", "m", True, turns, ("task",), "/", {}, {})
    )
    assert found == {"2": CHILD}
    again = table.message(Child("2", CHILD), "more")
    assert again is not None and again.arguments["task_id"] == CHILD
    assert table.message(Child("2"), "more") is None


# What it reads


def event(kind: str, at: float = 1_795_974_000.0, **properties: Any) -> dict[str, Any]:
    return {"time": at, "payload": {"type": kind, "properties": properties}}


def test_it_takes_an_events_own_time_where_the_bus_was_late() -> None:
    milliseconds = 1_795_974_000_000
    name = f"evt_{milliseconds & ((1 << 36) - 1):09x}001"
    late = {
        "time": milliseconds / 1000 + 4,
        "payload": {"id": name, "type": "server.connected", "properties": {}},
    }
    old = event("server.connected", at=1_795_974_009.5)
    first, second = fed(LiveBus("stdout.jsonl"), late, old)
    assert first.at == pytest.approx(1_795_974_000.0)
    assert second.at == pytest.approx(1_795_974_009.5)


@pytest.mark.parametrize(
    ("answer", "is_error"),
    [
        ({"status": 200, "body": {"info": {"finish": "stop"}, "parts": [{"type": "text"}]}}, False),
        ({"status": 200, "body": {"info": {"error": {"name": "APIError"}}, "parts": []}}, True),
        ({"status": 500, "body": "no"}, True),
        ({"status": 200, "body": None}, True),
    ],
)
def test_it_takes_the_answer_to_the_prompt_as_the_last_word_once_nothing_runs(
    answer: dict[str, Any], is_error: bool
) -> None:
    line = {"time": 1.0, "type": "client/answered", "request": f"POST /session/{ROOT}/message"}
    settled = {"time": 2.0, "type": "client/settled"}
    answered, last = fed(LiveBus("stdout.jsonl"), {**line, **answer}, settled)
    assert answered.kind is Kind.OTHER
    assert last.kind is Kind.RESULT
    assert last.data["is_error"] is is_error


def test_it_reads_its_own_abort_as_a_cancel_of_that_session() -> None:
    line = {"time": 1.0, "type": "client/interrupted", "session": CHILD}
    (draft,) = fed(LiveBus("stdout.jsonl"), line)
    assert (draft.kind, draft.agent) == (Kind.CANCEL_REQUESTED, CHILD)
    assert (draft.data["target"], draft.data["by"]) == (CHILD, "user")


def test_it_tells_how_deep_sub_agents_may_nest_where_a_version_limits_it(
    make_context: MakeContext,
) -> None:
    assert "depth" not in planned(make_context(DRIVER, "1.2.27"))[0]
    assert planned(make_context(DRIVER, "1.18.33", subagent_depth=2))[0]["depth"] == 2
    line = {"time": 1.0, "type": "client/limit", "name": "subagent_depth", "value": 2}
    (draft,) = fed(LiveBus("stdout.jsonl"), line)
    assert (draft.kind, draft.data) == (Kind.LIMIT, {"name": "subagent_depth", "value": 2})


def test_it_names_the_task_of_a_sub_agent_by_its_marker() -> None:
    state = {"status": "running", "input": {"description": "x", "prompt": task("1.2").prompt}}
    part = {"type": "tool", "tool": "task", "callID": "c1", "sessionID": ROOT, "state": state}
    drafts = fed(LiveBus("stdout.jsonl"), event("message.part.updated", part=part))
    (asked,) = [one for one in drafts if one.kind is Kind.SPAWN_REQUESTED]
    assert asked.data["task"] == "1.2"


def stored(*messages: dict[str, Any], parent: str = ROOT) -> dict[str, Any]:
    created = {"created": 1_795_974_000_000}
    info = {"id": CHILD, "parentID": parent, "version": "1.18.33", "time": created}
    return {"info": info, "messages": [{"info": one, "parts": []} for one in messages]}


def assistant(finish: str = "", error: str = "") -> dict[str, Any]:
    info: dict[str, Any] = {"id": "m", "role": "assistant", "finish": finish}
    info["time"] = {"created": 1_795_974_000_000, "completed": 1_795_974_002_000}
    return {**info, "error": {"name": error, "data": {}}} if error else info


@pytest.mark.parametrize(
    ("document", "ends"),
    [
        (stored(assistant("stop")), ["completed"]),
        (stored(assistant(error="APIError")), ["failed"]),
        (stored(assistant(error="MessageAbortedError")), ["cancelled"]),
        (stored(assistant("tool-calls")), []),
        (stored(assistant("unknown")), []),
        (stored({"id": "u", "role": "user"}), []),
        (stored(), []),
        (stored(assistant("stop"), parent=""), []),
    ],
)
def test_it_takes_a_sub_agents_last_stored_message_as_its_end(
    document: dict[str, Any], ends: list[str]
) -> None:
    drafts = fed(LiveExport("session-x.json"), document)
    found = [one.data["status"] for one in drafts if one.kind is Kind.AGENT_ENDED]
    assert found == ends


# A run of our own, shortened
