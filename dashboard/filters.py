"""The filter language of the list: ``agent:copilot -law:L3 outcome:completed after:2d words``.

`parse` turns the text into terms; each term is one chip and one database condition.
A comma means any of (``agent:copilot,codex``), a minus in front means not. Plain words
look in names, notes and tags; ``text:`` looks in the transcripts themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Q
from django.utils import timezone

_TOKEN = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"|(\S+))')
_AGE = re.compile(r"(\d{1,5})(min|h|d|w)")
_UNITS = {"min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
MAX_TERMS = 20
WORD_FIELDS = ("agent", "version", "scenario", "outcome", "diagnosis", "notes", "tags_text")


class FilterError(ValueError):
    """A term that is not understood; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a filter. `key` is "" for a plain word."""

    key: str
    value: str
    negated: bool = False
    problem: str = ""

    def __str__(self) -> str:
        value = f'"{self.value}"' if " " in self.value or not self.value else self.value
        return f"{'-' if self.negated else ''}{self.key + ':' if self.key else ''}{value}"

    @property
    def values(self) -> list[str]:
        """The alternatives that a comma separates."""
        return [part for part in self.value.split(",") if part] or [self.value]


def _field(name: str) -> Callable[[str], Q]:
    return lambda value: Q(**{name: value})


def _agent(value: str) -> Q:
    agent, _, version = value.partition("@")
    return Q(agent=agent, version=version) if version else Q(agent=agent)


def _law(value: str) -> Q:
    if not re.fullmatch(r"[Ll]\d{1,2}", value):
        raise FilterError(f"{value!r} is no law; write it as law:L3.")
    return Q(broken__contains=f" {value.upper()} ")


def _diagnosis(value: str) -> Q:
    return Q(diagnosis=value.replace("-", "_").replace(" ", "_"))


def _is(value: str) -> Q:
    known = {
        "open": Q(status__in=("queued", "running")),
        "kept": Q(keep=True),
        "import": Q(kind="import"),
        "broken": ~Q(broken="") & Q(broken__contains="L"),
        "noted": ~Q(notes=""),
    }
    if value not in known:
        raise FilterError(f"is: knows {', '.join(known)}; not {value!r}.")
    return known[value]


def moment(value: str) -> datetime:
    """``2d``, ``3h``, ``30min``, ``2w`` ago, or a date or time in UTC; FilterError otherwise."""
    age = _AGE.fullmatch(value)
    if age:
        return timezone.now() - timedelta(**{_UNITS[age[2]]: int(age[1])})
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        raise FilterError(f"{value!r} is no time; write 2d, 3h or 2026-11-29.") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


KEYS: dict[str, Callable[[str], Q]] = {
    "agent": _agent,
    "version": _field("version"),
    "scenario": _field("scenario"),
    "outcome": _field("outcome"),
    "diagnosis": _diagnosis,
    "law": _law,
    "status": _field("status"),
    "batch": _field("batch"),
    "sweep": _field("sweep__permalink"),
    "tag": lambda value: Q(tags_text__contains=f'"{value}"'),
    "is": _is,
    "after": lambda value: Q(created_at__gte=moment(value)),
    "before": lambda value: Q(created_at__lt=moment(value)),
}
HELP = {
    "agent": "agent:copilot or agent:copilot@1.0.81",
    "scenario": "scenario:sse-cut",
    "law": "law:L3, broken laws",
    "outcome": "outcome:completed",
    "diagnosis": "diagnosis:cut_stream_false_completion",
    "status": "status:running",
    "is": "is:open, is:kept, is:import, is:broken, is:noted",
    "tag": "tag:regression",
    "sweep": "sweep:PERMALINK, the runs of a sweep or a bisection",
    "after": "after:2d, before:2026-11-01",
    "text": "text:word, in the transcripts themselves",
    "-": "a minus in front means not",
}


def _word(value: str) -> Q:
    condition = Q(permalink=value) | Q(reported_version=value)
    for name in WORD_FIELDS:
        condition |= Q(**{f"{name}__icontains": value})
    return condition


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter. `text` are the words to look for in transcripts."""

    terms: tuple[Term, ...]
    condition: Q
    text: tuple[Term, ...]

    def __str__(self) -> str:
        return " ".join(map(str, self.terms))

    @property
    def problems(self) -> list[str]:
        """What was not understood, in words."""
        return [term.problem for term in self.terms if term.problem]

    @property
    def in_transcripts(self) -> str:
        """The same with its plain words looked for in the transcripts; "" without any."""
        if not any(term.key == "" for term in self.terms):
            return ""
        moved = (Term("text", t.value, t.negated) if not t.key else t for t in self.terms)
        return " ".join(map(str, moved))

    def without(self, term: Term) -> str:
        """The filter's text when this chip is taken away."""
        return " ".join(str(other) for other in self.terms if other is not term)


def parse(query: str) -> Filter:
    """The filter of a query text; terms that are not understood carry their problem."""
    condition, terms, text = Q(), [], []
    for sign, key, quoted, bare in _TOKEN.findall(query)[:MAX_TERMS]:
        value, negated = quoted or bare, bool(sign)
        if not value:
            continue
        if key and key != "text" and key not in KEYS:
            known = ", ".join([*KEYS, "text"])
            terms.append(Term(key, value, negated, f"There is no filter {key!r}: {known}."))
            continue
        term = Term(key, value, negated)
        if key == "text":
            text.append(term)
        else:
            try:
                found = _condition(term)
            except FilterError as error:
                term = Term(key, value, negated, str(error))
            else:
                condition &= ~found if negated else found
        terms.append(term)
    return Filter(tuple(terms), condition, tuple(text))


def _condition(term: Term) -> Q:
    if not term.key:
        return _word(term.value)
    condition = Q()
    for value in term.values:
        condition |= KEYS[term.key](value)
    return condition
