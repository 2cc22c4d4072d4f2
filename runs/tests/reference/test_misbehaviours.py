"""Each law is seen broken, diagnosed, and held by the healthy twin, end to end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fakes.reference_agent.misbehaviours import Misbehaviour, table
from runs.core.judge import laws
from runs.core.law import Verdict
from runs.tests.reference.plays import Plays
from runs.tests.reference.stage import Played

FAMILIES = {f"F{number:02}" for number in range(1, 23)}


def test_it_can_break_every_law_and_show_every_family() -> None:
    entries = table().values()
    assert {entry.law for entry in entries} == set(laws())
    assert {entry.family for entry in entries} == FAMILIES


def test_its_consequences_are_those_that_the_laws_themselves_state() -> None:
    for entry in table().values():
        assert entry.law not in entry.consequences
        stated = _follow(entry.law)
        assert set(entry.consequences) <= stated, entry.name


def _follow(law: str) -> set[str]:
    """Every law that may be broken because of this one, directly or further on."""
    found: set[str] = set()
    ahead = [law]
    while ahead:
        for follower in laws()[ahead.pop()].follows:
            if follower not in found:
                found.add(follower)
                ahead.append(follower)
    return found


def _order(plays: Plays, entry: Misbehaviour) -> None:
    plays.order((entry.name, "bad"), entry.scenario, entry.sets, misbehave=entry.name)
    twin, sets = _twin(entry)
    plays.order((twin, str(sets)), twin, sets)


def _twin(entry: Misbehaviour) -> tuple[str, dict[str, object]]:
    """The healthy run beside it: scenario and sets. Several entries share one."""
    return entry.twin or entry.scenario, {} if entry.twin else dict(entry.sets)


@pytest.fixture(scope="module")
def plays(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Plays]:
    """All plays that the chosen tests of this file need, side by side."""
    made = Plays(tmp_path_factory.mktemp("misbehaviours"))
    for item in request.session.items:
        entry = getattr(item, "callspec", None) and item.callspec.params.get("entry")
        if isinstance(entry, Misbehaviour):
            _order(made, entry)
    yield made
    made.close()


@pytest.mark.parametrize("entry", table().values(), ids=list(table()))
def test_it_breaks_one_law_and_its_healthy_twin_holds_it(entry: Misbehaviour, plays: Plays) -> None:
    _is_seen(entry, plays.result((entry.name, "bad")))
    twin, sets = _twin(entry)
    _is_clean(entry, plays.result((twin, str(sets))))


def _is_seen(entry: Misbehaviour, played: Played) -> None:
    judged = played.judged()
    broken = {finding.law for finding in judged.broken}
    assert entry.law in broken, judged.findings
    assert broken <= {entry.law, *entry.consequences}, judged.broken
    causes = {finding.law for finding in judged.broken if not finding.because}
    assert causes == {entry.law}, judged.broken
    assert judged.diagnosis == entry.diagnosis
    assert all(finding.evidence for finding in judged.broken)
    assert played.errors == ""


def _is_clean(entry: Misbehaviour, played: Played) -> None:
    judged = played.judged()
    assert not judged.broken
    assert judged.verdict(entry.law) is not Verdict.BROKEN
    held = {finding.law for finding in judged.findings if finding.verdict is Verdict.HOLDS}
    assert entry.law in held
    assert judged.diagnosis in ("healthy", "failed_and_reported")
    assert (played.undelivered, played.errors) == (0, "")
