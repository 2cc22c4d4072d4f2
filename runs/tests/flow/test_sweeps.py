"""Sweeps and bisections over the reference agent's versions, in this process."""

from __future__ import annotations

import json
import os
import signal
import threading
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from runs import bisections, follow, models, start, sweeps
from runs.management.commands.sweep import table

pytestmark = pytest.mark.django_db(transaction=True)


def run_command(*arguments: str) -> tuple[int, dict[str, Any]]:
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(*arguments, "--json", stdout=out)
    return int(ended.value.code or 0), json.loads(out.getvalue())


def test_it_sweeps_versions_and_adds_them_up() -> None:
    code, document = run_command(
        "sweep", "--agents", "reference@0.5.0..0.6.0,0.3.0", "--scenarios", "sse-cut"
    )
    assert code == 0
    cells = {cell["version"]: cell for cell in document["cells"]}
    assert list(cells) == ["0.3.0", "0.5.0", "0.6.0"]
    assert cells["0.3.0"]["outcomes"] == {"startup-failed": 1} and cells["0.3.0"]["valid"] == 0
    assert cells["0.5.0"]["diagnoses"] == {"failed_and_reported": 1}
    assert cells["0.6.0"]["diagnoses"] == {"cut_stream_false_completion": 1}
    assert cells["0.6.0"]["broken"]["L2"] == 1
    assert cells["0.6.0"]["attempts"] == [5, 5, 5]
    assert models.Cell.objects.count() == 3
    printed = table(document).splitlines()
    assert [line.split()[0] for line in printed[1:-1]] == [f"reference@{name}" for name in cells]
    gaps = cells["0.6.0"]["retry"]["measured"]["gaps"]
    assert len(gaps) == 4 and ", ".join(f"{gap:.1f}" for gap in gaps) in printed[3]
    assert "stdout | session" in printed[0] and "completed | completed" in printed[3]


def test_a_baseline_fails_in_both_directions(tmp_path: Any) -> None:
    path, junit = tmp_path / "expected.toml", tmp_path / "out.xml"
    entry = '[[expect]]\nagent = "reference"\nscenario = "sse-cut"\nversions = "{}"\n'
    path.write_text(
        entry.format("<0.6.0")
        + 'diagnosis = "cut_stream_false_completion"\n'
        + entry.format(">=0.6.0")
        + 'diagnosis = "cut_stream_false_completion"\n'
    )
    code, document = run_command(
        *("sweep", "--agents", "reference@0.5.0,0.6.0", "--scenarios", "sse-cut"),
        *("--baseline", str(path), "--junit", str(junit)),
    )
    assert code == 1
    assert [row["version"] for row in document["differences"]] == ["0.5.0"]
    assert 'failures="1"' in junit.read_text() and 'tests="2"' in junit.read_text()


def test_only_what_is_missing_runs_and_all_of_it_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "expected.toml"
    path.write_text("")
    arguments = ("sweep", "--agents", "reference@0.6.0", "--scenarios", "sse-cut")
    assert run_command(*arguments)[0] == 0
    more = ("--only-missing", "--baseline", str(path))
    code, document = run_command(*arguments, *more)
    assert document["total"] == 0 and document["cells"][0]["n"] == 1
    assert code == 1, "nothing was to run, and what is there differs from the baseline"
    code, document = run_command(*arguments, "--repeat", "2", "--only-missing")
    assert code == 0 and document["total"] == 1 and document["cells"][0]["n"] == 2


def test_a_lost_run_of_what_was_missing_is_replaced_once() -> None:
    for run in sweeps.create([("reference", "1.0.0")], ["success"], repeat=2).runs.all():
        models.Run.objects.filter(pk=run.pk).update(status="ended")
    sweep = sweeps.create([("reference", "1.0.0")], ["success"], repeat=3, only_missing=True)
    sweep.runs.update(status="lost")
    sweeps.advance(sweep)
    assert sorted(sweep.runs.values_list("status", flat=True)) == ["lost", "queued"]


