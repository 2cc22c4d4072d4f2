"""Judging a stored run again: what it says, what it keeps, what it takes back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command

from dashboard.tests import factory
from runs import pictures, store, verdict
from runs.models import Finding, Run

pytestmark = pytest.mark.django_db


def _rejudge(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        call_command("rejudge", *arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_it_makes_findings_diagnosis_and_picture_again(capsys: pytest.CaptureFixture[str]) -> None:
    run = factory.cut_run()
    verdict.rejudge(run)
    right = (run.diagnosis, run.broken)
    Finding.objects.filter(run=run, law="L2").delete()
    Run.objects.filter(pk=run.pk).update(diagnosis="healthy", broken="")
    pictures.text_of(run)
    pictures.path_of(run).write_text("old")
    assert _rejudge(f"/runs/{run.permalink}/") == 0
    run.refresh_from_db()
    assert (run.diagnosis, run.broken) == right
    assert run.findings.filter(law="L2", verdict="broken").exists()
    said = capsys.readouterr().out
    assert run.permalink in said and "healthy, nothing broken → " in said
    assert "; L2 - → broken" in said and "1 run was judged anew, 1 changed." in said
    _, _, drawn = pictures.path_of(run).read_text().partition("\n")
    assert json.loads(drawn)["lanes"]
    assert _rejudge("--all") == 0
    assert capsys.readouterr().out == "1 run was judged anew, none changed.\n"


def test_a_run_that_could_not_be_judged_is_made_good(monkeypatch: pytest.MonkeyPatch) -> None:
    run = factory.cut_run()
    Run.objects.filter(pk=run.pk).update(status="running")

    def broken(run: Run) -> dict[str, Any]:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(verdict, "verdict_of", broken)
        verdict.close(run, "ended", {})
        run.refresh_from_db()
        assert run.status == "errored" and "`rejudge`" in run.error["do"]
        assert _rejudge(run.permalink) == 1
    assert _rejudge(run.permalink) == 0
    run.refresh_from_db()
    assert (run.status, run.error) == ("ended", {})


def test_a_verdict_that_changes_alone_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [factory.cut_run(), factory.cut_run()]
    assert _rejudge("--all") == 0
    capsys.readouterr()
    holding = Finding.objects.filter(run=runs[1], verdict="holds").first()
    assert holding is not None
    Finding.objects.filter(run=runs[1], law=holding.law).update(verdict="unknown")
    assert _rejudge("--all") == 0
    changed, counted = capsys.readouterr().out.splitlines()
    assert changed.startswith(runs[1].permalink)
    assert changed.endswith(f": {holding.law} unknown → holds")
    assert counted == "2 runs were judged anew, 1 changed."


def test_other_trouble_of_ours_stays(capsys: pytest.CaptureFixture[str]) -> None:
    run = factory.cut_run()
    Run.objects.filter(pk=run.pk).update(status="errored", error={"what": "No disk.", "do": ""})
    assert _rejudge(run.permalink) == 0
    run.refresh_from_db()
    assert run.status == "errored" and run.error["what"] == "No disk."


def test_what_a_lost_run_lacks_proves_nothing() -> None:
    run = factory.open_run()
    Run.objects.filter(pk=run.pk).update(status="lost")
    assert _rejudge(run.permalink) == 0
    run.refresh_from_db()
    assert (run.broken, run.outcome, run.diagnosis) == ("", "", "unknown")
    _, _, drawn = pictures.path_of(run).read_text().partition("\n")
    assert not json.loads(drawn)["ended"]
    assert not store.history(run).complete
    run.status = "ended"
    assert store.history(run).complete  # the same events, had the agent ended like that


@pytest.mark.parametrize("arguments", [[], ["nosuchrun"], ["nosuchrun", "--all"]])
def test_a_wrong_call_is_said(arguments: list[str]) -> None:
    assert _rejudge(*arguments) == 2


def test_a_run_that_goes_on_is_not_judged() -> None:
    assert _rejudge(factory.open_run().permalink) == 2
