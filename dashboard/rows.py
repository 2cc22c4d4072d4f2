"""The list of runs: one keyset page, each row as one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from dashboard import filters, transcripts
from dashboard.pulse import Pulse, pulse
from runs import start, words
from runs.models import Opinion, Run

PAGE = 50
_COLUMNS = [
    *("permalink", "kind", "status", "phase", "agent", "version", "scenario", "outcome"),
    *("diagnosis", "broken", "keep", "tags", "created_at", "started_at", "ended_at"),
    *("cancel_at", "summary", "error", "event_count", "snapshot"),
]


@dataclass(slots=True)
class Row:
    """A run as the list shows it."""

    run: Run
    pulse: Pulse
    attempts: str
    laws: list[str]
    opinions: dict[str, str] = field(default_factory=dict)
    """By law: what a person said of its breach."""

    @property
    def subject(self) -> str:
        """The scenario; of an import without one the files that it was read from."""
        files = self.run.summary.get("intake", {}).get("formats", [])
        if self.run.scenario or not files:
            return self.run.scenario or "no scenario"
        first, more = files[0]["path"], len(files) - 1
        return f"{first} and {more} more" if more else first


@dataclass(slots=True)
class Page:
    """Rows, newest first, and how to get the older ones."""

    rows: list[Row]
    older: str = ""
    """The address of the next page, "" on the last one."""
    newest: bool = True
    searched: str = ""
    """How far a search in transcripts got, in words."""
    workers: int = 0
    problems: list[str] = field(default_factory=list)


def select(parsed: filters.Filter) -> QuerySet[Run]:
    """The runs that match, newest first, without the columns that no list shows."""
    runs = Run.objects.order_by("-id")
    if any(term.key in ("", "tag") for term in parsed.terms):
        runs = runs.annotate(tags_text=Cast("tags", TextField()))
    return runs.filter(parsed.condition)


def page(query: str, before: int | None = None) -> Page:
    """One page of the list. `before` is the id above which all was shown."""
    parsed = filters.parse(query)
    runs = select(parsed)
    if before is not None:
        runs = runs.filter(id__lt=before)
    searched = ""
    if parsed.text:
        found, last, searched = transcripts.search(runs, parsed.text, PAGE + 1)
    else:
        found, last = list(runs.only(*_COLUMNS)[: PAGE + 1]), None
    more = len(found) > PAGE
    found = found[:PAGE]
    cursor = found[-1].pk if more else last
    workers = len(start.workers())
    return Page(
        rows=rows(found, workers),
        older=f"?{urlencode({'q': query, 'before': cursor})}" if cursor else "",
        newest=before is None,
        searched=searched,
        workers=workers,
        problems=parsed.problems,
    )


def rows(runs: Iterable[Run], workers: int) -> list[Row]:
    """Each run with its sentence."""
    runs = list(runs)
    said: dict[int, dict[str, str]] = {}
    words_said = Opinion.objects.filter(run__in=[run.pk for run in runs])
    for pk, law, word in words_said.values_list("run_id", "law", "word"):
        said.setdefault(pk, {})[law] = word
    return [
        Row(
            run,
            pulse(run, workers=workers),
            attempts_words(run.summary),
            run.broken.split(),
            said.get(run.pk, {}),
        )
        for run in runs
    ]


def attempts_words(summary: dict[str, Any]) -> str:
    """`6 attempts in 5.3 s`: of the caller that tried most; "" where nothing was retried."""
    calls: dict[tuple[str, Any], list[dict[str, Any]]] = {}
    for attempt in summary.get("attempts") or []:
        calls.setdefault((attempt.get("caller", ""), attempt.get("call")), []).append(attempt)
    if not calls:
        return ""
    tries = max(calls.values(), key=len)
    started = tries[0].get("start") or 0.0
    ended = tries[-1].get("end") or tries[-1].get("start") or started
    if len(tries) == 1:
        return words.plural(sum(map(len, calls.values())), "call")
    return f"{words.plural(len(tries), 'attempt')} in {words.seconds(ended - started)}"
