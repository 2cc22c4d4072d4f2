"""The table of omnigent's rules names only what exists, and every rule once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from runs import catalogue

TABLE = Path(__file__).resolve().parents[3] / "docs" / "omnigent-rules.md"
ROW = re.compile(r"\| (OL-\d+|E-\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|")


class Rule(NamedTuple):
    """One row of the table."""

    name: str
    asks: str
    laws: tuple[str, ...]
    where: str

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The scenarios that it names: outcomes and options in its text are none."""
        words = re.findall(r"`([a-z0-9-]+)`", self.where)
        return tuple(word for word in words if not word.startswith("invalid-"))


def rules() -> list[Rule]:
    found = ROW.findall(TABLE.read_text(encoding="utf-8"))
    return [
        Rule(name, asks, tuple(re.findall(r"L\d+", laws)), where)
        for name, asks, laws, where in found
    ]


def test_it_has_every_rule_once() -> None:
    wanted = [f"OL-{number}" for number in range(1, 57)] + [f"E-{number}" for number in range(1, 8)]
    assert [rule.name for rule in rules()] == wanted


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_it_names_laws_and_scenarios_that_exist_or_says_why_not(rule: Rule) -> None:
    assert set(rule.laws) <= set(catalogue.laws())
    assert set(rule.scenarios) <= set(catalogue.scenarios())
    if rule.laws:
        assert rule.scenarios
        driver = catalogue.driver("omnigent")
        assert set(rule.laws) <= set(driver.observes)
        assert not set(rule.scenarios) & set(driver.not_applicable)
    else:
        assert re.match(r"a black box cannot see it|no l", rule.where)
