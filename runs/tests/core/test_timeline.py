"""The timeline is lanes in order, with gaps claimed and measured, and stays small."""

from __future__ import annotations

from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Evidence, Finding, Verdict
from runs.core.timeline import timeline
from runs.tests.core.build import Told


def _run() -> Told:
    told = Told().add(Kind.PROCESS_STARTED, "", pid=1).begin().add(Kind.STATUS, status="running")
    told.at(0.5).spawn("A").at(0.6).tool("A", lasting=0.1)
    told.tries("child:1", [1.0, 2.0]).at(1.1).add(Kind.MODEL_RETRY, "A", attempt=1, delay=0.9)
    told.at(3).ends("A", "failed").tells("A", "failed").at(4).add(Kind.STATUS, status="idle")
    return told.shuts(5).exits(0)


def test_it_puts_children_under_their_parent_and_callers_under_their_agent() -> None:
    lanes = timeline(_run().history())["lanes"]
    assert [(lane["id"], lane["depth"]) for lane in lanes] == [
        ("process", 0),
        ("status", 0),
        ("agent:root", 0),
        ("agent:A", 1),
        ("caller:child:1", 2),
    ]
    assert lanes[3]["parent"] == "agent:root"


def test_it_calls_the_one_at_the_top_root_where_it_has_an_id_and_no_name() -> None:
    told = Told().add(Kind.SESSION_STARTED, "4bd9c2", version="1.0.0").spawn("A", "4bd9c2")
    told.spawn("B", "4bd9c2", role="worker").at(3).ends("A").ends("B")
    lanes = timeline(told.history())["lanes"]
    assert [(lane["id"], lane["label"]) for lane in lanes if lane["kind"] == "agent"] == [
        ("agent:4bd9c2", "root"), ("agent:A", "A"), ("agent:B", "B"),
    ]  # fmt: skip


def test_it_gives_each_part_of_the_product_a_lane_with_its_lives() -> None:
    told = _run()
    for at, status in ((1, "started"), (2, "online"), (3, "killed"), (4, "started")):
        told.at(at).add(Kind.PART, "", part="runner", status=status, pid=at)
    lane = next(lane for lane in timeline(told.history())["lanes"] if lane["kind"] == "part")
    assert (lane["id"], lane["label"]) == ("part:runner", "runner")
    lives = [(bar["start"], bar["end"], bar["label"]) for bar in lane["bars"]]
    assert lives == [(1, 3, "killed"), (4, None, "running")]
    assert [(mark["label"], mark["tone"]) for mark in lane["marks"]] == [
        ("online", "ok"), ("killed", "bad"),
    ]  # fmt: skip


def test_it_shows_a_gap_as_claimed_and_as_measured() -> None:
    lane = timeline(_run().history())["lanes"][-1]
    (gap,) = lane["gaps"]
    assert (round(gap["end"] - gap["start"], 2), gap["claimed"]) == (0.98, 0.9)
    assert [bar["tone"] for bar in lane["bars"]] == ["bad", "bad"]


def test_it_leaves_a_run_that_never_ended_open() -> None:
    history = Told().begin().spawn("A").history(complete=False)
    lane = next(one for one in timeline(history)["lanes"] if one["id"] == "agent:A")
    assert lane["bars"][0]["end"] is None
    assert timeline(history)["ended"] is False


def test_it_marks_broken_findings_where_their_evidence_is() -> None:
    history = _run().history()
    event = history.of(Kind.AGENT_ENDED)[0]
    broken = Finding(
        law="L2",
        verdict=Verdict.BROKEN,
        agent="A",
        reason="",
        evidence=(Evidence(event.seq, event.ref),),
    )
    lane = timeline(history, [broken])["lanes"][-1]
    assert [(mark["t"], mark["label"]) for mark in lane["marks"]] == [(3, "L2")]


def test_it_merges_what_is_too_much_for_one_lane_and_says_so() -> None:
    told = Told().begin().spawn("A")
    for step in range(5000):
        told.at(1 + step / 10).tool("A", call=f"t{step}", lasting=0.01).says("A")
    for step in range(2000):
        told.at(step / 4).add(Kind.PROCESS_SAMPLE, "", rss=step, cpu=1.0)
    drawn = timeline(told.history(), limit=100)
    lane = next(one for one in drawn["lanes"] if one["id"] == "agent:A")
    assert len(lane["bars"]) <= 102 and len(lane["marks"]) <= 100
    assert lane["of"] == 10001 and lane["shown"] < 210
    assert len(drawn["samples"]) <= 600
    assert max(row[1] for row in drawn["samples"]) == 1999.0


def test_it_bounds_every_lane_of_a_long_history() -> None:
    events = [
        Event(
            seq=number,
            kind=(Kind.TOOL_STARTED, Kind.TOOL_ENDED, Kind.DELTA, Kind.AGENT_MESSAGE)[number % 4],
            source="session",
            file="events.jsonl",
            line=number,
            t=number / 100,
            agent=f"a{number % 7}",
            data={"call": f"c{number // 4}", "text_length": 3},
        )
        for number in range(20_000)
    ]
    drawn = timeline(History(events))
    assert sum(len(lane["marks"]) for lane in drawn["lanes"]) <= 7 * 1500
