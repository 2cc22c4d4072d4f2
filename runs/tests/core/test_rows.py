"""The rows put the wire beside what was said, and the claim beside the measurement."""

from __future__ import annotations

from runs.core.events import Kind
from runs.core.law import Thresholds
from runs.core.lifecycle import STATES, STEPS, is_legal, steps
from runs.core.rows import agent_rows, attempt_rows, retry_row
from runs.core.timeline import timeline
from runs.tests.core.build import Told


def _run() -> Told:
    told = Told("stdout", "stdout.jsonl").begin().request("parent").spawn("A", role="worker")
    told.tries("child:1", [1.0, 2.02, 3.04], fault="sse-cut").at(4).errs("A")
    told.add(Kind.RETRY_CLAIM, "A", retries=2, sleep=2.0).view("session", "session.jsonl")
    told.ends("A", "failed").view("stdout", "stdout.jsonl").tells("A", "completed", raw="is done")
    return told.at(5).request("parent").says("root").exits(0, at=6)


def test_a_row_says_what_happened_and_what_was_said() -> None:
    root, child = agent_rows(_run().history())
    assert (root["id"], root["caller"], root["parent"]) == ("root", "parent", None)
    assert root["wire"] == {"calls": 2, "attempts": 2, "failed": 0, "complete": 2, "open": 0}
    assert (child["caller"], child["parent"], child["role"]) == ("child:1", "root", "worker")
    assert child["terminal"] == {"stdout": "started-only", "session": "failed"}
    assert child["terminal_refs"] == {"session": "session.jsonl:1"}
    assert child["wire"] == {"calls": 1, "attempts": 3, "failed": 3, "complete": 0, "open": 0}
    assert child["told"] is not None and child["told"]["status"] == "completed"
    assert (child["true_end"], child["error_class"]) == ("failed", "stream")


def test_what_the_parent_was_told_is_of_the_run_whose_terminal_is_shown() -> None:
    told = Told().begin().spawn("A").says("A").ends("A").tells("A")
    told.at(3).add(Kind.AGENT_RESUMED, "A", by="root").says("A").ends("A", "failed")
    (_, untold) = agent_rows(told.at(4).history())
    assert (untold["terminal"]["stdout"], untold["runs"], untold["told"]) == ("none", 2, None)
    (_, child) = agent_rows(told.tells("A", "failed").at(5).history())
    assert child["told"] is not None
    assert (child["told"]["status"], child["told"]["times"]) == ("failed", 1)


def test_a_child_that_was_stopped_on_request_was_cancelled() -> None:
    def shown(*targets: str) -> str:
        told = Told().begin().spawn("A").at(1)
        for target in targets:
            told.add(Kind.CANCEL_REQUESTED, target=target, by="parent")
        (_, child) = agent_rows(told.at(2).ends("A", "stopped").exits(0, at=3).history())
        return child["terminal"]["session"]

    assert shown("A") == "cancelled"
    assert shown() == shown("B") == "stopped"


def test_attempts_carry_call_number_gap_and_fault() -> None:
    rows = [row for row in attempt_rows(_run().history()) if row["caller"] == "child:1"]
    assert [(row["call"], row["n"], row["fault"]) for row in rows] == [
        (1, 1, "sse-cut"),
        (1, 2, "sse-cut"),
        (1, 3, "sse-cut"),
    ]
    assert [row["gap_before"] for row in rows] == [None, 1.0, 1.0]


def test_an_attempt_carries_the_wait_that_was_announced_for_it() -> None:
    told = Told().begin().spawn("A").request("child:1", agent="A", complete=False, lasting=0.1)
    told.at(0.1).add(Kind.MODEL_RETRY, "A", delay=0.9, reason="stream")
    told.at(1.08).request("child:1", agent="A", lasting=0.1, attempt=2)
    rows = attempt_rows(told.history())
    assert [(row["gap_before"], row["claimed"]) for row in rows] == [(None, None), (0.98, 0.9)]
    assert retry_row(told.spawn("B").history())["reasons"] == ["stream"]
    assert [row["claimed"] for row in attempt_rows(_run().history())] == [None] * len(
        _run().history().attempts
    )


