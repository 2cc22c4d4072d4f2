"""L2: a terminal agrees with the evidence, and prose is no evidence."""

from __future__ import annotations

from runs.core.events import Kind
from runs.tests.core.build import Told, answers


def _cut(told: Told, tries: int = 6) -> Told:
    return told.tries("child:1", [1.0 + step for step in range(tries)], fault="sse-cut")


def test_it_is_broken_by_completed_after_a_noted_cut() -> None:
    told = _cut(Told().begin().spawn("A")).at(8).errs("A").ends("A").shuts(9)
    assert answers(told, "L2") == ["broken:cut_stream_false_completion"]


def test_it_needs_no_provider_to_see_a_closing_error() -> None:
    told = Told().begin().spawn("A").at(8).errs("A", "other").ends("A").shuts(9)
    assert answers(told, "L2") == ["broken:cut_stream_false_completion"]


def test_it_names_an_answer_with_an_error_apart_from_a_cut_one() -> None:
    told = Told().begin().spawn("A").at(8).errs("A", "rate_limit", http_status=429).ends("A")
    assert answers(told, "L2") == ["broken:provider_error_false_completion"]
    told = Told().begin().spawn("A").at(1).request("child:1", status=503).at(2).ends("A")
    assert answers(told, "L2") == ["broken:provider_error_false_completion"]


def test_it_calls_a_cut_text_that_was_taken_as_whole_a_truncated_success() -> None:
    told = Told().begin().spawn("A").at(1).request("child:1", complete=False, closed="cut")
    told.at(2).says("A", 7).ends("A").shuts(3)
    assert answers(told, "L2") == ["broken:truncated_success"]
    told = Told().begin().spawn("A").at(1).request("child:1", complete=False, error_class="limit")
    assert answers(told.at(2).says("A", 7).ends("A").shuts(3), "L2") == ["broken:truncated_success"]
    told = Told().begin().spawn("A").at(2).says("A", 90, finish="length").ends("A")
    assert answers(told, "L2") == ["broken:truncated_success"]


def _turns(cut: str, status: str = "completed") -> Told:
    """A root of two turns; the only call of its first one is not answered whole."""
    told = Told().begin().at(1)
    told.request("parent", agent="root", call=1, attempt=1, complete=False, closed=cut)
    told.at(2).add(Kind.TURN_ENDED, status=status).at(5).add(Kind.TURN_STARTED)
    told.request("parent", agent="root", call=2, attempt=1)
    return told.at(6).add(Kind.TURN_ENDED, status="completed")


def test_it_looks_at_the_turns_of_the_root_that_others_follow() -> None:
    assert answers(_turns("cut").shuts(9), "L2") == ["broken:truncated_success"]
    assert answers(_turns("cut", "failed").shuts(9), "L2") == ["unknown"]
    assert answers(_turns("client-gone").shuts(9), "L2") == ["unknown"]


def test_it_holds_for_a_failure_that_says_so() -> None:
    told = _cut(Told().begin().spawn("A")).at(8).errs("A").ends("A", "failed").shuts(9)
    assert answers(told, "L2") == ["holds"]


def test_it_holds_after_an_error_that_was_overcome() -> None:
    told = Told().begin().spawn("A").tries("child:1", [1.0, 2.0]).errs("A")
    told.at(4).request("child:1", call=1, attempt=3).says("A").at(5).ends("A").shuts(6)
    assert answers(told, "L2") == ["holds"]


def test_it_lets_a_good_report_speak_of_errors() -> None:
    told = Told().begin().spawn("A").at(3).says("A", 140, final=True).ends("A").shuts(4)
    assert answers(told, "L2") == ["holds"]


def test_it_does_not_take_a_preview_for_a_truncated_answer() -> None:
    told = Told().begin().spawn("A").at(3).says("A", 40, preview=True).ends("A").shuts(4)
    assert answers(told, "L2") == ["holds"]


def test_it_knows_nothing_from_hooks_or_traces_alone() -> None:
    told = Told("hooks", "hooks.jsonl").begin().spawn("A").at(2).ends("A", "stopped")
    assert answers(told, "L2") == ["unknown"]
    told = Told("trace", "trace.json").begin().spawn("A").at(2).ends("A")
    assert answers(told, "L2") == ["unknown"]


def test_it_does_not_blame_the_wire_for_an_agent_that_hangs_up() -> None:
    told = Told().begin().spawn("A").at(1)
    told.request("child:1", complete=False, closed="client-gone").at(2).says("A").ends("A")
    assert answers(told, "L2") == ["holds"]


def test_it_is_broken_by_completed_in_mid_work() -> None:
    told = Told().begin().spawn("A").at(5).says("A", finish="tool_use", tool_calls=1)
    told.tool("A").at(9).ends("A").tells("A").shuts(10)
    assert answers(told, "L2") == ["broken:truncated_success"]


def test_a_tool_that_hands_in_the_answer_ends_the_work() -> None:
    told = Told().begin().spawn("A").at(5).says("A", finish="tool_use", tool_calls=1)
    told.add(Kind.TOOL_STARTED, "A", call="t1", tool="task_complete")
    assert answers(told.at(9).ends("A", text_length=4).shuts(10), "L2") == ["holds"]


def test_it_is_broken_by_a_cancel_of_what_was_done() -> None:
    told = Told().begin().spawn("A").at(5).says("A", final=True, finish="stop").at(20)
    assert answers(told.ends("A", "cancelled").shuts(21), "L2") == ["broken:false_failure"]


def test_it_lets_somebody_cancel_what_was_done() -> None:
    told = Told().begin().spawn("A").at(5).says("A", final=True, finish="stop").at(19)
    told.add(Kind.CANCEL_REQUESTED, "root", target="A", by="user").at(20)
    assert answers(told.ends("A", "cancelled").shuts(21), "L2") == ["unknown"]


def _stored(*, told_of_a_limit: bool = False, answered: bool = False, ended: bool = True) -> Told:
    """A child that is called completed beside its own session, which holds its task."""
    told = Told().begin().spawn("A").add(Kind.USER_MESSAGE, "A", text_length=57)
    told.at(1).request("child:1", call=1, attempt=1)
    if answered:
        told.says("A", 45)
    if ended:
        told.at(2).add(Kind.STATUS, "A", status="ended", raw="agent_close")
    more = {"finish": "max_iterations"} if told_of_a_limit else {}
    told.view("rpc", "rpc.jsonl").ends("A", text_length=45)
    return told.tells("A", "completed", **more).shuts(4)


def test_it_is_broken_where_only_the_terminal_has_a_text() -> None:
    assert answers(_stored(), "L2") == ["broken:truncated_success"]
    assert answers(_stored(answered=True), "L2") == ["holds"]
    assert answers(_stored(ended=False), "L2") == ["holds"]


def test_it_is_broken_where_a_completed_child_is_told_with_a_limit() -> None:
    told = _stored(answered=True, told_of_a_limit=True)
    assert answers(told, "L2") == ["broken:truncated_success"]


def test_it_does_not_know_whose_of_two_was_cut_where_nothing_says_so() -> None:
    told = Told().begin().spawn("A").spawn("B").at(1)
    told.request("child:1", complete=False, fault="sse-cut").request("child:2")
    for child in ("A", "B"):
        told.says(child, 60).ends(child)
    assert sorted(answers(told.shuts(4), "L2")) == ["holds", "unknown"]
