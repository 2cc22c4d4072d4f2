from __future__ import annotations

import pytest

from runs import versions
from runs.errors import UnknownName

KNOWN = ["1.0.9", "1.0.10", "1.0.84-5", "1.0.84", "1.0.86-2", "1.0.102", "1.1.0"]


def test_it_orders_releases_by_their_numbers_and_prereleases_before_them() -> None:
    assert versions.ordered(reversed(KNOWN)) == KNOWN


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("0.9.0rc1", "0.9.0"),
        ("2.0.0-beta.2", "2.0.0-beta.10"),
        ("1.0.0-alpha", "1.0.0-beta"),
        ("1.0", "1.0.1"),
        ("1.0.0", "1.0.0.post1"),
        ("1.0.102", "1.0.102-local.ab12cd34"),
        ("1.0.102-local.ab12cd34", "1.0.103"),
    ],
)
def test_it_knows_which_of_two_versions_is_older(earlier: str, later: str) -> None:
    assert versions.ordered([later, earlier]) == [earlier, later]


def test_it_does_not_take_a_registered_executable_for_a_prerelease() -> None:
    assert versions.is_prerelease("1.0.84-5")
    assert not versions.is_prerelease("1.0.102-local.ab12cd34")


@pytest.mark.parametrize("text", ["", "..", "../1", "1;rm", "-rf", "a b", "1/2", "x" * 65, "1..2"])
def test_it_lets_nothing_through_that_is_no_version(text: str) -> None:
    assert not versions.valid(text)


def test_it_expands_a_range_over_the_known_releases_with_both_ends() -> None:
    assert versions.expand("toy", "1.0.9,1.0.84..1.0.102", KNOWN) == ["1.0.9", "1.0.84", "1.0.102"]


def test_it_takes_prereleases_into_a_range_only_when_an_end_is_one() -> None:
    assert versions.expand("toy", "1.0.84-5..1.0.102", KNOWN) == [
        "1.0.84-5",
        "1.0.84",
        "1.0.86-2",
        "1.0.102",
    ]


def test_it_expands_a_range_that_is_open_at_one_end() -> None:
    assert versions.expand("toy", "1.0.102..", KNOWN) == ["1.0.102", "1.1.0"]
    assert versions.expand("toy", "..1.0.10", KNOWN) == ["1.0.9", "1.0.10"]


def test_it_names_each_version_once() -> None:
    assert versions.expand("toy", "1.0.10,1.0.9..1.0.10", KNOWN) == ["1.0.10", "1.0.9"]


@pytest.mark.parametrize("text", ["1.0.50..1.0.60", "1.0.9..;x", "1 2", ""])
def test_it_says_when_a_range_is_empty_or_malformed(text: str) -> None:
    with pytest.raises(UnknownName) as trouble:
        versions.expand("toy", text, KNOWN)
    assert trouble.value.do in ("See `binaries list toy`.", "Write 1.0.81 or 1.0.81..1.0.102.")


def test_it_knows_what_a_registered_executable_says_of_itself() -> None:
    assert versions.plain("1.0.102-local.ab12cd34") == "1.0.102"
    assert versions.plain("1.0.84-5") == "1.0.84-5"
