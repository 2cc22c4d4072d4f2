"""All problems of a text at once: the key, the line, the nearest known word."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs import catalogue
from runs.checking import LIMIT, check

GOOD = 'name = "mine"\nquestion = "Why?"\nscript = "delegate-many"\n'


@pytest.mark.parametrize(
    ("text", "key", "line", "nearest"),
    [
        ('laws = ["L2"]\nlawz = 1\n', "lawz", 5, "laws"),
        ("[guards]\ndeadlin = 3\n", "guards.deadlin", 5, "deadline"),
        ("[guards]\nrequests = -1\n", "guards.requests", 5, ""),
        ("[guards]\ndeadline = nan\n", "guards.deadline", 5, ""),
        ("[thresholds]\nstal_after = 3\n", "thresholds.stal_after", 5, "stall_after"),
        ("[settings]\nchildrn = 3\n", "settings.childrn", 5, "children"),
        ("[settings]\nchildren = 65\n", "settings.children", 5, ""),
        ("[agents.copilt]\nx = 1\n", "agents.copilt", 4, "copilot"),
        ("[agents.reference]\nretrys = 1\n", "agents.reference.retrys", 5, "retries"),
        ('laws = ["L99"]\n', "laws", 4, "L9"),
        ('[[faults]]\nfault = "sse-ct"\n', "faults.0.fault", 5, "sse-cut"),
        ('[[faults]]\nfault = "stall"\nsecnds = 1\n', "faults.0.secnds", 6, "seconds"),
        ('[[faults]]\nfault = "stall"\non = {caler = "x"}\n', "faults.0.on.caler", 6, "caller"),
        (
            '[[faults]]\nfault = "stall"\n[faults.on]\ncaller = "chld"\n',
            "faults.0.on.caller",
            7,
            "child",
        ),
        ('[[faults]]\nfault = "stall"\non = {attempt = "x"}\n', "faults.0.on.attempt", 6, ""),
    ],
)
def test_it_names_the_key_the_line_and_the_nearest_known_word(
    text: str, key: str, line: int, nearest: str
) -> None:
    found = check(GOOD + text)
    assert found.scenario is None
    assert [(each.key, each.line, each.nearest) for each in found.problems] == [
        (key, line, nearest)
    ]
    assert found.problems[0].says


def test_it_finds_all_problems_of_a_text() -> None:
    text = 'nam = "x"\nscript = "delegate-mny"\n[guards]\ndeadlin = 3\n[[faults]]\nfault = "x"\n'
    assert [each.key for each in check(text).problems] == [
        "nam",
        "name",
        "question",
        "guards.deadlin",
        "script",
        "faults.0.fault",
    ]


def test_it_finds_no_problem_in_what_ships() -> None:
    for scenario in catalogue.scenarios().values():
        found = check(scenario.toml())
        assert found.problems == () and found.scenario == scenario


@pytest.mark.parametrize(
    "text",
    ["a = ", "[x", "a = " + "[" * 40 + "]" * 40, "a=" + "[" * 9000 + "]" * 9000, "#" * (LIMIT + 1)],
    ids=["value", "table", "deep", "deeper", "long"],
)
def test_it_says_what_is_wrong_with_what_is_no_toml(text: str) -> None:
    found = check(text)
    assert found.tree is None and found.problems[0].says


words = st.sampled_from(
    ["name", "faults", "on", "script", "settings", "guards", "laws", "agents", "caller", "x.y"]
)
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(words, trees, max_size=5))
def test_it_never_fails_on_a_strange_tree(tree: dict[str, object]) -> None:
    from runs.scenario import to_toml

    found = check(to_toml(tree))
    assert (found.scenario is None) == bool(found.problems)
