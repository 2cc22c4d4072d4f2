from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import ModelRequest, ToolCall, Turn
from fakes.script import Child, task
from runs import binaries
from runs.core.events import Kind
from runs.core.history import History
from runs.driver import Binary
from runs.drivers.copilot import DRIVER
from runs.drivers.copilot.evidence import LogReader, RuntimeReader, preload
from runs.errors import CannotRunHere, UnknownName
from runs.tests import needs
from runs.tests.core.build import Told
from runs.tests.drivers.conftest import MakeContext


def table(version: str = "1.0.102", **given: Any) -> Any:
    return DRIVER.tools(DRIVER.read_options(given), version)


# The command line


@pytest.mark.parametrize(
    ("version", "changes_folder", "no_export"),
    [
        ("1.0.34", False, False),
        ("1.0.39", False, False),
        ("1.0.45", True, False),
        ("1.0.47", True, False),
        ("1.0.60", True, True),
        ("1.0.84-5", True, True),
        ("1.0.102", True, True),
        ("1.0.102-local.ab12cd34", True, True),
    ],
)
def test_it_uses_the_flags_that_a_version_knows(
    make_context: MakeContext, version: str, changes_folder: bool, no_export: bool
) -> None:
    argv = DRIVER.launch(make_context(DRIVER, version)).argv
    assert ("-C" in argv) is changes_folder
    assert ("--no-remote-export" in argv) is no_export
    assert argv[-2:] == ("-p", "LIFELINE-ROOT Delegate.")


@pytest.mark.parametrize(
    ("wire", "kind", "api", "url"),
    [
        ("responses", "openai", "responses", "http://127.0.0.1:4321/v1"),
        ("completions", "openai", "completions", "http://127.0.0.1:4321/v1"),
        ("messages", "anthropic", None, "http://127.0.0.1:4321"),
    ],
)
def test_it_speaks_the_wire_that_is_asked_for(
    make_context: MakeContext, wire: str, kind: str, api: str | None, url: str
) -> None:
    env = DRIVER.launch(make_context(DRIVER, wire=wire)).env
    assert env["COPILOT_PROVIDER_TYPE"] == kind
    assert env.get("COPILOT_PROVIDER_WIRE_API") == api
    assert env["COPILOT_PROVIDER_BASE_URL"] == url


def test_it_is_offline_silent_and_without_credentials(make_context: MakeContext) -> None:
    env = DRIVER.launch(make_context(DRIVER)).env
    assert env["COPILOT_OFFLINE"] == "true"
    assert env["COPILOT_AUTO_UPDATE"] == "false"
    assert env["COPILOT_OTEL_ENABLED"] == "false"
    assert not [name for name in env if "KEY" in name or "TOKEN" in name]


def test_it_reads_the_payload_that_was_prepared(make_context: MakeContext, tmp_path: Path) -> None:
    prepared = tmp_path / "prepared"
    launch = DRIVER.launch(make_context(DRIVER, prepared=prepared))
    assert launch.env["COPILOT_CACHE_HOME"] == str(prepared)
    without = DRIVER.launch(make_context(DRIVER))
    assert Path(without.env["COPILOT_CACHE_HOME"]).is_relative_to(tmp_path / "home")


@pytest.mark.parametrize(
    ("tools", "named"),
    [("task", "task"), ("agents", "task,read_agent,write_agent,list_agents"), ("all", None)],
)
def test_it_offers_the_tools_that_are_asked_for(
    make_context: MakeContext, tools: str, named: str | None
) -> None:
    argv = DRIVER.launch(make_context(DRIVER, tools=tools)).argv
    assert ("--available-tools" in argv) is (named is not None)
    assert named is None or argv[argv.index("--available-tools") + 1] == named
    assert ("--deny-tool" in argv) is (named is not None)


def test_it_can_leave_every_permission_unanswered(make_context: MakeContext) -> None:
    assert "--allow-all-tools" in DRIVER.launch(make_context(DRIVER)).argv
    assert "--allow-all-tools" not in DRIVER.launch(make_context(DRIVER, permissions="ask")).argv


# The tools


