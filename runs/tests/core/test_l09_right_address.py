"""L9: word goes to the spawner."""

from __future__ import annotations

from runs.core.events import Kind
from runs.tests.core.build import Told, answers


def _deep() -> Told:
    return Told().begin().spawn("A").spawn("B", parent="A").at(5).ends("B")


def test_it_holds_when_the_spawner_is_told() -> None:
    assert answers(_deep().tells("B", to="A"), "L9") == ["holds"]


def test_it_is_broken_when_somebody_else_is_told() -> None:
    assert answers(_deep().tells("B", to="root"), "L9") == ["broken:misrouted_notice"]


def test_it_lets_anybody_ask_for_himself_and_the_requester_be_told() -> None:
    assert answers(_deep().tells("B", to="root", form="poll"), "L9") == ["unknown"]
    told = _deep().at(6).add(Kind.AGENT_RESUMED, "B", by="root").at(7).ends("B")
    assert answers(told.tells("B", to="root"), "L9") == ["holds"]


def test_it_is_broken_when_id_and_call_belong_to_two_children() -> None:
    told = Told().begin().spawn("A").spawn("B").at(5).ends("A").tells("A", call="call-B")
    assert answers(told, "L9", "A") == ["broken:misrouted_notice"]


def test_it_does_not_know_without_a_spawn_edge() -> None:
    told = Told().begin().add(Kind.AGENT_STARTED, "A").at(5).ends("A").tells("A")
    assert answers(told, "L9") == ["unknown"]
