"""Sharing: the preview of what leaves, the links that were made, and what a link serves."""

from __future__ import annotations

import json
from typing import Any

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard import trouble
from dashboard.views.exports import chosen
from dashboard.views.run import find
from runs import export, material, repeat, shares
from runs.errors import HarnessError
from runs.exports.html import POLICY
from runs.material import Material
from runs.models import Run, Share
from runs.redact import LEVELS, Choice, detectors
from runs.store import event_dict
from runs.text import visible_deep

DAYS = (1, 7, 30, 90)
ROWS_SHOWN, SAMPLES_SHOWN = 200, 12


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def share(request: HttpRequest, permalink: str) -> HttpResponseBase:
    """The preview of one run's redacted form; a POST makes the link."""
    run = find(permalink)
    values = dict((request.POST if request.method == "POST" else request.GET).lists())
    try:
        choice = chosen(values)
        if request.method == "POST":
            days = (values.get("days") or ["7"])[0]
            made = shares.create(run, choice, int(days) if days.isdecimal() else 0)
            return redirect(f"{reverse('shares')}#s{made.pk}")
        preview = _preview(run, choice)
    except HarnessError as error:
        return trouble.page(request, 400, error.what, error.do)
    return render(
        request,
        "share/page.html",
        {
            "section": "runs",
            "run": run,
            "choice": choice,
            "preview": preview,
            "levels": [(key, words) for key, words in LEVELS.items() if key != "full"],
            "detectors": detectors().values(),
            "days": DAYS,
            "formats": [(each, each.title) for each in export.exports().values()],
            "query": request.GET.urlencode() or "redact=structure",
        },
    )


def _preview(run: Run, choice: Choice) -> dict[str, Any]:
    """What would be replaced, by going through all of it."""
    made = material.of(run, choice, command=repeat.command(run))
    samples = _samples(run, made)
    for _ in made.events():
        pass
    rows = sorted(made.redactor.report(), key=lambda row: (row["name"], -row["times"]))
    preview: dict[str, Any] = visible_deep(
        {
            "rows": rows[:ROWS_SHOWN],
            "total": len(rows),
            "texts": made.redactor.texts,
            "samples": samples,
        }
    )
    return preview


def _samples(run: Run, made: Material) -> list[dict[str, Any]]:
    """The first events that change: as they are and as they leave."""
    found: list[dict[str, Any]] = []
    rows = run.events.order_by("seq")[:2000].iterator()
    for row, after in zip(rows, made.events(), strict=False):
        before = event_dict(row)
        changed = [key for key, value in before["data"].items() if after["data"].get(key) != value]
        for key in changed[:2]:
            found.append(
                {
                    "seq": row.seq,
                    "place": f"{row.kind} {key}",
                    "before": _plain(before["data"][key])[:300],
                    "after": _plain(after["data"].get(key))[:300],
                }
            )
        if len(found) >= SAMPLES_SHOWN:
            break
    return found[:SAMPLES_SHOWN]


def _plain(value: Any) -> str:
    """A value as people read it: a list of words in a row, what has parts as JSON."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


@never_cache
@require_safe
def mine(request: HttpRequest) -> HttpResponse:
    """All links of this instance, newest first."""
    rows = [
        (one, request.build_absolute_uri(reverse("shared", args=[one.key])))
        for one in Share.objects.select_related("run").order_by("-pk")[:500]
    ]
    return render(request, "share/mine.html", {"section": "runs", "rows": rows})


@require_POST
def revoke(request: HttpRequest, number: int) -> HttpResponse:
    """End one link now."""
    try:
        shares.revoke(Share.objects.get(pk=number))
    except Share.DoesNotExist:
        raise Http404 from None
    return redirect(f"{reverse('shares')}#s{number}")


@require_safe
def served(request: HttpRequest, key: str) -> HttpResponseBase:
    """The redacted page. Needs no token; says nothing of the instance it comes from."""
    return _copy(request, key, "html")


@require_safe
def served_archive(request: HttpRequest, key: str) -> HttpResponseBase:
    """The redacted archive, as a download."""
    return _copy(request, key, "archive")


@require_safe
def served_below(request: HttpRequest, key: str, rest: str) -> HttpResponseBase:
    """Any other address below a link: it ends with the link, and holds nothing before."""
    share = Share.objects.filter(key=key).first()
    return _ended(request) if share and not share.is_live else _nothing(request)


def _nothing(request: HttpRequest) -> HttpResponseBase:
    return _sealed(trouble.plain(request, 404, "There is nothing at this address."))


def _ended(request: HttpRequest) -> HttpResponseBase:
    what = "This link was revoked or has expired."
    return _sealed(trouble.plain(request, 410, what, "Ask whoever sent it for a new one."))


def _copy(request: HttpRequest, key: str, name: str) -> HttpResponseBase:
    share = Share.objects.filter(key=key).first()
    if share is None:
        return _nothing(request)
    path = shares.path_of(share, name)
    if not share.is_live or not path.is_file():
        shares.forget(share)
        return _ended(request)
    if name == "html":
        Share.objects.filter(pk=share.pk).update(seen=share.seen + 1)
    format = export.named(name)
    answer = FileResponse(
        path.open("rb"),
        as_attachment=name != "html",
        filename=f"lifeline-shared.{format.suffix}",
        content_type=f"{format.media}; charset=utf-8" if name == "html" else format.media,
    )
    return _sealed(answer)


def _sealed(answer: HttpResponseBase) -> HttpResponseBase:
    """Nothing is kept on the way, nothing is indexed, nothing runs."""
    answer["Cache-Control"] = "no-store"
    answer["X-Robots-Tag"] = "noindex, nofollow"
    answer["Referrer-Policy"] = "no-referrer"
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Security-Policy"] = f"{POLICY}; frame-ancestors 'none'"
    return answer
