"""What joining files costs grows with their number, and not with its square."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runs.core.events import Draft, Kind
from runs.tests.core.test_cost import counted
from runs.transcripts._nameless import settle
from runs.transcripts._paths import Paths
from runs.transcripts._reading import ReadFile


def _start(number: int) -> Draft:
    return Draft(
        kind=Kind.AGENT_STARTED,
        source="session",
        file=f"{number}.jsonl",
        agent=f"c{number}",
        data={"parent": "root", "path": "/root/again"},
    )


def _startless_files(count: int) -> Callable[[], object]:
    rows = [[(float(number), _start(number))] for number in range(count)]
    files = [
        ReadFile(f"{number}.jsonl", 1, facts={"startless": f"c{number}"}) for number in range(count)
    ]
    return lambda: settle(rows, files)


def _one_path_again_and_again(count: int) -> Callable[[], object]:
    def ask() -> None:
        paths = Paths()
        for number in range(count):
            paths.add(_start(number), float(number))
        for number in range(count):
            assert paths.of("/root/again", "root", float(number), begins=True) == f"c{number}"
            assert paths.of("/root/again", "root", float(number)) in (
                f"c{number}",
                f"c{number + 1}",
            )

    return ask


@pytest.mark.parametrize("make", [_startless_files, _one_path_again_and_again])
def test_joining_does_not_grow_with_the_square_of_a_case(
    make: Callable[[int], Callable[[], object]],
) -> None:
    few, many = counted(make(100)), counted(make(800))
    assert many < 2 * 8 * few
