"""A command that the operator registers: sealed, with the stand-in on its PATH, and judged."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runs import binaries, execute, report, start, store
from runs.core.events import Kind
from runs.drivers.client import DRIVER
from runs.errors import HarnessError
from runs.seal import folders_of

pytestmark = pytest.mark.django_db(transaction=True)

HASTY = """
import json, subprocess, sys

codex = subprocess.Popen(
    ["codex", "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
)

def say(**message):
    print(json.dumps(message), file=codex.stdin, flush=True)

def hear(wanted):
    for line in codex.stdout:
        message = json.loads(line)
        if wanted in (message.get("id"), message.get("method")):
            return message
    sys.exit(1)

who = {"name": "hasty", "title": None, "version": "9.9.9"}
say(id=1, method="initialize", params={"clientInfo": who})
hear(1)
say(method="initialized")
say(id=2, method="thread/start", params={})
thread = hear(2)["result"]["thread"]["id"]
prompt = {"type": "text", "text": sys.argv[-1]}
say(id=3, method="turn/start", params={"threadId": thread, "input": [prompt]})
hear("turn/completed")
print("Done:", prompt["text"])
"""
"""Takes the end of any turn for the end of its own."""


@pytest.fixture
def version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The hasty client, registered in an instance of its own."""
    monkeypatch.setenv("LIFELINE_VAR", str(tmp_path / "var"))
    monkeypatch.setenv("LIFELINE_BINARIES", str(tmp_path / "binaries"))
    path = tmp_path / "hasty"
    path.write_text(f"#!{Path(sys.executable).resolve()} -I\n{HASTY}")
    path.chmod(0o755)
    return binaries.register("client", path).version


def test_it_sees_the_interpreter_of_a_registered_client(version: str) -> None:
    binary = binaries.ensure("client", version)
    assert set(folders_of(Path(sys.executable).resolve())) <= set(DRIVER.readonly(binary))


def test_it_refuses_a_client_whose_interpreter_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "lost"
    path.write_text("#!/nowhere/python3\n")
    path.chmod(0o755)
    with pytest.raises(HarnessError, match="/nowhere/python3"):
        binaries.register("client", path)


def test_it_finds_that_a_registered_client_left_its_own_turn(version: str) -> None:
    assert version.startswith("local.")
    (run,) = start.create("client", version, "client-child-first", queue=False)
    execute.execute(run.pk, "a-test")
    run.refresh_from_db()
    assert (run.status, run.exit_code, run.error) == ("ended", 0, {})
    assert (run.diagnosis, run.reported_version) == ("early_exit_root_cut", version)
    findings = report.document(run)["findings"]
    assert "L16" in {one["law"] for one in findings if one["verdict"] == "broken"}
    printed = [one for one in store.history(run).of(Kind.OTHER) if one.source == "stdout"]
    assert [str(one.get("summary"))[:19] for one in printed] == ["Done: LIFELINE-ROOT"]
