"""`/runs/<permalink>/`: the page that people send to each other, and its live parts."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import listing, owners
from dashboard.pulse import pulse
from dashboard.versions import of_agent
from runs import (
    catalogue,
    descriptions,
    facts,
    material,
    proposal,
    repeat,
    sayings,
    start,
    store,
    words,
)
from runs.exports.markdown import issue
from runs.models import Opinion, Run
from runs.redact import Choice, RedactionFailed
from runs.text import visible_deep

NETWORK_SHOWN = 50


def find(permalink: str) -> Run:
    """The run behind a permalink; 404 when there is none."""
    try:
        return Run.objects.get(permalink=permalink)
    except Run.DoesNotExist:
        raise Http404 from None


@never_cache
@require_GET
def run(request: HttpRequest, permalink: str) -> HttpResponse:
    """The whole page."""
    found = find(permalink)
    after = request.GET.get("after", "")
    events = listing.listing(
        found,
        query=request.GET.get("events", "")[:500].replace("\x00", ""),
        after=int(after) if after.isdigit() and len(after) < 10 else 0,
    )
    context = _context(request, found)
    context |= {
        "events": events,
        "page_data": _page_data(found, context["facts"], events),
        "clocks": True,
        "sayings": sayings.TABLE,
    }
    return render(request, "run/page.html", context)


@never_cache
@require_GET
def parts(request: HttpRequest, permalink: str) -> HttpResponse:
    """The sections that change while a run lives; run.js puts them in place."""
    return render(request, "run/parts.html", _context(request, find(permalink)))


def _context(request: HttpRequest, found: Run) -> dict[str, Any]:
    gathered = facts.gather(found)
    address = request.build_absolute_uri(reverse("run", args=[found.permalink]))
    command = repeat.command(found)
    word, tone = words.diagnosis(found.diagnosis)
    return {
        "section": "runs",
        "run": found,
        "facts": gathered,
        "plays": owners.plays(found),
        "owner": owners.panel(found),
        "diagnosis_word": word,
        "diagnosis_tone": tone,
        "started": found.started_at.isoformat() if found.started_at else "",
        "duration": _duration(found),
        "pulse": pulse(found) if found.is_open else None,
        "workers": start.workers() if found.is_open else [],
        "seal": seal_words(found),
        "network": network(gathered.document.get("network") or []),
        "protocol": (gathered.document.get("protocol") or [])[:NETWORK_SHOWN],
        "drift": drift_address(found.agent, found.version),
        "question": found.snapshot.get("question", ""),
        "raw_gone": not found.is_open and not (store.folder(found) / "sources").is_dir(),
        "retry_words": facts.retry_words(gathered.retry),
        "hints": _status_hint(found),
        "guard": gathered.document.get("guard"),
        "address": address,
        "issue": _issue(found, address, command),
        "command": command,
        "version_choices": of_agent(found.agent),
        "opinion_words": Opinion.Word.values,
        "intake": visible_deep(found.summary.get("intake") or {}),
        "reproductions": _reproductions(found),
        "proposal": proposal.propose(found) if not found.is_open else None,
    }


def _issue(found: Run, address: str, command: str) -> str:
    """The text for an issue, redacted; where that fails, why there is none."""
    choice = Choice.of("structure")
    try:
        return issue(material.of(found, choice, address=address, command=command, light=True))
    except RedactionFailed as failed:
        return str(failed)


def _reproductions(found: Run) -> QuerySet[Run]:
    """What was started from an import, newest first, as far as it is still there."""
    started = (found.summary.get("intake") or {}).get("reproductions") or []
    return Run.objects.filter(permalink__in=started).order_by("-pk")


def _duration(found: Run) -> float | None:
    if found.started_at and found.ended_at:
        return (found.ended_at - found.started_at).total_seconds()
    return None


def _status_hint(found: Run) -> list[dict[str, str]]:
    """Our own trouble, as what and what to do."""
    if found.error.get("what"):
        return [visible_deep({"what": found.error["what"], "do": found.error.get("do", "")})]
    if found.status == Run.Status.LOST:
        what = "Its worker vanished while the run was going."
        return [{"what": what, "do": "What was stored until then is below. Run it again."}]
    return []


def seal_words(found: Run) -> dict[str, Any]:
    """The seal as a chip: tone, words, and why where something did not hold."""
    given = visible_deep(found.sealed)
    if found.kind == Run.Kind.IMPORT or (not given and found.status == Run.Status.QUEUED):
        return {}
    held = [name for name in ("network", "files", "processes") if given.get(name)]
    by = f" by {given['by']}" if given.get("by") else ""
    if len(held) == 3:
        return {"tone": "ok", "word": f"sealed: network, files, processes{by}", "why": ""}
    why = given.get("why") or ("it has not started" if found.is_open else "nothing was recorded")
    if held:
        return {"tone": "unknown", "word": f"partly sealed: {', '.join(held)}{by}", "why": why}
    return {"tone": "unknown", "word": "not sealed", "why": why}


def network(attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the agent tried to reach: where (name or address and port), what, when, how often."""
    rows = []
    for one in attempts[:NETWORK_SHOWN]:
        where = one.get("host") or one.get("address") or "?"
        port = f":{one['port']}" if one.get("port") else ""
        rows.append(
            {
                "where": f"{where}{port}",
                "address": one.get("address") if one.get("host") else "",
                "what": one.get("what") or "",
                "times": one.get("times", 1),
                "t": one.get("t"),
                "seq": one.get("seq"),
            }
        )
    return rows


def drift_address(agent: str, version: str) -> str:
    """Where this version's records are compared with the known version next to it, else ""."""
    known = descriptions.versions(agent) if agent in catalogue.drivers() else []
    if version not in known or len(known) < 2:
        return ""
    place = max(1, known.index(version))
    pair = {"agent": agent, "before": known[place - 1], "after": known[place]}
    return f"{reverse('drift')}?{urlencode(pair)}"


def _page_data(found: Run, gathered: facts.Facts, events: listing.Listing) -> dict[str, Any]:
    """The JSON that the scripts start from."""
    document = gathered.document
    return {
        "run": {
            "permalink": found.permalink,
            "status": found.status,
            "phase": found.phase,
            "outcome": found.outcome,
            "diagnosis": found.diagnosis,
            "started": found.started_at.isoformat() if found.started_at else None,
            "ended": found.ended_at.isoformat() if found.ended_at else None,
        },
        "agents": [
            {key: row.get(key) for key in ("id", "parent", "name", "caller")}
            for row in document.get("agents") or []
        ],
        "findings": [
            {
                "number": row["number"],
                "law": row["law"],
                "verdict": row["verdict"],
                "agent": row["agent"],
                "seqs": [int(seq) for seq in row["seqs"].split()],
            }
            for row in gathered.findings
        ],
        "last_seq": events.last,
        "event_count": events.total,
        "more": events.more,
    }
