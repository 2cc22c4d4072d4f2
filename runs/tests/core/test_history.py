"""The history answers who ran, when, under whom, and with which model calls."""

from __future__ import annotations

from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import evidence
from runs.tests.core.build import Told


def test_it_knows_parents_depth_and_the_agent_at_the_top() -> None:
    history = Told().begin().spawn("A").spawn("B", parent="A").history()
    assert history.root == "root"
    assert history.agents["A"].parent == "root"
    assert (history.agents["A"].depth, history.agents["B"].depth) == (1, 2)
    assert history.ancestors("B") == ["A", "root"]
    assert [agent.id for agent in history.descendants("root")] == ["A", "B"]


def test_it_finds_a_top_agent_that_is_not_called_root() -> None:
    told = Told().add(Kind.SESSION_STARTED, "th-root").spawn("th-c", parent="th-root")
    assert told.history().root == "th-root"


def test_it_names_a_parent_that_only_its_child_names() -> None:
    history = Told().add(Kind.AGENT_STARTED, "c", parent="p").history()
    assert history.root == "p"
    assert history.parent_of("c") == "p"


def test_it_gives_an_agent_a_second_run_after_a_follow_up() -> None:
    told = Told().begin().spawn("A").at(1).ends("A").at(2).add(Kind.USER_MESSAGE, "A")
    runs = told.at(3).ends("A").history().agents["A"].runs
    assert [len(run.ends) for run in runs] == [1, 1]


def test_it_keeps_two_terminals_of_one_run_in_one_run() -> None:
    runs = Told().begin().spawn("A").ends("A").ends("A").history().agents["A"].runs
    assert [len(run.ends) for run in runs] == [2]


def test_it_tells_terminals_of_two_views_apart() -> None:
    told = Told("stdout", "stdout.jsonl").begin().spawn("A").view("session", "events.jsonl")
    run = told.ends("A", "failed").history().agents["A"].runs[0]
    assert (run.terminal("stdout"), run.terminal("session")) == ("started-only", "failed")
    assert run.terminal("hooks") == "none"


def test_it_folds_a_mirrored_sighting_into_its_event() -> None:
    first = Event(seq=1, kind=Kind.AGENT_STARTED, source="stdout", file="o", line=3, agent="A")
    again = Event(seq=2, kind=Kind.SEEN_AGAIN, source="session", file="s", line=9, data={"of": 1})
    (event,) = History([first, again]).events
    assert [place.ref for place in event.sightings] == ["o:3", "s:9"]
    assert [one.ref for one in evidence(event, None)] == ["o:3", "s:9"]


def test_it_says_which_children_are_open_at_a_moment() -> None:
    told = Told().begin().spawn("A").spawn("B").at(5).ends("A").at(6).add(Kind.STATUS)
    history = told.history()
    assert [run.agent for run in history.open_runs("root", history.events[-1])] == ["B"]


def test_it_orders_untimed_lines_by_their_neighbours_and_the_exit_last() -> None:
    exit_first = Event(seq=1, kind=Kind.PROCESS_EXITED, source="exit", file="exit.json", line=1)
    line = Event(seq=2, kind=Kind.TURN_STARTED, source="stdout", file="o", line=1, t=4.0)
    later = Event(seq=3, kind=Kind.TURN_ENDED, source="stdout", file="o", line=2)
    history = History([exit_first, line, later])
    assert [event.seq for event in history.events] == [2, 3, 1]
    assert history.time(later) == 4.0


def test_it_pairs_attempts_with_gaps_from_end_to_start() -> None:
    history = Told().tries("child:1", [1.0, 2.0, 3.5]).history()
    assert [attempt.n for attempt in history.attempts] == [1, 2, 3]
    assert [attempt.gap_before for attempt in history.attempts] == [None, 0.98, 1.48]
    assert len(history.calls) == 1


