"""Changes of a timeline, and the one that is kept beside an ended run."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.pictures import change
from dashboard.tests import factory
from dashboard.tests.live.test_sockets import changed
from runs import pictures, start, store, verdict
from runs.core.timeline import timeline
from runs.models import Run

numbers = st.lists(st.integers(0, 3), max_size=5)
lanes = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from("abcd"), "bars": numbers, "marks": numbers, "gaps": numbers}
    ),
    max_size=4,
    unique_by=lambda lane: lane["id"],
)
timelines = st.fixed_dictionaries(
    {"duration": st.integers(0, 9), "ended": st.booleans(), "lanes": lanes, "samples": numbers}
)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # machines that test are busy
@given(timelines, timelines)
def test_it_turns_any_timeline_into_any_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert changed(old, json.loads(json.dumps(change(old, new)))) == new


def test_it_sends_only_what_came() -> None:
    bars = [{"start": float(at)} for at in range(1000)]
    quiet = {"id": "q", "bars": bars, "marks": [], "gaps": []}
    old = {"lanes": [quiet, {"id": "a", "bars": bars[:-1], "marks": [], "gaps": []}]}
    new = {"lanes": [quiet, {"id": "a", "bars": bars, "marks": [], "gaps": []}]}
    (lane,) = change(old, new)["lanes"]
    assert lane["bars"] == [999, [{"start": 999.0}]]


def test_it_grows_to_the_same_timeline_as_the_whole_history(cut: Run) -> None:
    growing = pictures.Growing(cut.pk)
    assert growing.draw(cut) == timeline(store.history(cut), pictures.findings(cut))
    assert growing.draw(cut) == timeline(store.history(cut), pictures.findings(cut))


def test_it_draws_an_open_run_with_open_ends(going: Run) -> None:
    drawn = json.loads(pictures.text_of(going))
    child = next(lane for lane in drawn["lanes"] if lane["agent"] == factory.CHILD)
    assert not drawn["ended"]
    assert child["bars"][0]["end"] is None
    assert not pictures.path_of(going).exists()


def test_it_keeps_the_timeline_of_an_ended_run(cut: Run) -> None:
    text = pictures.text_of(cut)
    path = pictures.path_of(cut)
    key, _, _ = path.read_text().partition("\n")
    path.write_text(f'{key}\n{{"kept":true}}')
    assert pictures.text_of(cut) == '{"kept":true}'
    cut.findings.filter(law="L6").delete()
    assert json.loads(pictures.text_of(cut))["lanes"][-1]["marks"] != json.loads(text)["lanes"][-1]


def test_it_draws_again_when_the_kept_one_is_damaged(cut: Run) -> None:
    text = pictures.text_of(cut)
    pictures.path_of(cut).write_bytes(b"\xff\xfe")
    assert pictures.text_of(cut) == text


def test_it_keeps_what_the_judge_has_at_hand(cut: Run) -> None:
    pictures.keep(cut, store.history(cut), pictures.findings(cut))
    key, _, text = pictures.path_of(cut).read_text().partition("\n")
    assert key
    assert text == pictures.text_of(cut)


def test_it_forgets_a_deleted_run(cut: Run) -> None:
    pictures.text_of(cut)
    start.delete(cut)
    assert not pictures.path_of(cut).exists()


def test_it_is_drawn_when_a_run_closes(going: Run) -> None:
    verdict.close(going, "ended", {})
    assert pictures.path_of(going).is_file()
