"""Two runs beside each other: sentences, and one clock that meets at the spawn."""

from __future__ import annotations

from typing import Any

from runs.core import compare


def document(**changes: Any) -> dict[str, Any]:
    child = {
        "id": changes.pop("id", "a1"),
        "caller": "child:1",
        "parent": "root",
        "started": changes.pop("started", 1.0),
        "told": changes.pop("told", {"status": "idle", "times": 1}),
        "terminal": {"stdout": changes.pop("stdout", "completed"), "session": "completed"},
        "true_end": "failed",
    }
    root = {"id": "root", "caller": "parent", "parent": None, "terminal": {}, "true_end": "open"}
    gaps = changes.pop("gaps", [None, 1.0])
    attempts = [
        {"caller": "child:1", "call": 1, "n": n, "gap_before": gap, "fault": "sse-cut"}
        for n, gap in enumerate(gaps, 1)
    ]
    return {
        "outcome": "model-request-failed",
        "diagnosis": "cut_stream_false_completion",
        "exit_code": 1,
        "duration": 7.0,
        "agents": [root, child],
        "attempts": attempts,
        "retry": {"reported": {"retries": 1, "sleep": 1.0}},
        "findings": [{"law": "L2", "verdict": "broken", "agent": child["id"]}],
    } | changes


def test_it_finds_nothing_between_runs_that_differ_only_in_ids_and_noise() -> None:
    runs = [document(), document(id="b7", duration=7.4, gaps=[None, 1.06])]
    assert compare.differences(runs, "AB") == []


def test_a_view_that_says_nothing_is_as_one_that_is_not_there() -> None:
    other = document()
    other["agents"] = [
        {**row, "terminal": {**row["terminal"], "rpc": "none"}} for row in other["agents"]
    ]
    assert compare.differences([document(), other], "AB") == []


def test_it_says_what_differs_the_weightiest_first() -> None:
    other = document(
        diagnosis="failed_and_reported",
        exit_code=0,
        told=None,
        stdout="failed",
        gaps=[None, 1.0, 4.0],
        findings=[{"law": "L2", "verdict": "holds", "agent": "a1"}],
    )
    found = compare.differences([document(), document(), other], "ABC")
    groups = list(dict.fromkeys(one.group for one in found))
    assert groups == ["outcome", "notices", "terminals", "findings", "attempts", "gaps"]
    said = [one.sentence for one in found]
    assert "Exit code: 1 in A and B, 0 in C." in said
    assert "The parent was told about child:1: “idle” in A and B, nothing in C." in said
    assert "L2 for child:1: broken in A and B, holds in C." in said
    assert "Attempts of child:1: 2 in A and B, 3 in C." in said
    assert "Gap before attempt 3 of child:1, call 1: – in A and B, 4.00 s in C." in said


def lane(kind: str, name: str, start: float, seq: int, **more: Any) -> dict[str, Any]:
    bar = {"start": start, "end": None, "kind": "run", "label": "", "tone": "ok", "seq": seq}
    mark = {"t": start, "kind": "spawn", "label": "", "tone": "ok", "seq": seq}
    given = {"id": name, "label": name, "kind": kind, "parent": None, "depth": 0, "agent": name}
    return given | {"bars": [bar], "marks": [mark], "gaps": []} | more


def test_it_lays_lanes_of_all_runs_together_and_meets_at_the_spawn() -> None:
    one = {
        "duration": 5.0,
        "lanes": [
            lane("agent", "root", 0.0, 1),
            lane("agent", "x9", 1.0, 7, parent="root", depth=1),
        ],
    }
    two = {
        "duration": 9.0,
        "lanes": [
            lane("agent", "root", 0.0, 1),
            lane("agent", "y3", 3.0, 8, parent="root", depth=1),
        ],
    }
    drawn = compare.aligned([one, two], "AB", [1.0, 3.0])
    assert [row["label"] for row in drawn["lanes"]] == ["A root", "B root", "A x9", "B y3"]
    assert [row["bars"][0]["start"] for row in drawn["lanes"]] == [2.0, 0.0, 3.0, 3.0]
    assert drawn["spawn"] == 3.0 and drawn["duration"] == 9.0
    assert [row["bars"][0]["until"] for row in drawn["lanes"]] == [7.0, 9.0, 7.0, 9.0]
    assert drawn["lanes"][3]["parent"] == drawn["lanes"][1]["id"]
    assert drawn["lanes"][3]["marks"][0]["seq"] == compare.APART + 8


def test_it_begins_at_zero_where_a_run_has_no_spawn() -> None:
    line = {"duration": 2.0, "lanes": [lane("agent", "root", 0.5, 1)]}
    drawn = compare.aligned([line, line], "AB", [None, 1.5])
    assert [row["bars"][0]["start"] for row in drawn["lanes"]] == [0.5, 0.5]
    assert compare.spawn_of(document(started=None)) is None


def test_each_process_keeps_the_samples_of_its_run() -> None:
    one = {"duration": 2.0, "lanes": [lane("process", "", 0.0, 1)], "samples": [[0.5, 9.0, 1.0]]}
    two = {**one, "samples": [[0.5, 7.0, 1.0]]}
    drawn = compare.aligned([one, two], "AB", [1.0, 2.0])
    assert [row["samples"] for row in drawn["lanes"]] == [[[1.5, 9.0, 1.0]], [[0.5, 7.0, 1.0]]]
    assert drawn["samples"] == [[1.5, 9.0, 1.0], [0.5, 7.0, 1.0]]
