"""The filter language of the list."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from dashboard import filters, rows
from dashboard.tests import factory
from runs import store
from runs.models import Run, Sweep


def _found(query: str) -> set[str]:
    return {row.run.version for row in rows.page(query).rows}


@pytest.fixture
def three(db: None) -> None:
    """A: copilot, broken L2 L3, tagged. B: codex, two days old. C: running, with notes."""
    now = timezone.now()
    make = Run.objects.create
    sweep = Sweep.objects.create(permalink="of-a")
    a = make(version="A", agent="copilot", scenario="sse-cut", broken=" L2 L3 ", tags=["flaky"])
    Run.objects.filter(pk=a.pk).update(sweep=sweep)
    make(
        version="B",
        agent="codex",
        scenario="stall",
        outcome="completed",
        diagnosis="healthy",
        created_at=now - timedelta(days=3),
        status="ended",
    )
    make(version="C", agent="copilot", status="running", notes="Look at the GAPS", broken=" L13 ")


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "ABC"),
        ("agent:copilot", "AC"),
        ("-agent:copilot", "B"),
        ("agent:copilot@A", "A"),
        ("agent:copilot,codex", "ABC"),
        ("law:L3", "A"),
        ("law:L1", ""),
        ("-law:L3", "BC"),
        ("law:L2 law:L3", "A"),
        ("outcome:completed", "B"),
        ("diagnosis:healthy", "B"),
        ("after:2d", "AC"),
        ("before:2d", "B"),
        ("status:running", "C"),
        ("is:open", "AC"),
        ("is:broken -law:L13", "A"),
        ("tag:flaky", "A"),
        ("tag:fla", ""),
        ("sweep:of-a", "A"),
        ("-sweep:of-a", "BC"),
        ("sweep:other", ""),
        ("gaps", "C"),
        ('"at the gaps"', "C"),
        ("stall", "B"),
        ("-stall", "AC"),
        ("agent:copilot after:2d -is:broken", ""),
    ],
)
def test_it_finds(query: str, expected: str) -> None:
    assert _found(query) == set(expected)


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("query", "says"),
    [("colour:red", "no filter"), ("law:three", "law:L3"), ("after:soon", "2d"), ("is:x", "is:")],
)
def test_it_says_what_it_does_not_understand_and_shows_the_rest(query: str, says: str) -> None:
    page = rows.page(f"{query} agent:codex")
    assert [row.run.version for row in page.rows] == ["B"]
    assert len(page.problems) == 1 and says in page.problems[0]


def test_a_chip_taken_away_leaves_the_other_terms_as_they_were() -> None:
    parsed = filters.parse('agent:copilot -law:L3 "two words" is:kept')
    assert str(parsed) == 'agent:copilot -law:L3 "two words" is:kept'
    assert parsed.without(parsed.terms[1]) == 'agent:copilot "two words" is:kept'


def test_plain_words_can_be_moved_into_the_transcripts() -> None:
    moved = filters.parse('agent:copilot "two words" -x').in_transcripts
    assert moved == 'agent:copilot text:"two words" -text:x'
    assert filters.parse("agent:copilot").in_transcripts == ""


@pytest.mark.parametrize(
    "query", ["%", "_", "' OR 1=1 --", 'tag:"', "law:", "\\", "a" * 500, "-", ":"]
)
@pytest.mark.django_db
def test_no_text_breaks_it(query: str, client: Client) -> None:
    assert client.get("/", {"q": query}).status_code == 200


@pytest.mark.django_db
def test_it_searches_in_the_transcripts_themselves() -> None:
    factory.cut_run(version="with")
    other = factory.cut_run(version="without")
    needle = store.folder(Run.objects.get(version="with")) / "sources" / "process.log"
    needle.write_bytes(b"x" * (1 << 20) + b" Needle in the hay")
    assert _found("text:needle") == {"with"}
    assert _found('text:"in the hay"') == {"with"}
    assert _found("-text:needle") == {other.version}
    assert rows.page("text:needle").searched == "searched all 2 runs"


@pytest.mark.django_db
def test_a_search_that_takes_too_long_says_how_far_it_got_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dashboard.transcripts.BUDGET", -1.0)
    for n in range(3):
        Run.objects.create(version=str(n), agent="copilot")
    page = rows.page("text:needle")
    assert page.searched == "searched 1 run, there are older ones"
    assert f"before={Run.objects.get(version='2').pk}" in page.older


@pytest.mark.django_db
def test_pages_follow_each_other_without_holes_or_repeats() -> None:
    Run.objects.bulk_create(factory.many_runs(120))
    seen: list[int] = []
    before = None
    while True:
        page = rows.page("-law:L1", before)
        seen += [row.run.pk for row in page.rows]
        if not page.older:
            break
        before = seen[-1]
    expected = list(Run.objects.order_by("-id").values_list("pk", flat=True))
    assert seen == expected


@pytest.mark.django_db
def test_a_page_costs_the_same_few_queries_whatever_its_length(
    django_assert_max_num_queries: object,
) -> None:
    Run.objects.bulk_create(factory.many_runs(300))
    with django_assert_max_num_queries(3):  # type: ignore[operator]
        assert len(rows.page("").rows) == rows.PAGE


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", "law:L3", "outcome:completed after:2d"])
def test_a_page_is_read_along_the_key_and_never_sorted(query: str) -> None:
    plan = rows.select(filters.parse(query)).filter(id__lt=900_000)[: rows.PAGE].explain()
    if connection.vendor == "sqlite":  # others plan by statistics, which a test does not have
        assert "TEMP B-TREE" not in plan and "PRIMARY KEY" in plan, plan
    else:
        assert "Limit" in plan, plan
