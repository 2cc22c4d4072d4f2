"""The connection: introduction, gates, mistakes on the wire, ends."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

from fakes.codex_app_server.harness import Harness, install
from fakes.codex_app_server.protocol import versions
from fakes.tests.codex_app_server.client import Client

INFO = {"clientInfo": {"name": "test", "version": "1"}}


def test_an_unknown_method_is_refused_with_all_known_ones_and_recorded_fx_1(fake: Harness) -> None:
    with Client(fake).initialize() as client:
        text = client.refusal("thread/begin", {})
    assert text.startswith("Invalid request: unknown variant `thread/begin`, expected one of ")
    for method in ("initialize", "thread/start", "thread/resume", "turn/start", "turn/interrupt"):
        assert f"`{method}`" in text
    assert fake.violations() == ["unknown method thread/begin"]


def test_an_unknown_field_is_taken_and_recorded_with_its_place_fx_3(fake: Harness) -> None:
    with Client(fake).initialize() as client:
        thread = client.thread()
        given = [{"type": "text", "text": "Hi", "colour": "red"}]
        client.ask("turn/start", {"threadId": thread, "input": given, "mood": "good"})
        client.notified("turn/completed")
    assert fake.violations() == []
    assert fake.ignored_fields() == ["turn/start $.input[0].colour", "turn/start $.mood"]
    try:
        fake.assert_wire_clean()
    except AssertionError as wrong:
        assert "$.mood" in str(wrong)
    else:
        raise AssertionError("a dropped field must not pass as clean")


def test_it_wants_one_introduction_before_all_else_fx_4(fake: Harness) -> None:
    with Client(fake) as client:
        assert client.refusal("thread/start", {}) == "Not initialized"
        client.initialize()
        assert client.refusal("initialize", INFO) == "Already initialized"
        client.send({"method": "finished"})
        client.thread()
    assert "unknown notification finished" in fake.violations()
    assert len(fake.violations()) == 3


def test_parameters_are_looked_at_before_the_introduction_fx_27(fake: Harness) -> None:
    with Client(fake) as client:
        assert client.refusal("turn/start", {}) == "Invalid request: missing field `threadId`"


def test_the_introduction_is_answered_with_the_server_s_own_fx_29(fake: Harness) -> None:
    with Client(fake) as client:
        found = client.ask("initialize", INFO)
        assert found["userAgent"].startswith(f"test/{versions()[-1]} ")
        assert (found["codexHome"], found["platformFamily"]) == (str(fake.state), "unix")
        assert found["platformOs"] == "linux"
        thread = client.thread()
        started = client.notified("thread/started")
        assert started["thread"]["id"] == thread
        assert all("emittedAtMs" in one for one in client.seen if "method" in one)


def test_a_client_without_the_capability_meets_the_gate_in_the_real_words(fake: Harness) -> None:
    with Client(fake).initialize(experimental=False) as client:
        thread = client.thread()
        meta = {"threadId": thread, "input": [], "responsesapiClientMetadata": {"run": "1"}}
        assert client.refusal("turn/start", meta) == (
            "turn/start.responsesapiClientMetadata requires experimentalApi capability"
        )
    with Client(fake).initialize() as client:
        client.ask("thread/resume", {"threadId": thread})
        client.ask("turn/start", meta)
        client.notified("turn/completed")
    assert len(fake.violations()) == 1


def test_what_is_no_message_is_recorded_and_not_answered_fx_26(fake: Harness) -> None:
    lines = [
        b"not json",
        b"[]",
        b'"x"',
        b'{"foo":1}',
        b'{"method":5,"id":3}',
        b'{"id":9,"result":{}}',
    ]
    with Client(fake) as client:
        for line in lines:
            client.send(line)
        client.initialize()
        assert [one.get("id") for one in client.seen] == [1]
    found = fake.violations()
    assert found[0] == "line is not JSON"
    assert found[-1] == "response to unknown server request id"
    assert len(found) == len(lines)


def test_methods_that_it_does_not_play_are_answered_by_the_script_or_said_to_be(
    fake: Harness,
) -> None:
    models = {"data": [], "nextCursor": None}
    fake.set_scenario({"answers": {"model/list": models}})
    with Client(fake).initialize() as client:
        assert client.ask("model/list", {}) == models
        found = client.answer(client.request("skills/list", {}))
    assert found["error"]["code"] == -32601
    assert fake.events("unsupported")[0]["method"] == "skills/list"
    fake.assert_wire_clean()


def test_a_hang_up_and_a_signal_are_told_apart_fx_21(fake: Harness) -> None:
    first = Client(fake).initialize()
    second = Client(fake).initialize()
    assert first.hang_up() == 0
    second.process.send_signal(signal.SIGTERM)
    assert second.process.wait(30) == 143
    ends = {entry["pid"]: (entry["how"], entry["code"]) for entry in fake.events("exit")}
    assert ends == {first.process.pid: ("stdin_eof", 0), second.process.pid: ("SIGTERM", 143)}
    assert [entry["pid"] for entry in fake.events("stdin_eof")] == [first.process.pid]


def test_the_transcript_has_both_directions_with_process_and_time_fx_9(fake: Harness) -> None:
    with Client(fake).initialize() as client:
        client.thread()
    entries = fake.process_entries(0)
    assert {entry["pid"] for entry in entries} == {client.process.pid}
    assert [entry["t"] for entry in entries] == sorted(entry["t"] for entry in entries)
    spawn = entries[0]
    assert spawn["event"] == "spawn" and spawn["argv"][-1] == "app-server"
    assert spawn["ppid"] > 0 and spawn["protocol"] == versions()[-1]
    assert len(spawn["bundle"]["experimental"]) == 64
    pairs = [(one["dir"], one["msg"].get("method") or one["reply_to"]) for one in entries[1:5]]
    assert pairs == [
        ("in", "initialize"),
        ("out", "initialize"),
        ("in", "initialized"),
        ("in", "thread/start"),
    ]


def test_it_is_a_codex_on_the_path_that_knows_one_command_fx_22(tmp_path: Path) -> None:
    fake = install(tmp_path, "0.147.0")
    found = subprocess.run(
        ["codex", "--version"], env=fake.environment(), capture_output=True, text=True, check=True
    )
    assert found.stdout == "codex-cli 0.147.0\n"
    other = subprocess.run(
        ["codex", "exec", "hello"], env=fake.environment(), capture_output=True, check=False
    )
    assert other.returncode == 2
    assert fake.codex.read_text().startswith("#!/bin/sh\nexec ")
    assert not fake.entries()


def test_a_client_may_be_given_its_path_and_a_dummy_key_fx_23(fake: Harness) -> None:
    client = [str(fake.codex), "-c", "model=gpt-5.5", "app-server", "--listen", "stdio://"]
    ended = subprocess.run(
        client,
        env={"OPENAI_API_KEY": "dummy"},
        input=json.dumps({"id": 1, "method": "initialize", "params": INFO}) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ended.stdout)["result"]["platformFamily"] == "unix"
    assert "dummy" not in (fake.state / "transcript.jsonl").read_text()
