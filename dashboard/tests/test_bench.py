"""The benches: each is one that the command knows, and a figure says whether it is met."""

from __future__ import annotations

import contextlib
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from dashboard import benching
from dashboard.management.commands.bench import known, table
from runs.bench import Bench, Figure, percentile


@pytest.mark.parametrize("name", sorted(known()))
def test_it_asks_a_question(name: str) -> None:
    bench = known()[name]
    assert isinstance(bench, Bench)
    assert bench.question.endswith("?")


@pytest.mark.parametrize(
    ("figure", "met"),
    [
        (Figure("a", 2.0, budget=2.0), True),
        (Figure("a", 2.1, budget=2.0), False),
        (Figure("a", 2.1, budget=2.0, floor=True), True),
        (Figure("a", 1.9, budget=2.0, floor=True), False),
        (Figure("a", None, budget=2.0), None),
        (Figure("a", 2.0), None),
    ],
)
def test_it_says_whether_a_budget_is_met(figure: Figure, met: bool | None) -> None:
    assert figure.met is met


def test_it_takes_a_percentile_of_what_was_measured() -> None:
    assert percentile(list(range(100)), 0.95) == 95
    assert percentile([7.0], 0.95) == 7.0


def test_it_writes_a_missed_budget_into_the_table() -> None:
    figures = [Figure("a", 5.0, "ms", 2.0).as_dict()]
    result = {"name": "n", "question": "q?", "load": 1.0, "trouble": "", "figures": figures}
    assert "| a | 5 ms | ≤ 2 ms | **missed** |" in "\n".join(table(result))


def test_it_lists_what_there_is_and_refuses_what_there_is_not() -> None:
    out = StringIO()
    call_command("bench", "--list", stdout=out)
    assert "overhead" in out.getvalue()
    with pytest.raises(SystemExit) as ended:
        call_command("bench", "no-such-bench")
    assert ended.value.code == 2


def test_no_picture_is_taken_of_a_wrong_call(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(benching, "instance", contextlib.nullcontext)
    with pytest.raises(SystemExit) as ended:
        call_command("portray", "reference", "nope", str(tmp_path / "x.png"))
    assert ended.value.code == 2 and not list(tmp_path.iterdir())
