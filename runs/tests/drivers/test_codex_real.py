"""The real Codex of two versions, from its package, in both forms, through the one command.

Five commands make all runs; every test looks at one of them. What is a race in the binary
is not asserted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from runs import shelf
from runs.drivers.codex import DRIVER
from runs.drivers.codex.describe import of_bundle, of_version
from runs.tests.drivers.real import ROOT, Commands

pytestmark = [pytest.mark.binary, pytest.mark.slow]

OLD, NEW = "0.120.0", "0.171.0"
EXEC = ["--set", "agents.codex.form=exec"]
COMMANDS = (
    ("exec", ["reproduce", f"codex@{NEW}", "sse-cut", *EXEC]),
    ("app-server", ["reproduce", f"codex@{NEW}", "interrupt-parent"]),
    ("app-server", ["reproduce", f"codex@{NEW}", "restart-running"]),
    ("app-server", ["sweep", "--agents", f"codex@{OLD},{NEW}", "--scenarios", "sse-cut,http-429"]),
    ("exec", ["sweep", "--agents", f"codex@{OLD}", "--scenarios", "sse-cut,slow-child", *EXEC]),
)
Runs = Mapping[tuple[str, str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Every run's document, by form, version and scenario."""
    commands = Commands(tmp_path_factory.mktemp("var"))
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for form, words in COMMANDS:
        document = commands.document(*words)
        links = [link for cell in document.get("cells", ()) for link in cell["runs"]]
        documents = [_document(commands.environment, link) for link in links] or [document]
        for each in documents:
            found[form, each["requested_version"], each["scenario"]] = each
    yield found


def _document(environment: Mapping[str, str], permalink: str) -> Any:
    code = (
        "import django, json; django.setup()\n"
        "from runs import models, report\n"
        f"print(json.dumps(report.document(models.Run.objects.get(permalink={permalink!r}))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    return json.loads(done.stdout)


def _child(run: Mapping[str, Any]) -> dict[str, Any]:
    (child,) = [row for row in run["agents"] if row["parent"]]
    return dict(child)


def _attempts(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [row for row in run["attempts"] if row["caller"] == "child:1"]


def _broken(run: Mapping[str, Any]) -> dict[str, str]:
    return {row["law"]: row["label"] for row in run["findings"] if row["verdict"] == "broken"}


def _labels(run: Mapping[str, Any], law: str) -> set[str]:
    rows = [row for row in run["findings"] if row["law"] == law and row["verdict"] == "broken"]
    return {row["label"] for row in rows}


EVERY_CUT = [(form, version) for form in ("app-server", "exec") for version in (OLD, NEW)]


@pytest.mark.parametrize(("form", "version"), EVERY_CUT)
def test_it_sees_three_tries_of_a_cut_stream(runs: Runs, form: str, version: str) -> None:
    run = runs[form, version, "sse-cut"]
    assert run["version"] == version
    assert run["outcome"] == "model-request-failed" and run["exit_code"] == 0
    assert [row["n"] for row in _attempts(run)] == [1, 2, 3]
    assert {row["fault"] for row in _attempts(run)} == {"sse-cut"}
    assert run["retry"]["measured"]["retries"] == 2
    assert _child(run)["true_end"] == "failed"
    assert run["network"] == [] and run["damage"] == 0


@pytest.mark.parametrize("form", ["app-server", "exec"])
def test_0_120_tells_the_parent_that_a_failed_child_completed(runs: Runs, form: str) -> None:
    run = runs[form, OLD, "sse-cut"]
    assert _child(run)["told"]["status"] == "completed"
    assert _child(run)["terminal"]["session"] == "completed"
    assert run["diagnosis"] == "cut_stream_false_completion"
    assert {"L2", "L3", "L16"} <= _broken(run).keys()


@pytest.mark.parametrize("form", ["app-server", "exec"])
def test_0_171_tells_the_parent_that_it_failed(runs: Runs, form: str) -> None:
    run = runs[form, NEW, "sse-cut"]
    assert (_child(run)["told"]["status"], _child(run)["told"]["raw"]) == ("failed", "errored")
    assert _child(run)["terminal"]["session"] == "failed"
    assert not {"L2", "L3", "L16"} & _broken(run).keys()


@pytest.mark.parametrize("version", [OLD, NEW])
def test_every_try_leaves_an_item_that_never_ends(runs: Runs, version: str) -> None:
    run = runs["app-server", version, "sse-cut"]
    (left,) = [row for row in run["findings"] if row["label"] == "left_open"]
    assert (left["law"], left["figures"]["items"]) == ("L13", 3)


def test_the_failure_is_not_to_be_seen_on_the_parents_thread(runs: Runs) -> None:
    run = runs["app-server", NEW, "sse-cut"]
    assert _child(run)["terminal"] == {
        "stdout": "failed", "session": "failed", "rpc": "started-only"
    }  # fmt: skip
    assert _labels(run, "L13") == {"terminal_not_published", "left_open"}
    assert run["retry"]["reported"]["retries"] == 2


@pytest.mark.parametrize(("version", "tries"), [(OLD, 1), (NEW, 3)])
def test_a_429_with_retry_after_is_tried_once_or_three_times(
    runs: Runs, version: str, tries: int
) -> None:
    run = runs["app-server", version, "http-429"]
    attempts = _attempts(run)
    assert Counter(row["http_status"] for row in attempts) == {429: tries}
    assert all(row["gap_before"] >= 1.9 for row in attempts[1:])
    assert ("L6" in _broken(run)) is (tries == 1)


def test_exec_ends_well_and_leaves_a_child_that_still_runs(runs: Runs) -> None:
    run = runs["exec", OLD, "slow-child"]
    assert run["exit_code"] == 0
    assert _child(run)["terminal"]["session"] in ("started-only", "interrupted")
    assert _broken(run)["L16"] == "early_exit_children_lost"


def test_an_interrupt_of_the_parent_leaves_its_child_at_work(runs: Runs) -> None:
    run = runs["app-server", NEW, "interrupt-parent"]
    assert _child(run)["true_end"] == "completed"
    assert _broken(run)["L7"] == "cancel_ignored"
    assert run["diagnosis"] == "cancel_ignored"
    (left,) = [row for row in run["findings"] if row["label"] == "left_open"]
    assert left["agent"] != _child(run)["id"] and left["because"] == "L7", "the wait of the parent"


def test_a_child_that_was_cut_off_by_a_kill_is_told_to_nobody_afterwards(runs: Runs) -> None:
    run = runs["app-server", NEW, "restart-running"]
    terminal = _child(run)["terminal"]
    assert (terminal["stdout"], terminal["session"]) == ("interrupted", "started-only")
    assert _child(run)["told"] is None
    assert run["diagnosis"] == "orphaned"
    broken = [row for row in run["findings"] if row["verdict"] == "broken"]
    lost = {row["law"]: row for row in broken if row["agent"] == _child(run)["id"]}
    assert {law: row["because"] for law, row in lost.items()} == {"L8": "", "L3": "L8"}
    assert lost["L8"]["label"] == "orphaned"


@pytest.mark.parametrize("version", [OLD, NEW])
def test_every_message_fits_the_schema_that_the_version_wrote(runs: Runs, version: str) -> None:
    for scenario in ("sse-cut", "http-429"):
        assert runs["app-server", version, scenario]["protocol"] == []


@pytest.mark.parametrize("version", [OLD, NEW])
def test_the_shipped_description_is_that_of_the_binary(runs: Runs, version: str) -> None:
    prepared = shelf.Slot(DRIVER.name, version).folder / shelf.PREPARED
    assert of_bundle(version, prepared) == of_version(version, None)