def test_only_what_is_missing_looks_at_what_was_set() -> None:
    sets = {"guards.deadline": 77}
    start.create("reference", "1.0.0", "success", queue=False)
    start.create("reference", "1.0.0", "success", queue=False, sets=sets)
    models.Run.objects.update(status=models.Run.Status.ENDED)
    missing = sweeps.create(
        [("reference", "1.0.0")], ["success"], repeat=3, sets=sets, only_missing=True
    )
    assert missing.runs.count() == 2


def test_a_run_without_an_answer_is_said_and_is_no_success(tmp_path: Path) -> None:
    path, junit = tmp_path / "expected.toml", tmp_path / "out.xml"
    path.write_text("")
    code, document = run_command(
        *("sweep", "--agents", "reference@9.9.9,1.0.0", "--scenarios", "success"),
        *("--baseline", str(path), "--junit", str(junit)),
    )
    assert code == 1 and document["differences"] == []
    (row,) = document["unanswered"]
    assert (row["version"], row["ended"]) == ("9.9.9", 0) and "no version" in row["words"]
    assert 'tests="2" failures="0" errors="1"' in junit.read_text()


def test_a_signal_pauses_a_sweep_and_nothing_is_missing_afterwards(settings: Any) -> None:
    settings.CONCURRENCY = 1
    interrupt = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    interrupt.start()
    arguments = ("--agents", "reference@1.0.0,1.0.1,1.1.0", "--scenarios", "sse-cut")
    code, document = run_command("sweep", *arguments)
    interrupt.join()
    assert code == 1 and document["state"] == "paused" and document["queued"] >= 2
    code, document = run_command("sweep", "--resume", document["permalink"])
    assert code == 0 and document["state"] == "ended"
    assert [cell["n"] for cell in document["cells"]] == [1, 1, 1] and not document["unanswered"]


def test_it_follows_a_sweep_that_has_nothing_open_for_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sweep = sweeps.create([("reference", "1.0.0")], ["success"])
    sweep.runs.update(status="cancelled")
    advance, calls = sweeps.advance, []

    def late(one: models.Sweep) -> None:
        """As if a worker had ended the last run after this look at the sweep, not before."""
        calls.append(one)
        if len(calls) == 2:
            sweeps.add_runs(one, "reference", "1.0.0", "success")
        if len(calls) > 2:
            advance(one)

    monkeypatch.setattr(sweeps, "advance", late)
    follow.sweep_to_the_end(sweep, lambda _: None)
    assert sweep.state == "ended" and sweep.runs.filter(status="ended").count() == 1


def test_it_bisects_to_the_first_version() -> None:
    code, document = run_command(
        *("bisect", "reference", "--good", "0.4.1", "--bad", "0.6.1"),
        *("--scenario", "http-400", "--law", "L2"),
    )
    assert code == 0
    assert document["verdict"] == "found"
    assert (document["last_before"], document["first"]) == ("0.5.0", "0.6.0")
    assert [step["saw"] for step in document["steps"][:2]] == ["0 of 3", "3 of 3"]


def test_it_bisects_backwards_to_what_ended_it() -> None:
    code, document = run_command(
        *("bisect", "reference", "--good", "0.7.0", "--bad", "0.6.0"),
        *("--scenario", "sse-cut", "--law", "L2"),
    )
    assert code == 0 and (document["last_before"], document["first"]) == ("0.7.0", "0.6.2")
    assert document["reason"] == "0.6.2 is the last version that shows law:L2."


def bisection(versions: str = "0.2.1..1.0.0") -> models.Sweep:
    first, _, last = versions.partition("..")
    return bisections.create("reference", first, last, "http-400", "law:L2")


def fail_all(sweep: models.Sweep, **error: str) -> None:
    sweep.runs.filter(status="queued").update(status="errored", error=error)


