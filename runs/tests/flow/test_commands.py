"""The commands refuse what cannot be done before anything is started, in words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands, load_command_class

from runs import export, material, models, start, store
from runs.errors import HarnessError
from runs.management import base
from runs.redact import Choice
from runs.tests.transcripts.helpers import CASES

OURS = [(app, name) for name, app in get_commands().items() if app in ("runs", "dashboard")]


@pytest.mark.parametrize(("app", "name"), OURS)
def test_no_option_hides_one_of_djangos(app: str, name: str) -> None:
    """``--set`` kept as `settings` would be taken for the settings module."""
    parser = load_command_class(app, name).create_parser("manage.py", name)
    kept = Counter(action.dest for action in parser._actions)
    assert [dest for dest, times in kept.items() if times > 1] == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sweep", "--repeat", "0"], "repeat is 1 to 100"),
        (["sweep", "--junit", "/nowhere/at/all.xml"], "/nowhere/at/all.xml cannot be written"),
        (["sweep", "--junit", "."], ". cannot be written"),
        (["export", "some-run", "json", "-o", "/nowhere/out"], "/nowhere/out cannot be written"),
        (["export", "some-run", "json", "--redact", "custom"], "give both"),
        (["export", "some-run", "json", "--replace", "texts"], "give both"),
        (["reproduce", "reference", "success", "--expect", "complete"], "Did you mean 'completed'"),
        (["bisect", "reference", "--good", "0.9.0", "--bad", "1.1.0", "--law", "L99"], "law:L99"),
        (["bisect", "reference", "--good", "0.9.0", "--bad", "1.1.0", "--outcome", "x"], "'x'"),
    ],
)
def test_a_wrong_call_starts_nothing(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command(*words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert not models.Run.objects.exists() and not models.Sweep.objects.exists()


@pytest.mark.django_db
def test_a_run_may_expect_an_outcome_or_a_diagnosis_and_nothing_else() -> None:
    for word in ("model-request-failed", "failed_and_reported"):
        start.create("reference", "1.1.0", "sse-cut", expect=word, queue=False)
    with pytest.raises(HarnessError):
        start.create("reference", "1.1.0", "sse-cut", expect="failed-and-reported", queue=False)


@pytest.mark.django_db
def test_what_is_stored_is_judged_by_the_thresholds_that_were_given() -> None:
    case = next(str(path) for path in CASES if Path(path).name.startswith("10"))
    for words, same in (([], True), (["--set", "max_attempts=20"], False)):
        with pytest.raises(SystemExit):
            call_command("judge", case, "--store", *words)
        run = models.Run.objects.latest("pk")
        assert (run.diagnosis == "endless_retry") is same
    assert store.thresholds(run).max_attempts == 20
    for name, one in export.exports().items():  # with thresholds, and without a scenario
        with export.render(one, material.of(run, Choice.of("full"))) as found:
            assert found.read(1), name


@pytest.mark.parametrize("again", [False, True])
def test_two_first_commands_at_once_migrate_once(
    again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([True, again])
    done: list[str] = []
    monkeypatch.setattr(base, "_is_behind", lambda: next(looks))
    monkeypatch.setattr(base, "call_command", lambda name, **_: done.append(name))
    base.migrate()
    assert done == (["migrate"] if again else []) and not list(looks)