def test_it_numbers_calls_of_a_log_that_does_not() -> None:
    told = Told()
    for at, complete in ((0, True), (1, False), (2, False), (3, True), (4, True)):
        told.at(at).request("A", agent="A", complete=complete, closed="cut")
    assert [len(call.attempts) for call in told.history().calls] == [1, 3, 1]


def test_it_matches_callers_with_agents_in_order_of_start() -> None:
    told = Told().begin().spawn("A").at(1).spawn("B").at(2).request("child:1")
    told.at(3).request("child:2").request("parent").request("utility")
    history = told.history()
    assert history.callers == {"child:1": "A", "child:2": "B", "parent": "root"}


def test_it_gives_no_requests_to_a_child_that_never_ran() -> None:
    told = Told().begin().spawn("dead").at(1).spawn("B").at(2).request("child:1")
    history = told.at(3).says("B").ends("B").history()
    assert history.callers == {"child:1": "B"}


def test_it_prefers_an_id_in_a_header_and_the_name_of_the_task() -> None:
    told = Told().begin().spawn("A", task="1").spawn("B", task="2").at(1)
    told.request("child:1", headers={"x-agent-id": "B", "x-parent-id": "A"})
    assert told.history().callers == {"child:1": "B"}
    told = Told().begin().spawn("A", task="1").spawn("B", task="2").at(1)
    told.request("child:1", task="2").request("child:2", task="1")
    assert told.history().callers == {"child:1": "B", "child:2": "A"}


def test_it_takes_the_name_of_a_task_from_whichever_view_has_it() -> None:
    told = Told("rpc", "rpc.jsonl").begin()
    for name in ("A", "B"):
        told.spawn(name)
    told.view("session", "rows.jsonl")
    for name, number in (("A", "2"), ("B", "1")):
        told.add(Kind.SPAWN_REQUESTED, call=f"call-{name}", task=number)
    told.says("A").says("B")
    told.at(1).request("child:1", task="1").request("child:2", task="2")
    history = told.history()
    assert history.callers == {"child:1": "B", "child:2": "A"}
    assert history.callers_certain


def test_word_that_a_follow_up_overtakes_is_about_the_run_before() -> None:
    told = Told().begin().spawn("A").at(5).says("A").ends("A").at(6)
    told.add(Kind.AGENT_RESUMED, "A", by="root").at(7).tells("A").at(9).ends("A").tells("A")
    runs = told.shuts(10).history().agents["A"].runs
    assert [len(run.notices) for run in runs] == [1, 1]


def test_word_names_its_run_whichever_view_of_the_start_came_first() -> None:
    told = Told("session", "rows.jsonl").begin().spawn("A").view("stdout", "stdout.jsonl")
    told.add(Kind.AGENT_STARTED, "A", parent="root", run="r1").at(5).ends("A").at(6)
    told.view("session", "rows.jsonl").add(Kind.AGENT_RESUMED, "A").view("stdout", "stdout.jsonl")
    told.add(Kind.AGENT_RESUMED, "A", run="r2").at(7).ends("A").at(8)
    told.add(Kind.NOTICE_DELIVERED, child="A", status="completed", form="notification", run="r1")
    told.add(Kind.NOTICE_DELIVERED, child="A", status="completed", form="notification", run="r2")
    runs = told.shuts(9).history().agents["A"].runs
    assert [[note.get("run") for note in run.notices] for run in runs] == [["r1"], ["r2"]]


def test_a_notice_whose_word_is_not_seen_counts_only_alone() -> None:
    told = Told().begin().spawn("A").at(5).ends("A").at(6).tells("A", "unknown", form="wake")
    (run,) = told.shuts(9).history().agents["A"].runs
    assert run.told is not None and run.told.get("status") == "unknown"
    (run,) = told.at(7).tells("A", "cancelled").shuts(9).history().agents["A"].runs
    assert run.told is not None and run.told.get("status") == "cancelled"
