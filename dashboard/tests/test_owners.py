"""The owner's panel on the page of a client run."""

from __future__ import annotations

import pytest
from django.test import Client as Browser

from dashboard.owners import panel
from dashboard.tests.factory import Writer
from runs import catalogue, report, store
from runs.models import Event, Run
from runs.tests.continuation.scripted import SECOND, WAITING, child_ends, play

pytestmark = pytest.mark.django_db


def _run(breaks: str = "") -> Run:
    """A client run whose owner waited for its child, as the driver keeps it."""
    run = Run.objects.create(
        agent="client", version="1.0.0", scenario="client-rule", status=Run.Status.ENDED,
        snapshot=catalogue.scenarios()["client-rule"].as_dict(),
        options={"play": "cl-02", "breaks": "none"},
    )  # fmt: skip
    writer = Writer(run)
    for place, row in enumerate(play([*WAITING, child_ends("c1"), *SECOND], breaks=breaks).rows):
        writer.add(place * 0.1, "run.phase", "owner.jsonl", phase="owner", detail=row)
    writer.save()
    return run


def test_it_shows_the_continuation_and_the_turn_that_it_was_bound_to() -> None:
    shown = panel(_run())
    assert shown is not None
    (attempt,) = shown.attempts
    assert (attempt["bytes_sent"], attempt["answer"], attempt["bound"]) == (True, "–", "t2")
    assert (shown.word, [turn["id"] for turn in shown.turns]) == ("waited ok", ["t1", "t2"])


def test_it_says_dropped_child_of_an_owner_that_does_not_wait() -> None:
    shown = panel(_run(breaks="CL-1"))
    assert shown is not None
    assert shown.word == "dropped child"


@pytest.mark.parametrize(("breaks", "word"), [("", "CL-2 kept"), ("CL-2", "CL-2 broken")])
def test_it_says_whether_the_rule_of_the_play_was_kept(
    client: Browser, breaks: str, word: str
) -> None:
    run = _run(breaks=breaks)
    page = client.get(f"/runs/{run.permalink}/", headers={"host": "127.0.0.1"}).content.decode()
    assert word in page
    shown = panel(run)
    assert shown is not None
    assert [fact for fact, _, _ in shown.wrong] == (["text", "continuations"] if breaks else [])
    found = report.owner(run, store.history(run))
    assert found is not None
    assert (found["rule"], found["kept"]) == ("CL-2", not breaks)


def test_it_says_nothing_of_the_rule_while_the_owner_waits() -> None:
    run = _run()
    Event.objects.filter(run=run, data__detail__what__in=["finalize", "snapshot"]).delete()
    run.status = Run.Status.RUNNING
    shown = panel(run)
    assert shown is not None
    assert (shown.rule, shown.wrong) == (("wait", "CL-2 still open"), [])


def test_it_stands_on_the_page_of_the_run(client: Browser) -> None:
    run = _run()
    page = client.get(f"/runs/{run.permalink}/", headers={"host": "127.0.0.1"}).content.decode()
    assert "Owner of the parent's turn" in page
    assert "waited ok" in page


def test_it_is_absent_where_no_owner_of_ours_played() -> None:
    assert panel(Run(agent="copilot", options={})) is None


def test_its_place_is_there_before_the_owner_is_so_that_a_page_can_follow(client: Browser) -> None:
    run = _run()
    address = f"/runs/{run.permalink}/"
    waits = '<section class="card" id="owner" data-part="owner" aria-labelledby="owner-title">'
    events = list(Event.objects.filter(run=run))
    Event.objects.filter(run=run).delete()
    page = client.get(address, headers={"host": "127.0.0.1"}).content.decode()
    assert f"{waits}</section>" in page
    Event.objects.bulk_create(events)
    parts = client.get(f"{address}parts/", headers={"host": "127.0.0.1"}).content.decode()
    assert '<section data-part="owner"><h2' in parts.replace(">\n<h2", "><h2")
