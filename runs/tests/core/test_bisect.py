"""Bisection: finds the first version, also of a race, and says when it cannot tell."""

from __future__ import annotations

import random
from collections.abc import Callable

from runs.core.bisect import Ask, CannotTell, Found, decide, plan

VERSIONS = [f"1.0.{n}" for n in range(20)]


def search(
    versions: list[str],
    shows: Callable[[str], bool | None],
    *,
    repeat: int = 1,
    skipped: frozenset[str] = frozenset(),
) -> tuple[Found | CannotTell, dict[str, list[bool | None]]]:
    seen: dict[str, list[bool | None]] = {}
    for _ in range(400):
        step = plan(versions, seen, repeat=repeat, skipped=skipped)
        if not isinstance(step, Ask):
            return step, seen
        for _ in range(step.times):
            seen.setdefault(step.version, []).append(shows(step.version))
    raise AssertionError("it never ends")


def test_it_finds_every_first_version() -> None:
    for first in range(1, len(VERSIONS)):
        answer, seen = search(VERSIONS, lambda v, f=first: VERSIONS.index(v) >= f)
        assert answer == Found(VERSIONS[first - 1], VERSIONS[first])
        assert len(seen) <= 2 + 5, "it halves"


def test_it_proves_both_ends_first() -> None:
    answer, seen = search(VERSIONS, lambda _: True)
    assert isinstance(answer, CannotTell) and "do not differ" in answer.reason
    assert set(seen) == {VERSIONS[0], VERSIONS[-1]}


def test_it_finds_a_race_by_repeating() -> None:
    right = 0
    for seed in range(40):
        dice = random.Random(seed)
        answer, _ = search(
            VERSIONS,
            lambda v, d=dice: VERSIONS.index(v) >= 7 and d.random() < 0.8,
            repeat=5,
        )
        right += answer == Found("1.0.6", "1.0.7")
        assert isinstance(answer, CannotTell | Found)
    assert right >= 24


def test_it_skips_what_cannot_run_and_says_so() -> None:
    answer, _ = search(VERSIONS, lambda v: VERSIONS.index(v) >= 7, skipped=frozenset({"1.0.6"}))
    assert isinstance(answer, CannotTell)
    assert (answer.last_before, answer.first) == ("1.0.5", "1.0.7")
    assert "1.0.6 could not run" in answer.reason
    answer, _ = search(VERSIONS, lambda v: VERSIONS.index(v) >= 7, skipped=frozenset({"1.0.9"}))
    assert answer == Found("1.0.6", "1.0.7")


def test_it_ends_at_a_version_that_could_not_be_tried() -> None:
    seen: dict[str, list[bool | None]] = {"1.0.0": [False] * 3, "1.0.19": [True] * 3}
    step = plan(VERSIONS, seen)
    assert isinstance(step, Ask)
    answer = plan(VERSIONS, seen, failing={step.version: "no network"})
    assert answer == CannotTell(
        f"{step.version} could not be tried: no network", VERSIONS[0], VERSIONS[-1]
    )
    answer = plan(VERSIONS, {}, failing={"1.0.19": "no network", "1.0.0": "no network"})
    assert isinstance(answer, CannotTell) and "no network" in answer.reason


def test_it_does_not_call_a_version_without_answers_a_race() -> None:
    silent = VERSIONS.index("1.0.6")
    answer, _ = search(
        VERSIONS,
        lambda v: None if VERSIONS.index(v) == silent else VERSIONS.index(v) > silent,
    )
    assert isinstance(answer, CannotTell) and "1.0.6 gave no answer in 10 runs" in answer.reason


def test_it_cannot_tell_when_a_version_is_in_between() -> None:
    def of_ten(hits: int) -> list[bool | None]:
        return [True] * hits + [False] * (10 - hits)

    seen = {"1.0.0": of_ten(1), "1.0.1": of_ten(3), "1.0.2": of_ten(6)}
    answer = plan(VERSIONS[:3], seen, repeat=10)
    assert isinstance(answer, CannotTell) and "now and then" in answer.reason
    assert (answer.last_before, answer.first) == ("1.0.0", "1.0.2")


def test_it_gives_up_on_an_end_without_answers() -> None:
    answer, _ = search(VERSIONS, lambda _: None)
    assert isinstance(answer, CannotTell) and "no answer" in answer.reason


def test_one_run_does_not_decide() -> None:
    assert decide([True], 0.125, 0.875) is None
    assert decide([True, True], 0.125, 0.875) is True
    assert decide([False, False], 0.125, 0.875) is False