def test_a_network_that_fails_decides_nothing() -> None:
    sweep = bisection()
    for _ in range(20):
        sweeps.advance(sweep)
        sweep.refresh_from_db()
        if sweep.state != "going":
            break
        fail_all(sweep, what="The registry cannot be reached.", kind="cannot-run-here")
    assert sweep.result["verdict"] == "cannot-tell"
    assert "registry cannot be reached" in sweep.result["reason"]
    assert sweep.runs.count() == 3, "it does not try every other version as well"
    assert sweep.result["steps"][0]["saw"] == "no answer"
    sweeps.resume(sweep)
    sweeps.advance(sweep)
    sweep.refresh_from_db()
    assert sweep.state == "going" and sweep.runs.filter(status="queued").count() == 3


def test_what_can_never_run_is_left_out_and_said() -> None:
    sweep = bisection()
    sweeps.advance(sweep)
    fail_all(sweep, what="No package for this platform.", of="version")
    sweeps.advance(sweep)
    sweep.refresh_from_db()
    assert sweep.result["reason"] == "0.2.1 cannot run, and the ends must be proved."
    saw = sweep.result["steps"][0]["saw"]
    assert saw == "skipped: it cannot run (No package for this platform)"


def test_it_says_why_it_cannot_tell() -> None:
    code, document = run_command(
        *("bisect", "reference", "--good", "0.2.1", "--bad", "0.4.0"),
        *("--scenario", "success", "--expression", "attempts.child > 6"),
    )
    assert code == 1
    assert document["verdict"] == "cannot-tell" and "do not differ" in document["reason"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("sweep", "--agents", "referense"),
        ("sweep", "--scenarios", "sse-cutt"),
        ("bisect", "reference", "--good", "0.0.9", "--bad", "1.0.0", "--law", "L2"),
        ("bisect", "reference", "--good", "0.4.0", "--bad", "1.0.0", "--law", "2"),
        ("reproduce", "reference", "sse-cutt"),
        ("reproduce", "reference", "sse-cut", "--set", "nonsense"),
        ("reproduce", "reference@../..", "sse-cut"),
    ],
)
def test_a_wrong_call_is_said_and_starts_nothing(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command(*arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.strip()
    assert not models.Run.objects.exists()


def test_a_single_run_goes_before_a_sweep_and_sweeps_take_turns(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.CONCURRENCY = 2
    sent: list[int] = []
    monkeypatch.setattr(start, "send", lambda pk: sent.append(pk) or _mark(pk))
    first = sweeps.create([("reference", "1.0.0")], ["success"], repeat=3)
    second = sweeps.create([("reference", "1.0.1")], ["success"], repeat=3)
    alone = start.create("reference", "1.1.0", "success", queue=False)[0]
    assert sweeps.feed() == 2
    assert sweeps.feed() == 0, "there is no room for more"
    for pk in sent:
        models.Run.objects.filter(pk=pk).update(status="ended")
    sweeps.feed()
    order = models.Run.objects.in_bulk(sent)
    assert sent[0] == alone.pk
    assert [order[pk].sweep_id for pk in sent[1:]] == [first.pk, second.pk, first.pk]


def _mark(pk: int) -> None:
    from django.utils import timezone

    models.Run.objects.filter(pk=pk).update(sent_at=timezone.now())


def test_a_paused_sweep_is_not_claimed() -> None:
    sweep = sweeps.create([("reference", "1.0.0")], ["success"])
    run = sweep.runs.get()
    sweeps.pause(sweep)
    assert start.claim(run.pk, "me") is None and sweeps.feed() == 0
    models.Sweep.objects.update(state="going")
    assert start.claim(run.pk, "me") is not None


def test_a_lost_run_is_replaced_and_an_ended_one_is_not() -> None:
    sweep = sweeps.create([("reference", "1.0.0")], ["success"], repeat=2)
    lost, done = sweep.runs.order_by("pk")
    models.Run.objects.filter(pk=lost.pk).update(status="lost")
    models.Run.objects.filter(pk=done.pk).update(status="ended")
    sweeps.advance(sweep)
    assert sorted(sweep.runs.values_list("status", flat=True)) == ["ended", "lost", "queued"]
    sweeps.advance(sweep)
    assert sweep.runs.count() == 3
    sweep.runs.filter(status="queued").update(status="ended")
    sweeps.advance(sweep)
    sweep.refresh_from_db()
    assert sweep.state == "ended"
