"""``python -m fakes``: usable alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from fakes.__main__ import main
from fakes.tests.support import request_body


@pytest.fixture
def command() -> Iterator[subprocess.Popen[str]]:
    """The command of the issue, started."""
    arguments = ["--script", "delegate-one", "--fault", "sse-cut:after=start", "--on", "attempt=1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "fakes", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


def test_it_prints_its_address_and_its_journal(command: subprocess.Popen[str]) -> None:
    assert command.stderr is not None
    address = command.stderr.readline().strip()
    answer = httpx.post(
        f"{address}/v1/responses", json=request_body("responses", "stream"), trust_env=False
    )
    assert "response.created" in answer.text and "response.completed" not in answer.text
    command.send_signal(signal.SIGTERM)
    output, _ = command.communicate(timeout=30)
    records = [json.loads(line) for line in output.splitlines()]
    assert records[0]["address"] == address
    assert [record["what"] for record in records] == [
        "listening",
        "request.received",
        "response.started",
        "fault.fired",
        "request.ended",
    ]
    assert records[3]["settings"] == {"after": "start"}
    assert command.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--fault", "sse-cat"], "did you mean 'sse-cut'"),
        (["--fault", "stall:seconds=long"], "seconds must be a number"),
        (["--fault", "stall:second=1"], "did you mean 'seconds'"),
        (["--script", "delegate"], "There is no script 'delegate'"),
        (["--fault", "stall", "--on", "caller=kid"], "caller 'kid'"),
    ],
)
def test_it_ends_with_2_for_a_wrong_call(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert named in capsys.readouterr().err