def test_it_delegates_in_the_background_or_not() -> None:
    call = table().delegate(task("1"))
    assert call.name == "task"
    assert call.arguments["mode"] == "background"
    assert call.arguments["agent_type"] == "general-purpose"
    assert {"name", "description", "prompt"} <= set(call.arguments)
    assert "model" not in call.arguments
    assert table().delegate(task("1", background=False)).arguments["mode"] == "sync"
    assert table().delegate(task("1", model="gpt-5.5")).arguments["model"] == "gpt-5.5"


def test_it_waits_polls_and_writes_only_where_these_tools_are_offered() -> None:
    child = Child("1", "an-id")
    assert [table().wait(child), table().poll(child), table().message(child, "x")] == [None] * 3
    offered = table(tools="agents")
    assert offered.wait(child).arguments == {"agent_id": "an-id", "wait": True, "timeout": 180}
    assert offered.poll(child).arguments == {"agent_id": "an-id"}
    assert offered.message(child, "more").arguments == {"agent_id": "an-id", "message": "more"}
    assert table("1.0.60", tools="agents").message(child, "more") is None
    assert offered.cancel(child) is None


def test_it_has_only_harmless_forms_of_work() -> None:
    assert table().work("note") is None
    assert table(tools="all").work("quiet").arguments["command"] == "sleep 3"
    assert table(tools="all").work("rm -rf /") is None


def conversation(*pairs: tuple[str, str]) -> ModelRequest:
    """A parent's request: for each task its prompt, and the output of the call."""
    turns = [Turn("user", "LIFELINE-ROOT Delegate.")]
    for number, (prompt, output) in enumerate(pairs):
        call = ToolCall("task", {"prompt": prompt}, id=f"call-{number}")
        turns += [Turn("assistant", "", (call,)), Turn("tool", output, call_id=call.id)]
    return ModelRequest("responses", "m", True, tuple(turns), ("task",), "/v1/responses", {}, {})


def test_it_learns_the_ids_of_its_children_from_old_and_new_versions() -> None:
    request = conversation(
        ("LIFELINE-TASK-1 x", "Agent started in background with agent_id: lifeline-1. You'll be"),
        (
            "LIFELINE-TASK-2 x",
            "Agent started in background with agent_id: 58116b4f-fd9b-42b3-b7b8-f7cf431e45d5. You",
        ),
        ("LIFELINE-TASK-3 x", "Too many agents are running."),
    )
    assert table().children(request) == {
        "1": "lifeline-1",
        "2": "58116b4f-fd9b-42b3-b7b8-f7cf431e45d5",
    }


def test_it_takes_no_id_from_what_another_tool_says() -> None:
    turns = (
        Turn("assistant", "", (ToolCall("bash", {"prompt": "LIFELINE-TASK-1"}, id="c"),)),
        Turn("tool", "agent_id: planted", call_id="c"),
    )
    request = ModelRequest("responses", "m", True, turns, (), "/v1/responses", {}, {})
    assert table().children(request) == {}


def test_it_allows_in_a_run_what_the_run_offers_and_what_copilot_calls_by_itself() -> None:
    assert DRIVER.tools_allowed({"tools": "task"}) == {"task", "read_agent"}
    assert "write_agent" in DRIVER.tools_allowed({"tools": "agents"})
    assert "bash" not in DRIVER.tools_allowed({"tools": "agents"})
    assert "bash" in DRIVER.tools_allowed({"tools": "all"})


# What ran


def runtime(told: Told, version: str = "1.0.102") -> Any:
    binary = Binary(agent="copilot", version=version, path=Path(), folder=Path(), sha256="")
    return DRIVER.runtime(History(told.events), binary)


def test_it_tells_what_ran_from_the_session_and_the_preload() -> None:
    told = Told().add(Kind.SESSION_STARTED, version="1.0.102")
    told.add(Kind.RUNTIME, node="v24.20.0", payload="").add(
        Kind.RUNTIME, node="v24.20.0", payload="1.0.102"
    )
    found = runtime(told)
    assert (found.version, found.payload, found.node) == ("1.0.102", "1.0.102", "v24.20.0")
    assert found.problem == ""


