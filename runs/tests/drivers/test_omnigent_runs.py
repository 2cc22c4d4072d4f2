"""Runs of our own, shortened: what the driver's readers and the laws make of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runs.core.events import Draft, Event, Kind, number
from runs.core.history import History
from runs.core.judge import judge
from runs.core.rows import agent_rows
from runs.drivers.omnigent import DRIVER
from runs.drivers.omnigent.evidence import LiveStream
from runs.tests.drivers.test_omnigent import CHILD, event, fed
from runs.transcript import Reader, named

DATA = Path(__file__).parent / "data" / "omnigent"


def replayed(folder: Path) -> History:
    """The sources of a run through the driver's own readers, mirrored records joined."""
    readers: list[tuple[str, Reader]] = [
        ("stdout.jsonl", LiveStream("stdout.jsonl")),
        ("provider.jsonl", named("lifeline-journal").reader("provider.jsonl")),
        *(
            (path.name, named("omnigent-export").reader(path.name))
            for path in sorted(folder.glob("session-*.json"))
        ),
    ]
    drafts: list[Draft] = []
    again: list[Draft] = []
    seen: set[str] = set()
    for name, reader in readers:
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        mine: list[Draft] = []
        for place, line in enumerate(lines, 1):
            mine += reader.feed(line, place, 0)
        mine += reader.end()
        drafts += [one for one in mine if one.native_id not in seen]
        again += [one for one in mine if one.native_id in seen]
        seen |= {one.native_id for one in mine} - {""}
    began = min(draft.at for draft in drafts if draft.at is not None)
    drafts.sort(key=lambda one: one.at or began)
    events: list[Event] = [
        number(one, place, (one.at or began) - began) for place, one in enumerate(drafts, 1)
    ]
    first = {one.native_id: one.seq for one in reversed(events)}
    for one in again:
        mirror = replace(one, kind=Kind.SEEN_AGAIN, data={"of": first[one.native_id]})
        events.append(number(mirror, len(events) + 1, None))
    return History(events)


def test_it_finds_a_clean_early_end_that_is_told_as_success() -> None:
    history = replayed(DATA / "0.19.1-sse-cut")
    found = judge(history)
    assert found.diagnosis == "truncated_success"
    child = next(row for row in agent_rows(history) if row["parent"])
    assert child["terminal"] == {"stdout": "completed", "session": "completed"}
    assert child["told"] is not None and child["told"]["status"] == "completed"
    assert (child["role"], child["name"], child["runs"]) == ("worker", "lifeline-1", 1)
    labels = {one.law: one.label for one in found.broken}
    assert labels == {
        "L2": "truncated_success", "L3": "cut_stream_false_completion", "L16": "failed_untold",
    }  # fmt: skip
    assert DRIVER.runtime(history, None).version == "0.19.1"  # type: ignore[arg-type]


def test_it_takes_the_streams_word_for_a_parent_that_waits() -> None:
    history = replayed(DATA / "0.19.1-sse-cut")
    mine = [one for one in history.of(Kind.STATUS) if one.agent == history.root]
    assert [one.get("raw") for one in mine] == ["running", "waiting", "running", "idle"]
    assert {one.source for one in mine} == {"stdout"}


def test_it_finds_a_broken_connection_reported_with_its_error() -> None:
    history = replayed(DATA / "0.19.1-chunk-cut")
    found = judge(history)
    assert (found.diagnosis, found.broken) == ("failed_and_reported", ())
    (end, stored) = history.children[0].runs[0].ends
    assert (end.source, end.get("status"), stored.get("status")) == ("stdout", "failed", "failed")
    poll = [one for one in history.of(Kind.NOTICE_DELIVERED) if one.get("form") == "poll"]
    assert [one.get("error_passed") for one in poll] == [True]
    queued = history.of(Kind.NOTICE_QUEUED)
    assert [(one.agent, one.get("raw")) for one in queued] == [(history.root, "failed")]


def test_it_finds_a_result_that_is_lost_when_the_runner_dies_before_it_is_read() -> None:
    history = replayed(DATA / "0.12.0-restart-unread")
    labels = {one.law: one.label for one in judge(history).broken}
    assert labels["L3"] == "result_dropped"
    (wake, poll) = history.of(Kind.NOTICE_DELIVERED)
    assert (wake.get("form"), poll.get("form"), poll.get("has_result")) == ("wake", "poll", False)
    assert [one.get("status") for one in history.of(Kind.PART)].count("killed") == 1


def test_it_finds_a_result_that_outlives_the_runner_kept_and_the_calls_forgotten() -> None:
    history = replayed(DATA / "0.19.1-restart-unread")
    found = judge(history)
    (lost,) = found.broken
    assert (lost.law, lost.label, lost.agent) == ("L8", "history_lost", history.root)
    assert dict(lost.figures) == {"lost": 2, "stored": 5}
    seqs = {one.seq for one in lost.evidence}
    cited = {(one.kind, one.get("call")) for one in history.events if one.seq in seqs}
    assert {(Kind.TOOL_STARTED, "call_r1_0"), (Kind.TOOL_ENDED, "call_r1_0")} < cited
    assert [one.verdict for one in found.findings if one.law == "L8"] == ["holds", "broken"]
    assert found.diagnosis == "resume_lost_outcome"


CALLS = ["call call_r1_0", "output call_r1_0"]


