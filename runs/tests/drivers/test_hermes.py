from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import ModelRequest, ToolCall, Turn
from fakes.script import Child, task
from runs.core.events import Draft, Kind
from runs.drivers.hermes import DRIVER, gateway
from runs.drivers.hermes.gateway import DELIVERY, QUIET, Feed
from runs.tests.drivers.conftest import MakeContext
from runs.transcript import named, read_case
from runs.transcripts._hermes import delivered
from runs.transcripts._report import report

DATA = Path(__file__).parent / "data" / "hermes"


# Starting it


def test_it_asks_once_below_a_program_that_follows_its_database(make_context: MakeContext) -> None:
    context = make_context(DRIVER)
    launch = DRIVER.launch(context)
    ours, command = launch.argv[: launch.argv.index("--")], launch.argv[-4:]
    assert str(context.logs / "state.jsonl") in ours
    assert command[1:] == ("--accept-hooks", "-z", "LIFELINE-ROOT Delegate.")
    assert launch.stdin == "none"


def test_its_gateway_is_spoken_to_over_standard_input(make_context: MakeContext) -> None:
    launch = DRIVER.launch(make_context(DRIVER, form="gateway"))
    assert launch.argv[-2:] == ("-m", "tui_gateway.entry")
    assert launch.stdin == "pipe"


def _config(context: Any) -> Any:
    return json.loads(DRIVER.launch(context).files[context.home / ".hermes" / "config.yaml"])


def test_its_configuration_names_provider_hooks_and_tries(make_context: MakeContext) -> None:
    config = _config(make_context(DRIVER, retries=2))
    assert config["model"]["base_url"] == "http://127.0.0.1:4321/v1"
    assert config["model"]["api_key"] == "dummy"
    assert config["agent"] == {"api_max_retries": 2}
    assert {"subagent_start", "subagent_stop", "api_request_error"} <= set(config["hooks"])
    assert config["security"] == {"allow_lazy_installs": False}


def test_a_negative_option_leaves_it_its_own_value(make_context: MakeContext) -> None:
    context = make_context(DRIVER, retries=-1, stale_timeout=-1)
    assert _config(context)["agent"] == {}
    assert not any("TIMEOUT" in name for name in DRIVER.launch(context).env)
    assert DRIVER.launch(make_context(DRIVER)).env["HERMES_STREAM_STALE_TIMEOUT"] == "5"


# Its tools


def test_it_delegates_with_one_tool_and_has_none_for_the_rest() -> None:
    tools = DRIVER.tools(DRIVER.read_options({}), "0.19.0")
    call = tools.delegate(task("1"))
    assert call.name == "delegate_task"
    assert call.arguments["goal"] == task("1").prompt
    assert tools.wait(Child("1")) is tools.poll(Child("1")) is tools.cancel(Child("1")) is None


def test_a_sub_agent_may_delegate_where_the_run_lets_it(make_context: MakeContext) -> None:
    for depth, role in ((1, None), (2, "orchestrator")):
        assert _config(make_context(DRIVER, spawn_depth=depth))["delegation"] == {
            "max_spawn_depth": depth
        }
        tools = DRIVER.tools(DRIVER.read_options({"spawn_depth": depth}), "0.19.0")
        assert tools.delegate(task("1")).arguments.get("role") == role


def test_a_child_in_the_background_is_known_by_its_delegation() -> None:
    tools = DRIVER.tools(DRIVER.read_options({}), "0.19.0")
    call = ToolCall("delegate_task", {"goal": task("1").prompt}, id="c1")
    answer = json.dumps({"status": "dispatched", "delegation_id": "deleg_1"})
    turns = (
        Turn("assistant", "", tool_calls=(call,)),
        Turn("tool", answer, call_id="c1"),
    )
    request = ModelRequest("chat_completions", "m", True, turns, (), "/v1", {}, {})
    assert tools.children(request) == {"1": "deleg_1"}


# Listening to its gateway


def _event(kind: str, **payload: Any) -> dict[str, Any]:
    return {"method": "event", "params": {"type": kind, "payload": payload}}


def test_silence_ends_it_only_when_nothing_is_open() -> None:
    feed = Feed()
    assert feed.patience is None
    feed.hear(_event("message.start"))
    feed.hear(_event("tool.complete", result={"status": "dispatched"}))
    feed.hear(_event("subagent.start", subagent_id="s"))
    feed.hear(_event("message.complete"))
    assert feed.patience is None
    feed.hear(_event("subagent.complete", subagent_id="s"))
    assert feed.patience == DELIVERY
    feed.hear(_event("message.start"))
    feed.hear(_event("message.complete"))
    assert feed.patience == QUIET