def test_it_is_content_with_the_session_where_the_preload_sees_no_payload() -> None:
    told = Told().add(Kind.SESSION_STARTED, version="1.0.34").add(Kind.RUNTIME, payload="")
    assert (runtime(told, "1.0.34").version, runtime(told, "1.0.34").problem) == ("1.0.34", "")


def test_it_doubts_a_run_that_says_nothing_or_two_things_about_what_ran() -> None:
    assert "nothing says" in runtime(Told()).problem
    told = Told().add(Kind.SESSION_STARTED, version="1.0.102")
    assert "1.0.103 was loaded" in runtime(told.add(Kind.RUNTIME, payload="1.0.103")).problem


def test_its_preload_notes_the_node_that_loads_it(tmp_path: Path) -> None:
    needs.program("node")
    script, notes = tmp_path / "preload.cjs", tmp_path / "runtime.jsonl"
    script.write_text(preload(notes))
    subprocess.run(["node", "--require", script, "-e", "0"], check=True)
    version = subprocess.check_output(["node", "--version"], text=True).strip()
    reader = RuntimeReader("runtime.jsonl", "process")
    drafts = list(reader.feed(notes.read_bytes(), 1, 0))
    assert [(draft.kind, draft.data["node"]) for draft in drafts] == [(Kind.RUNTIME, version)]
    assert drafts[0].at is not None


def test_it_keeps_the_lines_of_the_process_log_with_their_times() -> None:
    reader = LogReader("process.log", "log")
    line = b"2026-11-29T16:47:16.494Z [INFO] Starting Copilot CLI: 1.0.102\n"
    (draft,) = reader.feed(line, 7, 100)
    assert draft.at == pytest.approx(1795970836.494)
    assert draft.data == {"type": "info", "summary": "Starting Copilot CLI: 1.0.102"}
    assert (draft.line, draft.offset, draft.length) == (7, 100, len(line))
    (draft,) = reader.feed(b"  at something (file.js:1)\n", 8, 200)
    assert (draft.at, draft.data["type"]) == (None, "line")


# Preparing


def executable(folder: Path, body: str) -> Path:
    path = folder / "copilot"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def shelf_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LIFELINE_BINARIES", str(tmp_path / "binaries"))
    monkeypatch.setenv("LIFELINE_VAR", str(tmp_path / "var"))
    monkeypatch.setenv("LIFELINE_ALLOW_UNSEALED", "1")  # a host without a seal can still prepare
    return tmp_path / "binaries"


def test_it_has_the_payload_extracted_once_by_a_first_start(
    shelf_folder: Path, tmp_path: Path
) -> None:
    path = executable(
        tmp_path,
        'place="$COPILOT_CACHE_HOME/pkg/linux-x64/1.0.99"; mkdir -p "$place" 2>/dev/null\n'
        'touch "$place/.extraction-complete" 2>/dev/null; env > "$place/env"; echo "1.0.99"',
    )
    binary = binaries.register("copilot", path)
    assert binary.prepared is not None
    (payload,) = binary.prepared.glob("pkg/*/*/.extraction-complete")
    seen = (payload.parent / "env").read_text()
    assert "COPILOT_OFFLINE=true" in seen
    assert str(Path.home()) + "\n" not in seen


def test_it_says_that_a_version_does_not_start(shelf_folder: Path, tmp_path: Path) -> None:
    path = executable(
        tmp_path, '[ -n "$COPILOT_HOME" ] && { echo "no luck"; exit 3; }; echo 1.0.99'
    )
    with pytest.raises(CannotRunHere, match=r"does not start \(exit 3\): no luck"):
        binaries.register("copilot", path)
    (item,) = binaries.installed("copilot")
    assert not item.starts


def test_it_does_not_drive_what_is_older_than_the_first_that_it_knows(shelf_folder: Path) -> None:
    with pytest.raises(UnknownName, match=r"older than 1\.0\.34"):
        binaries.ensure("copilot", "0.0.400")


def test_it_says_that_a_version_has_no_package_for_this_platform(tmp_path: Path) -> None:
    (tmp_path / "node_modules" / "@github" / "copilot").mkdir(parents=True)
    with pytest.raises(CannotRunHere, match="no package for this platform"):
        DRIVER.executable(tmp_path)
