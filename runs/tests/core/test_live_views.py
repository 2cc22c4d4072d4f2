"""Live views: what a parent's side shows of its children, and records that are read late."""

from __future__ import annotations

from runs.core.events import Kind
from runs.core.rows import retry_row
from runs.tests.core.build import Told, answers

RPC = ("rpc", "rpc.jsonl")
LIVE = ("stdout", "rpc.jsonl")
SESSION = ("session", "child.jsonl")


def _shown(status: str, told: str = "") -> Told:
    """A child that ends in its own log; the parent's side shows its start and goes on."""
    run = Told().begin().view(*RPC).at(1)
    run.add(Kind.AGENT_STARTED, "A", parent="root", ends_elsewhere=True)
    run.view(*SESSION).at(1).add(Kind.AGENT_STARTED, "A", parent="root").at(5).ends("A", status)
    run.view(*RPC).at(6)
    if told:
        run.tells("A", told, form="wait")
    return run.add(Kind.TOOL_ENDED, "root", call="w", tool="wait", ok=True).exits(0, at=9)


def test_it_is_broken_by_a_failure_that_the_parents_side_never_shows() -> None:
    assert answers(_shown("failed"), "L13") == ["broken:terminal_not_published"]


def test_a_success_that_it_does_not_show_misleads_nobody() -> None:
    assert "broken:terminal_not_published" not in answers(_shown("completed"), "L13")


def test_a_failure_of_which_the_parents_side_is_told_is_shown() -> None:
    assert "broken:terminal_not_published" not in answers(_shown("failed", "failed"), "L13")


def _lagging(by: float) -> Told:
    """The live view is read `by` seconds later than the session log was written."""
    run = Told().begin().view(*SESSION).at(1).add(Kind.AGENT_STARTED, "A", parent="root")
    run.at(5).says("A").ends("A")
    return run.view(*LIVE).at(5 + by).says("A").ends("A").exits(0, at=20)


def test_a_view_that_is_read_a_little_late_shows_no_zombie() -> None:
    assert answers(_lagging(1.2), "L12") == ["holds"]


def test_what_comes_long_after_the_first_terminal_is_work_after_the_end() -> None:
    assert answers(_lagging(8), "L12") == ["broken:zombie"]


def _fell(asked: bool) -> Told:
    """The root's turn ends, the child is interrupted, the program exits; the word is read last."""
    run = Told("session", "root.jsonl").begin().at(2).add(Kind.TURN_ENDED, status="completed")
    run.view(*SESSION).at(1).add(Kind.AGENT_STARTED, "A", parent="root")
    if asked:
        run.at(2).add(Kind.CANCEL_REQUESTED, "root", target="A", by="user")
    run.at(2.3).ends("A", "interrupted")
    run.view("stdout", "stdout.jsonl").at(2.6).add(Kind.RESULT, status="completed", is_error=False)
    return run.exits(0, at=2.8)


def test_a_child_that_falls_with_the_exit_is_lost_whoever_is_read_first() -> None:
    assert answers(_fell(asked=False), "L16") == ["broken:early_exit_children_lost"]


def test_a_child_that_somebody_stopped_is_not() -> None:
    assert answers(_fell(asked=True), "L16") == ["holds"]


def test_announced_retries_are_claims_where_nothing_is_claimed_afterwards() -> None:
    run = Told().begin().spawn("A").tries("child:1", [1, 2, 3], agent="A")
    for number in (1, 2):
        run.add(Kind.MODEL_RETRY, "A", attempt=number, of=2)
    row = retry_row(run.ends("A", "failed").exits(0, at=9).history())
    assert row["reported"] == {"retries": 2, "sleep": None}
    assert row["measured"]["retries"] == 2


def test_a_server_that_was_spoken_to_exits_with_0_whatever_it_said() -> None:
    told = Told("stdout", "rpc.jsonl").begin().add(Kind.TURN_ENDED, status="failed")
    told.add(Kind.RESULT, status="failed", is_error=True)
    assert answers(told.exits(0, at=9), "L16") == ["broken:early_exit_root_cut"], "a program"
    served = (
        Told("rpc", "rpc.jsonl").add(Kind.OTHER, "", type="initialize").view("stdout", "rpc.jsonl")
    )
    served.begin().add(Kind.TURN_ENDED, status="failed")
    served.add(Kind.RESULT, status="failed", is_error=True)
    assert answers(served.exits(0, at=9), "L16") == ["holds"]
