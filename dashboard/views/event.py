"""One event: parsed, raw, and the request and response behind it; raw data as attachments."""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import listing
from dashboard.views.run import find
from runs import sayings, store
from runs.core.events import KINDS, Kind
from runs.models import Event, Run
from runs.text import clipped, one_line, visible, visible_deep

SHOWN = 64 * 1024
"""Characters of a raw line or body that a page shows; the download has the rest."""


@never_cache
@require_GET
def event(request: HttpRequest, permalink: str, seq: int) -> HttpResponse:
    """One event as a page of its own."""
    return render(request, "run/event.html", _context(find(permalink), seq))


@never_cache
@require_GET
def part(request: HttpRequest, permalink: str, seq: int) -> HttpResponse:
    """The same as a fragment, for the inspector."""
    return render(request, "run/_event.html", _context(find(permalink), seq))


@never_cache
@require_GET
def raw(request: HttpRequest, permalink: str, seq: int) -> HttpResponse:
    """The raw line, byte for byte, as an attachment."""
    return attachment(store.raw_line(find(permalink), seq), f"event-{seq}.txt")


@never_cache
@require_GET
def body(request: HttpRequest, permalink: str, name: str) -> HttpResponse:
    """A kept request or response body as an attachment."""
    return attachment(store.body(find(permalink), name), name)


def attachment(data: bytes | None, name: str) -> HttpResponse:
    """Bytes that no browser interprets; 404 where there are none."""
    if data is None:
        raise Http404
    answer = HttpResponse(data, content_type="application/octet-stream")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return answer


def _context(run: Run, seq: int) -> dict[str, Any]:
    row = Event.objects.filter(run=run, seq=seq).first()
    if row is None:
        raise Http404
    again = Event.objects.filter(run=run, kind="seen.again", seq__gt=seq, seq__lt=seq + 2000)
    also = [other for other in again if other.data.get("of") == seq]
    around = Event.objects.filter(run=run).exclude(kind__in=listing.HIDDEN)
    return {
        "section": "runs",
        "run": run,
        "event": row,
        "told": KINDS[Kind(row.kind)].sentence if row.kind in KINDS else "",
        "what": one_line(sayings.sentence(row.kind, row.data), 220),
        "places": [listing.place(one) for one in (row, *also)],
        "data": [(key, _value(value)) for key, value in visible_deep(row.data).items()],
        "raw": _shown(store.raw_line(run, seq)),
        "bodies": list(_bodies(run, row)),
        "before": around.filter(seq__lt=seq).order_by("-seq").values_list("seq", flat=True).first(),
        "after": around.filter(seq__gt=seq).order_by("seq").values_list("seq", flat=True).first(),
        "started": run.started_at.isoformat() if run.started_at else "",
        "clocks": True,
    }


def _value(value: Any) -> str:
    if isinstance(value, str):
        return clipped(value, 4000)[0]
    return clipped(json.dumps(value, ensure_ascii=False, indent=1), 4000)[0]


def _shown(data: bytes | None) -> dict[str, Any] | None:
    """Bytes as visible text, bounded, with what was left out."""
    if data is None:
        return None
    text, left = clipped(visible(data[: SHOWN * 4].decode("utf-8", "replace")), SHOWN)
    return {"text": text, "bytes": len(data), "cut": left > 0 or len(data) > SHOWN * 4}


def _pretty(text: str | None) -> str | None:
    """A JSON body with line breaks; anything else as it is."""
    try:
        return json.dumps(json.loads(text or ""), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return text


def _bodies(run: Run, row: Event) -> Any:
    """Name, title and shown text of the bodies that belong to the exchange of this event."""
    request = row.data.get("request")
    if not isinstance(request, str) or row.source != "provider":
        return
    near = Event.objects.filter(run=run, kind__in=("request.received", "request.ended"))
    for other in near.filter(data__request=request).order_by("seq")[:4]:
        for key, title in (("body", "request"), ("response", "response")):
            name = other.data.get(key)
            if isinstance(name, str) and name:
                shown = _shown(store.body(run, name)) or {"text": None}
                yield {"name": name, "title": title, **shown, "text": _pretty(shown["text"])}
