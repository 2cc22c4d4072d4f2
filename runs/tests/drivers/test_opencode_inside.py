"""The program that runs beside the agent, against a server that behaves like the agent's."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

INSIDE = Path(__file__).resolve().parents[2] / "drivers" / "opencode" / "inside.py"
SERVER = Path(__file__).with_name("opencode_server.py")
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts it with a plan; `how` is said to the server."""

    def begin(*how: str, **more: Any) -> subprocess.Popen[str]:
        plan = {
            "form": "serve",
            "argv": [sys.executable, str(SERVER), str(tmp_path / "opencode.db"), *how],
            "message": {"parts": []},
            "answer": False,
            "exports": str(tmp_path / "exports"),
            "data": str(tmp_path),
            **more,
        }
        (tmp_path / "plan.json").write_text(json.dumps(plan))
        argv = [sys.executable, "-I", "-S", "-B", str(INSIDE), str(tmp_path / "plan.json")]
        return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)

    return begin


def said(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def exported(folder: Path) -> dict[str, Any]:
    files = (folder / "exports").glob("*.json")
    return {path.stem: json.loads(path.read_text()) for path in files}


def test_it_hands_over_the_prompt_prints_the_bus_and_stays_until_nothing_is_busy(
    start: Start, tmp_path: Path
) -> None:
    with start() as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    lines = said(output)
    assert all(line["time"] > 1e9 for line in lines)
    heard = [line["payload"]["type"] for line in lines if "payload" in line]
    assert heard == ["server.connected", "permission.asked"]
    asked = [line["request"] for line in lines if line.get("type") == "client/asked"]
    assert asked == ["POST /session", "POST /session/ses_root/message",
                     "GET /session/ses_root/children"]  # fmt: skip
    assert [line.get("type") for line in lines].count("client/settled") == 1
    answers = [line for line in lines if line.get("type") == "client/answered"]
    assert answers[1]["body"]["info"]["finish"] == "stop"


def test_it_hears_out_a_bus_that_is_behind(start: Start) -> None:
    with start("tells-late") as process:
        output, _ = process.communicate(timeout=60)
    heard = [line["payload"]["type"] for line in said(output) if "payload" in line]
    assert heard[-1] == "session.idle"


def test_it_says_the_limit_that_it_set(start: Start) -> None:
    with start(depth=2) as process:
        output, _ = process.communicate(timeout=60)
    (told,) = [line for line in said(output) if line.get("type") == "client/limit"]
    assert (told["name"], told["value"]) == ("subagent_depth", 2)


def test_it_writes_down_what_is_stored(start: Start, tmp_path: Path) -> None:
    with start() as process:
        process.communicate(timeout=60)
    found = exported(tmp_path)
    assert set(found) == {"ses_root", "ses_child"}
    assert found["ses_child"]["info"]["parentID"] == "ses_root"
    (message,) = found["ses_child"]["messages"]
    assert message["info"]["finish"] == "stop"
    assert message["parts"] == [{"type": "text", "text": "CHILD-OK", "id": "p1"}]


def test_it_says_yes_to_a_permission_when_it_may(start: Start) -> None:
    with start(answer=True) as process:
        output, _ = process.communicate(timeout=60)
    heard = [line["payload"] for line in said(output) if "payload" in line]
    assert heard[-1]["properties"] == {"path": "/permission/per_1/reply"}


@pytest.mark.parametrize(("whose", "session"), [("child", "ses_child"), ("parent", "ses_root")])
def test_it_aborts_one_session_once_when_it_is_to(start: Start, whose: str, session: str) -> None:
    with start("has-a-child", interrupt=whose) as process:
        output, _ = process.communicate(timeout=60)
    lines = said(output)
    (told,) = [line for line in lines if line.get("type") == "client/interrupted"]
    assert told["session"] == session
    path = f"/session/{session}/abort"
    asked = [line.get("request") for line in lines if line.get("type") == "client/asked"]
    assert asked.count(f"POST {path}") == 1
    assert [one for one in asked if str(one).endswith("/abort")] == [f"POST {path}"]
    heard = [line["payload"] for line in lines if "payload" in line]
    assert {"type": "session.error", "properties": {"path": path}} in heard


def test_it_writes_down_what_is_stored_when_it_is_told_to_end(start: Start, tmp_path: Path) -> None:
    with start("never-answers") as process:
        assert process.stdout is not None
        while "permission.asked" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert set(exported(tmp_path)) == {"ses_root", "ses_child"}


def test_it_ends_as_a_failure_when_the_prompt_was_answered_with_an_error(start: Start) -> None:
    with start("fails") as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert any(line.get("type") == "client/settled" for line in said(output))


def test_it_says_that_the_server_did_not_start(start: Start) -> None:
    with start("never-listens") as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 70
    (trouble,) = [line for line in said(output) if line.get("type") == "client/trouble"]
    assert "ended with 3 before it listened" in trouble["error"]


def test_it_gives_on_the_exit_code_and_the_output_of_a_single_run(start: Start) -> None:
    code = "print('{}'); raise SystemExit(4)"
    with start(form="run", argv=[sys.executable, "-c", code]) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 4
    assert said(output)[0] == {}