def test_tries_in_quick_succession_carry_each_its_own_wait() -> None:
    told, waits = Told().begin().spawn("A"), [0.1, 0.05, None, 0.2]
    told.request("child:1", agent="A", complete=False, lasting=0.01)
    at = 0.01
    for number, wait in enumerate(waits, 2):
        if wait is not None:
            told.at(at + 0.002).add(Kind.MODEL_RETRY, "A", delay=wait)
        at += wait or 0.07
        told.at(at).request("child:1", agent="A", complete=False, lasting=0.01, attempt=number)
        at += 0.01
    rows = attempt_rows(told.history())
    assert [row["claimed"] for row in rows] == [None, *waits]
    lane = timeline(told.history())["lanes"][-1]
    assert [gap["claimed"] for gap in lane["gaps"]] == waits


def test_retries_are_claimed_and_measured() -> None:
    row = retry_row(_run().history())
    assert row["reported"] == {"retries": 2, "sleep": 2.0}
    assert row["measured"]["retries"] == 2 and row["measured"]["total"] == 2.0


def test_a_request_that_numbers_itself_as_a_retry_claims_it() -> None:
    told = Told().begin().spawn("A")
    for at, number in ((1.0, "0"), (2.0, "1"), (4.0, "0")):
        told.at(at).request(
            "child:1", agent="A", complete=False, closed="cut",
            headers={"x-stainless-retry-count": number},
        )  # fmt: skip
    row = retry_row(told.history())
    assert row["reported"] == {"retries": 1, "sleep": None}
    assert row["measured"]["retries"] == 2
    told.add(Kind.MODEL_RETRY, "A", delay=1.0).add(Kind.MODEL_RETRY, "A", delay=2.0)
    assert retry_row(told.history())["reported"] == {"retries": 2, "sleep": 3.0}


def test_an_open_attempt_is_counted_and_marked() -> None:
    told = Told().begin().spawn("A").at(1).request("child:1", closed="open")
    (row,) = attempt_rows(told.history())
    assert (row["closed"], row["end"]) == ("open", None)
    assert agent_rows(told.history())[1]["wire"]["open"] == 1


def test_how_long_silence_is_no_loss_is_the_thresholds_to_say() -> None:
    told = Told().begin().spawn("A").says("A").at(100).says("root")
    assert agent_rows(told.history())[1]["true_end"] == "open"
    (_, child) = agent_rows(told.history(), Thresholds(stall_after=50))
    assert child["true_end"] == "lost"


def test_true_ends_have_their_words() -> None:
    def end(told: Told) -> str:
        return agent_rows(told.history())[1]["true_end"]

    begun = Told().begin().spawn("A").at(3).says("A").at(4)
    assert end(begun.shuts(9)) == "lost"
    assert end(Told().begin().spawn("A").ends("A", "cancelled").shuts(9)) == "cancelled"
    aborted = Told().begin().spawn("A").errs("A", "aborted").ends("A", "cancelled")
    assert end(aborted.shuts(9)) == "aborted"
    assert end(Told().begin().request("parent").spawn("A").shuts(900)) == "never_ran"


def test_states_and_steps_are_one_closed_table() -> None:
    assert set(STEPS) == {"", *STATES}
    assert all(after in STATES for found in STEPS.values() for after in found)
    assert is_legal("running", "retrying") and is_legal("idle", "idle")
    assert not is_legal("ended", "retrying") and not is_legal("running", "sleeping")


def test_it_finds_steps_that_the_table_does_not_know() -> None:
    told = Told()
    for word in ("starting", "running", "running", "ended", "waiting"):
        told.add(Kind.STATUS, status=word)
    found = steps(told.events)
    assert [(step.after, step.legal) for step in found] == [
        ("starting", True),
        ("running", True),
        ("ended", True),
        ("waiting", False),
    ]
