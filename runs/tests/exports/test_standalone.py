"""The standalone script: only Python, and it really reproduces."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fakes.reference_agent
from runs import catalogue, imports, material, models, pythons, repeat
from runs.exports.markdown import issue
from runs.redact import Choice
from runs.repeat import Repeat
from runs.standalone import conversation, script_of
from runs.tape import NotPossible
from runs.tapes import tapes
from runs.tests.transcripts.helpers import RECORDED

AGENT = Path(str(fakes.reference_agent.__file__)).with_name("__main__.py")


def _written(tmp_path: Path, scenario: str, **options: object) -> Path:
    known = catalogue.scenarios()[scenario].as_dict()
    path = tmp_path / "repro.py"
    path.write_text(script_of(Repeat("reference", "1.0.0", known, {"delay": 0.01, **options})))
    return path


def _played(tmp_path: Path, scenario: str, **options: object) -> str:
    path = _written(tmp_path, scenario, **options)
    assert "import runs" not in path.read_text() and "import fakes" not in path.read_text()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(path), str(AGENT)],
        capture_output=True, text=True, timeout=120, cwd=tmp_path, check=True,
    )  # fmt: skip
    assert '"type":"session.ended"' in done.stdout
    return done.stderr


def test_the_child_is_cut_at_every_attempt_and_the_parent_never(tmp_path: Path) -> None:
    said = _played(tmp_path, "sse-cut")
    assert re.search(r"^ +1: 5 requests, 5 broken, gaps [\d.]+(, [\d.]+){3}$", said, re.M), said
    assert re.search(r"^ +parent: [23] requests, 0 broken", said, re.M)
    assert "exit code 0" in said


def test_a_fault_of_the_first_attempt_alone_is_got_over(tmp_path: Path) -> None:
    said = _played(tmp_path, "cut-once")
    assert re.search(r"^ +1: 2 requests, 1 broken", said, re.M), said


def _requests(said: str) -> dict[str, list[int]]:
    """By caller its requests and how many of them were broken."""
    rows = re.findall(r"^ *(\S+): (\d+) requests, (\d+) broken", said, re.M)
    return {caller: [int(count), int(broken)] for caller, count, broken in rows}


@pytest.mark.parametrize("dialect", ["responses", "chat_completions", "messages"])
def test_more_work_is_given_only_to_a_child_that_has_ended(tmp_path: Path, dialect: str) -> None:
    said = _played(tmp_path, "follow-up", dialect=dialect)
    # It delegates, waits, is told, gives more work, goes on, is told again.
    assert _requests(said) == {"parent": [5, 0], "1": [2, 0]}


def test_the_second_run_of_a_child_is_cut_and_the_first_is_not(tmp_path: Path) -> None:
    said = _played(tmp_path, "follow-up-cut")
    assert _requests(said) == {"parent": [5, 0], "1": [6, 5]}
    assert re.search(r"  1  call 1 attempt 1  whole$", said, re.M), said


def test_an_agent_that_asks_for_nothing_has_repeated_nothing(tmp_path: Path) -> None:
    nothing = tmp_path / "agent.py"
    nothing.write_text("")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(_written(tmp_path, "sse-cut")), str(nothing)],
        capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Not repeated: it never asked the provider." in done.stderr


def test_a_parent_that_fetches_at_each_word_comes_round() -> None:
    driver = catalogue.driver("omnigent")
    options = driver.read_options({})
    made = tapes(driver, "0.19.1", catalogue.scenarios()["sse-cut"], options)
    heard = {(step["after"], step["heard"]): repr(step["stream"]) for step in made[""]}
    assert "sys_session_send" in heard[0, 0] and "sys_read_inbox" in heard[1, 1]
    assert "ROOT-OK" in heard[2, 0] and "sys_read_inbox" in heard[2, 1]
    assert max(after for after, _ in heard) <= 3


def test_half_an_answer_is_none_where_no_child_can_give_a_whole_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = [
        {"role": "assistant", "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "worker returned: CHILD-OK 1. This sentence is"},
    ]
    heard: list[int] = []
    for most in (1, 2):
        steps = [{"after": 1, "heard": number} for number in range(most + 1)]
        monkeypatch.setattr(conversation, "TAPES", {"": steps, "1": []})
        heard.append(conversation.heard_of("", said))
    assert heard == [0, 2]


def test_a_child_is_named_by_its_own_id() -> None:
    children = ["agent-1", "agent-2"]
    given = b'content-length: 3\r\n\r\n"@C 2@" "@C 1@"'
    filled = conversation.filled(given, children)
    assert filled == b'content-length: 19\r\n\r\n"agent-2" "agent-1"'


def test_callers_that_wait_for_each_other_do(tmp_path: Path) -> None:
    said = _played(tmp_path, "ends-together")
    assert {caller: rows[0] for caller, rows in _requests(said).items() if caller != "parent"} == {
        "1": 1,
        "2": 1,
    }
    text = (tmp_path / "repro.py").read_text()
    assert "('after', [('2', 'asked')]" in text and "('after', [('1', 'asked')]" in text


def test_a_date_to_wait_for_counts_from_the_answer(tmp_path: Path) -> None:
    said = _played(tmp_path, "http-429-date", retries=1)
    assert re.search(r"^ +1: 2 requests, 2 broken, gaps [2-9]\.", said, re.M), said


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [("refused", "a port of the provider that is shut"), ("oversized-event", "too long")],
)
def test_what_a_script_cannot_play_is_refused_with_a_reason(scenario: str, reason: str) -> None:
    known = catalogue.scenarios()[scenario].as_dict()
    with pytest.raises(NotPossible, match=reason):
        script_of(Repeat("reference", "1.0.0", known, {}))


def test_what_has_no_meaning_in_the_form_of_a_script_is_refused_with_that_reason() -> None:
    known = catalogue.scenarios()["restart-running"]
    options = dict(known.agents["codex"])
    with pytest.raises(NotPossible, match="no client that could start it again"):
        script_of(Repeat("codex", "0.171.0", known.as_dict(), options))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's part is Linux's")
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_the_agent_ends_with_its_script(tmp_path: Path, sign: signal.Signals) -> None:
    path = _written(tmp_path, "stall", idle_timeout=60.0)
    script = subprocess.Popen(
        [sys.executable, "-I", "-S", str(path), str(AGENT)],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=tmp_path,
    )  # fmt: skip
    with script:
        assert script.stderr is not None
        assert any("stall" in line for line in script.stderr if " call 1 " in line)
        (agent,) = Path(f"/proc/{script.pid}/task/{script.pid}/children").read_text().split()
        script.send_signal(sign)
        script.wait(10)
        until = time.monotonic() + 10
        while _runs(agent) and time.monotonic() < until:
            time.sleep(0.05)
        assert not _runs(agent)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's part is Linux's")
def test_what_the_agent_leaves_behind_ends_with_its_script(tmp_path: Path) -> None:
    agent, pid = tmp_path / "agent.py", tmp_path / "pid"
    daemon = "subprocess.Popen(['sleep', '300'], start_new_session=True)"
    agent.write_text(f"import subprocess\nopen({str(pid)!r}, 'w').write(str({daemon}.pid))\n")
    subprocess.run(
        [sys.executable, "-I", "-S", str(_written(tmp_path, "sse-cut")), str(agent)],
        capture_output=True, timeout=60, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert pid.read_text() and not _runs(pid.read_text())


def _runs(pid: str) -> bool:
    """Whether that process runs; one that nobody has waited for yet does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("scenario", ["success", "sse-cut"])