@pytest.mark.parametrize(
    ("bend", "labels"),
    [
        (lambda words: [words[0], *CALLS, *words[1:]], []),
        (lambda words: [words[0], words[0], *CALLS, *words[1:]], ["history_doubled"]),
        (lambda words: [words[0], *CALLS, CALLS[0], *words[1:]], ["history_doubled"]),
        (lambda words: [*CALLS, *words[1:]], ["history_lost"]),
        (lambda words: [words[0], *CALLS, *words[2:]], ["history_lost"]),
    ],
    ids=["whole", "the task twice", "a call twice", "without the task", "without its answer"],
)
def test_it_sees_each_bend_of_what_the_restarted_harness_is_asked(
    bend: Callable[[list[str]], list[str]], labels: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(DATA / "0.19.1-restart-unread", folder)
    journal = folder / "provider.jsonl"
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    for record in records:
        if record.get("request") == "r4" and "conversation" in record:
            record["conversation"] = bend(record["conversation"])
    journal.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert [one.label for one in judge(replayed(folder)).broken if one.law == "L8"] == labels


@pytest.mark.parametrize(("word", "errors"), [("completed", []), ("failed", ["gone"])])
def test_it_takes_a_lost_runner_for_no_error_of_a_child_that_had_ended_well(
    word: str, errors: list[str]
) -> None:
    drafts = fed(
        *(
            event(
                "session.child_session.updated",
                child_session_id=CHILD,
                child={"id": CHILD, "current_task_status": each},
            )
            for each in ("in_progress", word)
        ),
        event("session.status", CHILD, status="failed", error={"code": "gone", "message": "…"}),
    )
    assert [one.data["code"] for one in drafts if one.kind is Kind.ERROR] == errors


@pytest.mark.parametrize(("took", "slow"), [(30.7, True), (4.0, False)])
def test_it_takes_a_binding_that_gave_its_harness_up_for_the_hosts_trouble(
    took: float, slow: bool
) -> None:
    request = {"request": "PATCH /v1/sessions/root0000"}
    drafts = fed(
        {"kind": "client/plan", "setup": "whole"},
        {"t": 5.0, "kind": "client/asked", **request},
        {"t": 5.0 + took, "kind": "client/answered", "status": 200, **request},
        event("response.in_progress", response={"id": "r1"}),
    )
    history = History([number(one, place, place) for place, one in enumerate(drafts, 1)])
    assert ("too slow" in DRIVER.runtime(history, None).problem) is slow  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("took", "output", "slow"),
    [(31.0, "Error: …", True), (31.0, '{"conversation_id": "child000"}', False),
     (2.0, "Error: …", False)],
)  # fmt: skip
def test_it_takes_a_send_that_was_given_up_for_the_hosts_trouble(
    took: float, output: str, slow: bool
) -> None:
    call = {"type": "function_call", "name": "sys_session_send", "call_id": "c1", "arguments": "{}"}
    back = {"type": "function_call_output", "call_id": "c1", "output": output}
    drafts = fed(
        {"kind": "client/plan", "setup": "whole"},
        event("response.output_item.done", item=call),
        event("response.output_item.done", item=back),
    )
    times = {Kind.SPAWN_ANSWERED: took}
    history = History(
        [number(one, place, times.get(one.kind, 0.0)) for place, one in enumerate(drafts, 1)]
    )
    assert ("too slow" in DRIVER.runtime(history, None).problem) is slow  # type: ignore[arg-type]


@pytest.mark.parametrize(("more", "kind"), [(0, Kind.NOTICE_QUEUED), (1, Kind.NOTICE_DELIVERED)])
def test_it_takes_a_stored_wake_that_nobody_took_up_for_one_that_waits(
    more: int, kind: Kind
) -> None:
    wake = "[System: sub-agent worker/a finished (completed) — 1 result waiting in inbox.]"
    items = [
        {"id": "i1", "type": "message", "role": "user", "content": [{"text": wake}]},
        {"id": "i2", "type": "message", "role": "assistant", "content": [{"text": "Done."}]},
    ]
    stored = {
        "session": {"id": "root0000", "status": "idle", "runner_id": "r", "agent_id": "a"},
        "items": {"object": "list", "data": items[: 1 + more]},
        "children": {"data": [{"id": CHILD, "title": "worker:a"}]},
    }
    reader = named("omnigent-export").reader("session-root0000.json")
    drafts = [*reader.feed(json.dumps(stored).encode(), 1, 0), *reader.end()]
    notices = [one for one in drafts if one.kind.value.startswith("notice.")]
    assert [(one.kind, one.data["child"]) for one in notices] == [(kind, CHILD)]


@pytest.mark.parametrize(("word", "gave_up"), [("running", True), ("idle", False)])
def test_it_gives_up_a_parent_that_goes_on_running_and_proves_nothing_by_it(
    word: str, gave_up: bool
) -> None:
    drafts = fed(
        event("response.in_progress", response={"id": "r1"}),
        {"kind": "client/settled", "status": word, "missed": False},
    )
    history = History([number(one, place, place) for place, one in enumerate(drafts, 1)])
    assert (history.cut_short is not None) is gave_up
    assert (judge(history).diagnosis == "unknown") is gave_up


def test_it_finds_a_parent_that_nobody_wakes_after_the_runner_died() -> None:
    history = replayed(DATA / "0.12.0-restart-running")
    labels = {one.law: one.label for one in judge(history).broken}
    assert labels["L3"] == "notice_lost"
    (run,) = history.runs
    assert [(end.source, end.get("status")) for end in run.ends] == [
        ("stdout", "completed"), ("session", "completed"),
    ]  # fmt: skip
    waits = [one.get("raw") for one in history.of(Kind.STATUS) if one.agent == history.root]
    assert waits[-1] == "waiting"
