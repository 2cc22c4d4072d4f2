"""What outlives a process: threads, the cursor of the script, the transcript."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from fakes.codex_app_server.harness import Harness
from fakes.tests.codex_app_server.client import Client

NOBODY = "01a227a1-4592-7ef0-89ae-8dc6b31573cb"
PROGRAM = """
import json, subprocess, sys
server = subprocess.Popen(["codex", "app-server"], stdin=-1, stdout=-1, text=True)
def ask(number, method, params):
    print(json.dumps({"id": number, "method": method, "params": params}), file=server.stdin)
    server.stdin.flush()
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return message["result"]
ask(1, "initialize", {"clientInfo": {"name": "p", "version": "1"}})
thread = sys.argv[1] if len(sys.argv) > 1 else ask(2, "thread/start", {})["thread"]["id"]
if len(sys.argv) > 1:
    ask(2, "thread/resume", {"threadId": thread})
ask(3, "turn/start", {"threadId": thread, "input": [{"type": "text", "text": "hi"}]})
for line in server.stdout:
    message = json.loads(line)
    if message.get("method") == "turn/completed":
        print(thread, message["params"]["turn"]["items"][0]["text"])
        break
server.stdin.close()
server.wait()
"""


def messages(*texts: str) -> dict[str, object]:
    return {"turns": [{"steps": [{"kind": "message", "text": text}]} for text in texts]}


def test_turns_are_consumed_across_processes_and_threads_resumed_fx_7_fx_8_fx_29(
    fake: Harness,
) -> None:
    fake.set_scenario(messages("one", "two", "three"))
    with Client(fake).initialize() as client:
        info = {"cwd": "/work", "developerInstructions": "Be brief."}
        thread = client.ask("thread/start", info)["thread"]["id"]
        client.play(thread)
    with Client(fake).initialize() as client:
        resumed = client.ask("thread/resume", {"threadId": thread})["thread"]
        assert [item["type"] for item in resumed["turns"][0]["items"]] == [
            "userMessage",
            "agentMessage",
        ]
        assert client.play(thread)["items"][0]["text"] == "two"
        assert "thread/started" not in client.methods()
    stored = json.loads((fake.state / "threads.json").read_text())
    assert stored["turn_cursor"] == 2
    kept = stored["threads"][thread]
    assert (kept["cwd"], kept["developerInstructions"]) == ("/work", "Be brief.")
    assert [turn["status"] for turn in kept["turns"]] == ["completed"] * 2
    assert set(kept["turns"][0]) >= {"id", "items", "status"} and kept["createdAt"] > 0


def test_an_unknown_or_forgotten_thread_is_refused_fx_11(fake: Harness) -> None:
    with Client(fake).initialize() as client:
        thread = client.thread()
        resume = client.refusal("thread/resume", {"threadId": NOBODY})
        assert resume == f"no rollout found for thread id {NOBODY}"
        start = client.refusal("turn/start", {"threadId": "nobody", "input": []})
        assert start == "thread not found: nobody"
    fake.set_scenario({"forget_threads": True})
    with Client(fake).initialize() as client:
        assert client.refusal("turn/start", {"threadId": thread, "input": []}) == (
            f"thread not found: {thread}"
        )
        assert client.refusal("thread/resume", {"threadId": thread}) == (
            f"no rollout found for thread id {thread}"
        )


def test_threads_are_listed_and_read(fake: Harness) -> None:
    with Client(fake).initialize() as client:
        first, second = client.thread(), client.thread()
        client.play(first)
        listed = client.ask("thread/list", {})["data"]
        assert [one["id"] for one in listed] == [second, first]
        assert client.ask("thread/loaded/list", {})["data"] == [first, second]
        read = client.ask("thread/read", {"threadId": first, "includeTurns": True})["thread"]
        assert len(read["turns"]) == 1 and read["status"] == {"type": "idle"}
        gone = client.refusal("thread/read", {"threadId": NOBODY})
        assert gone == f"thread not loaded: {NOBODY}"
        left = client.ask("thread/unsubscribe", {"threadId": NOBODY})
        assert left == {"status": "notLoaded"}


def test_a_runner_changes_the_script_between_runs_of_a_client_fx_30(fake: Harness) -> None:
    command = [sys.executable, "-c", PROGRAM]
    (first,) = fake.run_clients([command], [messages("one", "two")])
    thread, text = first.stdout.split()
    second, third = fake.run_clients([[*command, thread]] * 2, [None, messages("three")])
    said = [text, *(run.stdout.split()[1] for run in (second, third))]
    assert said == ["one", "two", "three"]
    assert len(fake.spawned_pids()) == len(set(fake.spawned_pids())) == 3
    assert [one["method"] for one in fake.process_requests(1)] == [
        "initialize",
        "thread/resume",
        "turn/start",
    ]
    assert fake.process_requests(2, "turn/start")[0]["params"]["threadId"] == thread
    assert len(fake.requests("turn/start")) == 3
    assert fake.process_entries(1)[0]["ppid"] != fake.process_entries(2)[0]["ppid"]
    fake.assert_wire_clean()


def test_a_resumed_thread_replays_its_turns_in_order_once_fx_31(fake: Harness) -> None:
    fake.set_scenario(messages("one", "two", "three"))
    with Client(fake).initialize() as client:
        thread = client.thread()
        for _ in range(3):
            client.play(thread)
    for _ in range(2):
        with Client(fake).initialize() as client:
            turns = client.ask("thread/resume", {"threadId": thread})["thread"]["turns"]
        assert [turn["items"][1]["text"] for turn in turns] == ["one", "two", "three"]
    assert len(set(fake.spawned_pids())) == 3


def test_a_broken_precondition_is_not_the_expected_failure_fx_24_fx_32(fake: Harness) -> None:
    with pytest.raises(KnownSymptom):
        check_that_the_turn_was_steered(fake)  # nothing was: the tracked symptom
    fake.set_scenario({"turns": [{"start_error": "no"}]})
    with Client(fake).initialize() as client:
        with pytest.raises(AssertionError) as wrong:
            client.play(client.thread())
    assert not isinstance(wrong.value, KnownSymptom)


class KnownSymptom(AssertionError):
    """The tracked failure, and nothing else."""


def check_that_the_turn_was_steered(fake: Harness) -> None:
    if not fake.requests("turn/steer"):
        raise KnownSymptom("the client never steered")


def test_processes_of_several_clients_do_not_lose_each_other_s_turns(fake: Harness) -> None:
    fake.set_scenario(messages(*map(str, range(6))))
    command = [sys.executable, "-c", PROGRAM]
    running = [
        subprocess.Popen(command, env=fake.environment(), stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = {run.communicate(timeout=60)[0].split()[1] for run in running}
    assert said == {"0", "1", "2"}
    assert len(fake.threads()) == 3
