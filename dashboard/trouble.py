"""Answers for trouble: as JSON that names the thing and what to do, or as a page that does so."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from runs import machine
from runs.exports.html import POLICY, STYLE


def wants_json(request: HttpRequest) -> bool:
    """Whether the asker is a program."""
    return request.path.startswith("/api/") or "application/json" in request.headers.get(
        "accept", ""
    )


def plain(request: HttpRequest, status: int, what: str, do: str = "") -> HttpResponse:
    """Without a template: for the gates, which trust nothing of the request.

    A browser gets a page that carries its style and needs nothing else of this instance.
    """
    if wants_json(request):
        return as_json(status, what, do)
    if "text/html" not in request.headers.get("accept", ""):
        words = f"{what}\n{do}\n"
        return HttpResponse(words, status=status, content_type="text/plain; charset=utf-8")
    answer = HttpResponse(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(what)} — Lifeline</title><style>{STYLE}</style></head>"
        f"<body><main><h1>{escape(what)}</h1><p>{escape(do)}</p></main></body></html>\n",
        status=status,
    )
    answer["Content-Security-Policy"] = POLICY
    return answer


def as_json(status: int, what: str, do: str) -> JsonResponse:
    """``{"error": {"what", "do"}}``."""
    return JsonResponse({"error": {"what": what, "do": do}}, status=status)


def of_shape(problems: Iterable[Mapping[str, Any]]) -> JsonResponse:
    """422 for a body or parameters of the wrong shape: each problem (pydantic's) by its place."""
    words = (
        f"{'.'.join(map(str, one.get('loc', ())))}: {one.get('msg', 'is not valid')}"
        for one in problems
    )
    return as_json(422, "; ".join(words), "See /api/openapi.json.")


def page(request: HttpRequest, status: int, what: str, do: str = "") -> HttpResponse:
    """As a page with the usual header."""
    if wants_json(request):
        return as_json(status, what, do)
    return render(request, "error.html", {"what": what, "do": do, "status": status}, status=status)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404."""
    return page(request, 404, "There is nothing at this address.", "It may have been deleted.")


def forbidden(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 of the CSRF check."""
    return page(
        request,
        403,
        "The form did not come from a page of this instance.",
        "Reload the page and press again; cookies have to be allowed.",
    )


def refused(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403."""
    return page(request, 403, "This is not allowed.")


def bad(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400."""
    do = "Go back; if the address is long, name fewer things in it."
    return plain(request, 400, "The request is not understood.", do)


def broken(request: HttpRequest) -> HttpResponse:
    """500, without a template so that a broken template cannot break it; 503 where the machine
    refused (no room, no right, no database), with what to do."""
    refused_by = machine.in_words(sys.exc_info()[1])
    if refused_by is not None:
        return plain(request, 503, refused_by.what, refused_by.do)
    return plain(request, 500, "Lifeline made a mistake.", "The server's log says which.")