@pytest.mark.parametrize(
    ("agent", "version"),
    [("copilot", "1.0.102"), ("codex", "0.147.0"), ("opencode", "1.18.33"), ("claude", "2.1.300"),
     ("hermes", "0.19.0"), ("omnigent", "0.19.1")],
)  # fmt: skip
def test_an_agent_is_started_by_its_binary_alone(agent: str, version: str, scenario: str) -> None:
    text = script_of(Repeat(agent, version, catalogue.scenarios()[scenario].as_dict(), {}))
    compile(text, "repeat.py", "exec")
    assert "/@BIN@/@AGENT@" in text
    assert not any(place in text for place in (sys.executable, str(pythons.ours()), "/@FOLDER@"))
    assert ("('fault', 'sse-cut')" in text) == (scenario == "sse-cut")
    assert "('fault', 'success')" not in text


def test_a_parent_that_can_wait_does_before_it_reports() -> None:
    scenario = catalogue.scenarios()["success"]
    driver = catalogue.driver("codex")
    made = tapes(driver, "0.147.0", scenario, driver.read_options({"form": "exec"}))
    said = [repr(step["stream"]) for step in made[""]]
    assert ["spawn_agent" in said[0], "wait_agent" in said[1], "ROOT-OK" in said[2]] == [True] * 3


def test_a_tape_does_not_depend_on_the_second_in_which_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = itertools.count(1_700_000_000)
    monkeypatch.setattr(time, "time", lambda: float(next(ticks)))
    driver = catalogue.driver("copilot")
    made = tapes(driver, "1.0.102", catalogue.scenarios()["sse-cut"], driver.read_options({}))
    assert [len(step["stream"]) for steps in made.values() for step in steps] == [1] * 4


@pytest.mark.django_db
def test_the_issue_of_an_import_carries_what_it_proposes(tmp_path: Path) -> None:
    run = imports.store_paths([RECORDED / "copilot/1.0.102/sse-cut"])
    made = material.of(run, Choice.of("structure"), command=repeat.command(run))
    text = issue(made)
    assert "The nearest scenario" in text
    assert "python3 manage.py reproduce copilot@1.0.102 sse-cut" in text
    (script,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert len(text) < 65_536
    compile(script, "repeat.py", "exec")
    assert "('fault', 'sse-cut')" in script


@pytest.mark.django_db
@pytest.mark.parametrize("length", [45_600, 64_000])
def test_a_script_that_does_not_fit_into_an_issue_is_named(
    monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    run = imports.store_paths([RECORDED / "copilot/1.0.102/sse-cut"])
    monkeypatch.setattr("runs.exports.markdown.script_of", lambda repeat: "#" * length)
    made = material.of(run, Choice.of("structure"), command=repeat.command(run))
    text = issue(made)
    assert len(text) < 65_536
    assert ("#" * length in text) == (length == 45_600)
    assert (f"export {run.permalink} script -o repeat.py" in text) == (length == 64_000)


@pytest.mark.django_db
def test_an_issue_says_why_there_is_no_script() -> None:
    run = imports.store_paths([RECORDED / "copilot/1.0.102/sse-cut"])
    models.Run.objects.filter(pk=run.pk).update(version="")
    run.refresh_from_db()
    made = material.of(run, Choice.of("structure"), command=repeat.command(run))
    assert "No script of its own: The logs do not say which version" in issue(made)


@pytest.mark.django_db
def test_what_is_proposed_has_the_options_of_its_scenario() -> None:
    run = imports.row("proposes", given=[])
    run.agent, run.version, run.scenario = "reference", "1.0.0", "http-429"
    found = repeat.of(run)
    assert found is not None and found.proposed and found.scenario["name"] == "http-429"
    assert found.options["retries"] == 2
    assert "--set agents.reference.retries=2" in repeat.command(run)