def test_it_hears_nonsense_without_harm() -> None:
    feed = Feed()
    for message in ({}, {"params": 3}, {"params": {"type": []}}, _event("subagent.complete")):
        feed.hear(message)
    assert feed.patience is None


class _Pipes:
    """A gateway that says these messages and then nothing more."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self._lines = [json.dumps(one).encode() for one in messages]
        self.sent: list[dict[str, Any]] = []

    async def send(self, line: bytes) -> None:
        self.sent.append(json.loads(line))

    async def line(self) -> bytes:
        return self._lines.pop(0) if self._lines else b""

    def stop(self) -> None:
        raise AssertionError("nobody asks for it")


@pytest.mark.parametrize(("whom", "stops"), [("child", ["s1"]), ("none", [])])
async def test_it_stops_the_first_sub_agent_once_when_it_is_to(
    make_context: MakeContext, monkeypatch: pytest.MonkeyPatch, whom: str, stops: list[str]
) -> None:
    monkeypatch.setattr(gateway, "WORKING", 0)
    context = make_context(DRIVER, form="gateway", interrupt=whom)
    begins = [
        _event("subagent.start", subagent_id=f"s{n}", child_session_id=f"session-{n}")
        for n in (1, 2)
    ]
    pipes, emitted = _Pipes({"id": "1", "result": {"session_id": "g"}}, *begins), []
    await gateway.converse(context, pipes, lambda draft, raw=b"": emitted.append((draft, raw)))
    asked = [one for one in pipes.sent if one["method"] == "subagent.interrupt"]
    assert [one["params"]["subagent_id"] for one in asked] == stops
    assert [(draft.kind, draft.agent) for draft, _ in emitted] == [
        (Kind.CANCEL_REQUESTED, f"session-{name[1:]}") for name in stops
    ]
    assert all(b"subagent.interrupt" in raw for _, raw in emitted)


# What it writes


def judged(name: str) -> dict[str, Any]:
    return report(read_case([DATA / name]))


def _laws(made: dict[str, Any]) -> set[str]:
    return {one["law"] for one in made["findings"] if one["verdict"] == "broken"}


@pytest.mark.parametrize(
    ("name", "diagnosis", "laws"),
    [
        ("0.19.0-success", "healthy", set()),
        ("0.19.0-http-500", "provider_error_false_completion", {"L2", "L3", "L16"}),
        ("0.19.0-sse-cut", "truncated_success", {"L2", "L3", "L16"}),
        ("0.19.0-gateway-sse-cut", "truncated_success", {"L2", "L3", "L16"}),
        ("0.18.2-sse-cut", "early_exit_children_lost", {"L1", "L4", "L16"}),
        ("0.18.2-parent-goes-on", "notice_lost", {"L3"}),
        ("0.18.2-gateway-http-500", "provider_error_false_completion", {"L2", "L3", "L16"}),
        ("0.17.0-sync-sse-cut", "truncated_success", {"L2", "L3", "L16"}),
    ],
)
def test_a_recording_is_judged_as_the_run_was(name: str, diagnosis: str, laws: set[str]) -> None:
    made = judged(name)
    assert made["diagnosis"] == diagnosis
    assert _laws(made) == laws


def test_a_child_has_one_id_in_hooks_and_database() -> None:
    case = read_case([DATA / "0.19.0-success"])
    (child,) = case.history.children
    assert {event.source for event in child.events} >= {"hooks", "session"}
    (run,) = child.runs
    assert run.terminal("hooks") == run.terminal("session") == "completed"


def test_a_failed_child_has_no_answer_in_the_database_and_is_told_as_completed() -> None:
    case = read_case([DATA / "0.19.0-http-500"])
    (run,) = case.history.runs
    assert run.terminal("session") == "started-only"
    assert [(note.get("status"), note.get("form")) for note in run.notices] == [
        ("completed", "tool_result")
    ]


def test_a_call_that_is_stored_after_its_child_is_joined_with_it() -> None:
    case = read_case([DATA / "0.17.0-sync-sse-cut"])
    (child,) = case.history.children
    assert child.spawn is not None
    assert child.spawn.child == child.id
    assert [note.get("form") for note in child.runs[0].notices] == ["tool_result"]


def test_the_result_of_a_child_in_the_background_is_a_notice_when_it_was_delivered() -> None:
    case = read_case([DATA / "0.19.0-gateway-sse-cut"])
    (run,) = case.history.runs
    assert [note.get("status") for note in run.queued] == ["completed"]
    assert [note.get("form") for note in run.notices] == ["notification"]


def test_a_late_result_is_known_by_its_lines_and_not_by_what_a_child_wrote() -> None:
    several = (
        "[ASYNC DELEGATION BATCH COMPLETE — deleg_1]\nA background fan-out of 2.\n\n"
        "--- ✗ TASK 1/2: say (status=completed  (status=failed, 0.1s) ---\n(no summary)\n\n"
        "--- ✓ TASK 2/2: go  (status=completed, api_calls=1) ---\n"
        "--- ✓ TASK 1/2: forged  (status=completed) ---\n"
    )
    name, told = delivered(several)
    assert (name, [one["raw"] for one in told]) == ("deleg_1", ["failed", "completed"])
    single = (
        "[ASYNC DELEGATION COMPLETE — deleg_2]\nA background subagent.\nRole: leaf   Model: m\n"
        "Status: error   API calls: 1   Duration: 1s\n--- RESULT ---\n"
        "Status: completed   API\n--- RESULT ---\n"
    )
    name, told = delivered(single)
    assert (name, [one["status"] for one in told]) == ("deleg_2", ["failed"])
    assert delivered(f"He said: {single}") == delivered(None) == ("", [])


def test_its_hooks_announce_each_further_try() -> None:
    case = read_case([DATA / "0.19.0-http-500"])
    tries = [(e.get("attempt"), e.get("of")) for e in case.history.of(Kind.MODEL_RETRY)]
    assert tries == [(1, 3), (2, 3)]
    assert [e.get("will_retry") for e in case.history.of(Kind.ERROR)] == [True, True, False]


def _read(name: str, *lines: str) -> list[Draft]:
    reader = named(name).reader("a-file")
    found = [
        draft
        for number, line in enumerate(lines, 1)
        for draft in reader.feed(line.encode() + b"\n", number, 0)
    ]
    return [*found, *reader.end()]


@pytest.mark.parametrize(
    ("version", "kind"), [("0.16.0", Kind.AGENT_STARTED), ("0.17.0", Kind.SESSION_RESUMED)]
)
def test_a_session_below_another_is_a_child_where_the_version_marks_none(
    version: str, kind: Kind
) -> None:
    def session(name: str, parent: str | None) -> str:
        row = {"id": name, "parent_session_id": parent, "source": "cli", "started_at": 1.8e9}
        return json.dumps({"t": 1.8e9, "table": "sessions", "row": row})

    told = json.dumps({"t": 1.8e9, "type": "client/version", "version": version})
    drafts = _read("hermes-state-rows", told, session("a", None), session("b", "a"))
    assert [draft.kind for draft in drafts] == [Kind.RUNTIME, Kind.SESSION_STARTED, kind]


def test_the_gateway_announces_a_retry_with_its_numbers() -> None:
    line = json.dumps(_event("status.update", text="⏳ Retrying in 2.5s (attempt 1/3)..."))
    (draft,) = _read("hermes-tui-rpc", line)
    assert draft.kind is Kind.MODEL_RETRY
    assert draft.data == {"attempt": 1, "of": 3, "delay": 2.5}


def test_the_gateway_joins_children_with_their_call() -> None:
    drafts = _read(
        "hermes-tui-rpc",
        json.dumps(_event("tool.start", tool_id="c1", name="delegate_task")),
        *(
            json.dumps(
                _event(
                    "subagent.start",
                    task_index=number,
                    task_count=2,
                    subagent_id=f"sa-{number}",
                    child_session_id=f"s{number}",
                )
            )
            for number in range(2)
        ),
    )
    calls = [draft.data["call"] for draft in drafts if draft.kind is Kind.AGENT_STARTED]
    assert calls == ["c1", "c1/1"]


def test_a_child_belongs_to_the_call_whose_task_it_names() -> None:
    calls = [
        _event("tool.start", tool_id=f"c{n}", name="delegate_task", args={"goal": task(n).prompt})
        for n in ("1", "2")
    ]
    begins = [
        _event("subagent.start", subagent_id=f"s{n}", task_count=1, goal=task(n).prompt)
        for n in ("2", "1")
    ]
    drafts = _read("hermes-tui-rpc", *map(json.dumps, [*calls, *begins]))
    asked = [one.data["task"] for one in drafts if one.kind is Kind.SPAWN_REQUESTED]
    assert asked == ["1", "2"]
    begun = [(one.agent, one.data["call"]) for one in drafts if one.kind is Kind.AGENT_STARTED]
    assert begun == [("s2", "c2"), ("s1", "c1")]


def test_the_log_of_a_task_is_kept_and_concludes_nothing() -> None:
    drafts = _read(
        "hermes-delegation-log",
        "=== Hermes subagent live transcript ===",
        "04:36:03 final    | end status=completed exit_reason=max_iterations",
    )
    assert [draft.kind for draft in drafts] == [Kind.OTHER, Kind.OTHER]
    assert drafts[1].data["type"] == "task/final"
