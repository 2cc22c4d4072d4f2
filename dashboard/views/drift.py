"""Schema drift: what of an agent's records changed between two versions."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from runs import catalogue, descriptions
from runs.core.drift import KINDS, TYPES, WORDS, Change, compare
from runs.errors import HarnessError, UnknownName

ROWS = 300
"""Names of one section that are shown."""
KEYS = 60
"""Keys of one name that are shown."""
TITLES = {
    "server-notification": "Notifications of the server",
    WORDS: "Words (enumerations)",
    KINDS: "Kinds of items and events",
    "server-request": "Requests of the server",
    "client-request": "Requests of the client",
    "client-notification": "Notifications of the client",
    TYPES: "Types",
}
FOLDED = (TYPES,)


@require_GET
def drift(request: HttpRequest) -> HttpResponse:
    """``?agent=&before=&after=``; ``&q=`` keeps what holds a word, ``&format=json`` is JSON."""
    agents = sorted(catalogue.drivers())
    agent = request.GET.get("agent") or next(filter(_described, agents), agents[0])
    if agent not in agents:
        raise Http404(f"There is no agent {agent!r}.")
    known = descriptions.versions(agent)
    before, after = _chosen(request, known)
    context: dict[str, Any] = {
        "section": "drift",
        "agent": agent,
        "agents": agents,
        "versions": list(reversed(known)),
        "before": before,
        "after": after,
        "word": request.GET.get("q", "")[:80],
    }
    if before and after:
        try:
            context |= _compared(agent, before, after, str(context["word"]))
        except (HarnessError, UnknownName) as trouble:
            context["trouble"] = trouble
    if request.GET.get("format") == "json":
        changes = [change.as_dict() for change in context.get("changes", [])]
        return JsonResponse({"agent": agent, "before": before, "after": after, "changes": changes})
    status = 404 if context.get("trouble") else 200
    return render(request, "drift/page.html", context, status=status)


def _described(agent: str) -> bool:
    """Whether versions of it say themselves what their protocol is, run or not."""
    return bool(catalogue.driver(agent).described())


def _chosen(request: HttpRequest, known: list[str]) -> tuple[str, str]:
    """The two versions of the address; without them the two newest that are known."""
    newest = [*known[-2:], "", ""][:2] if len(known) > 1 else ["", ""]
    return request.GET.get("before") or newest[0], request.GET.get("after") or newest[1]


def _compared(agent: str, before: str, after: str, word: str) -> dict[str, Any]:
    old, new = (descriptions.describe(agent, version) for version in (before, after))
    changes = compare(old.description, new.description)
    if word:
        changes = [change for change in changes if _holds(change, word.lower())]
    sections: dict[str, list[Change]] = {}
    for change in changes:
        sections.setdefault(change.section, []).append(change)
    only = sorted(set(old.description) ^ set(new.description))
    return {
        "old": old,
        "new": new,
        "changes": changes,
        "counts": Counter(change.what for change in changes),
        "only": only if old.by == new.by else [],
        "mixed": old.by != new.by and "nothing" not in (old.by, new.by),
        "sections": [
            _section(name, sections[name])
            for name in sorted(sections, key=lambda name: (_place(name), name))
        ],
    }


def _place(section: str) -> int:
    return list(TITLES).index(section) if section in TITLES else len(TITLES)


def _holds(change: Change, word: str) -> bool:
    return word in change.name.lower() or any(word in key.key.lower() for key in change.keys)


def _section(name: str, changes: list[Change]) -> dict[str, Any]:
    counts = Counter(change.what for change in changes)
    ordered = sorted(changes, key=lambda change: (ORDER.index(change.what), change.name))
    return {
        "name": name,
        "title": TITLES.get(name, name),
        "counts": [(what, counts[what]) for what in ORDER if counts[what]],
        "total": len(changes),
        "folded": name in FOLDED,
        "rows": [
            {
                "name": change.name,
                "what": change.what,
                "tone": TONES[change.what],
                "keys": change.keys[:KEYS],
                "more": max(0, len(change.keys) - KEYS),
            }
            for change in ordered[:ROWS]
        ],
    }


ORDER = ("added", "removed", "changed")
TONES = {"added": "ok", "removed": "bad", "changed": "unknown"}
