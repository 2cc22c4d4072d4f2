"""Health, login and what a browser remembers."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dashboard import access, preferences
from runs import start

YEAR = 365 * 24 * 3600


@never_cache
@require_GET
def healthz(request: HttpRequest) -> JsonResponse:
    """200 with the number of listening workers when the database answers, else 503."""
    try:
        return JsonResponse({"ok": True, "workers": len(start.workers())})
    except DatabaseError:
        return JsonResponse({"ok": False, "what": "The database does not answer."}, status=503)


def _way_back(request: HttpRequest, given: str) -> str:
    """An address of this instance, `/` for any other."""
    inside = url_has_allowed_host_and_scheme(given, allowed_hosts=None)
    return given if inside and given.startswith("/") else "/"


@never_cache
@sensitive_post_parameters("token")
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    """Takes a token and sets the cookie that stands for it."""
    wanted = _way_back(request, request.POST.get("next") or request.GET.get("next", "/"))
    if not settings.TOKEN:
        return redirect(wanted)
    token = request.POST.get("token", "").strip()
    if request.method == "POST" and access.rights_of_token(token):
        answer = redirect(wanted)
        answer.set_cookie(
            access.COOKIE,
            access.cookie_value(token),
            max_age=access.COOKIE_AGE,
            httponly=True,
            samesite="Strict",
            secure=request.is_secure(),
        )
        return answer
    wrong = request.method == "POST"
    context = {"next": wanted, "wrong": wrong, "navigation": []}
    return render(request, "login.html", context, status=403 if wrong else 200)


@require_POST
def remember(request: HttpRequest) -> HttpResponse:
    """Theme or clock, chosen without JavaScript."""
    answer = redirect(_way_back(request, request.POST.get("next", "/")))
    for name, values in preferences.CHOICES.items():
        value = request.POST.get(name, "")
        if value in dict(values):
            answer.set_cookie(name, value, max_age=YEAR, samesite="Strict")
    return answer
