"""Who may read and who may start: two tokens, two rights.

Without tokens everybody who reaches the loopback address has both rights (the guard
keeps foreign pages out). With ``LIFELINE_TOKEN`` set, each request shows a token: as
``Authorization: Bearer …`` (API) or as the signed cookie that the login page sets.
``LIFELINE_READ_TOKEN`` is a second one that only reads.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect

from dashboard import guard, trouble

READ, START = "read", "start"
NOTHING: frozenset[str] = frozenset()
BOTH = frozenset({READ, START})
COOKIE = "lifeline_access"
COOKIE_AGE = 30 * 24 * 3600
OPEN_PATHS = ("/login/", "/healthz", "/static/", "/s/")
_SALT = "lifeline.access"


def rights_of_token(token: str) -> frozenset[str]:
    """The rights that a token gives; none for an empty or wrong one."""
    given = token.encode()
    if settings.TOKEN and hmac.compare_digest(given, settings.TOKEN.encode()):
        return BOTH
    if settings.READ_TOKEN and hmac.compare_digest(given, settings.READ_TOKEN.encode()):
        return frozenset({READ})
    return NOTHING


def cookie_value(token: str) -> str:
    """What the login cookie holds: a signed fingerprint, never the token itself."""
    return signing.dumps(_fingerprint(token), salt=_SALT)


def _fingerprint(token: str) -> str:
    return hashlib.sha256(f"{settings.SECRET_KEY}:{token}".encode()).hexdigest()


def rights_of_cookie(value: str) -> frozenset[str]:
    """The rights of a login cookie; a changed token ends all cookies made from the old one."""
    try:
        shown = signing.loads(value, salt=_SALT, max_age=COOKIE_AGE)
    except signing.BadSignature:
        return NOTHING
    if not isinstance(shown, str):
        return NOTHING
    for token in (settings.TOKEN, settings.READ_TOKEN):
        if token and hmac.compare_digest(shown, _fingerprint(token)):
            return rights_of_token(token)
    return NOTHING


def rights_of(headers: Mapping[str, str], arrived_at: str) -> frozenset[str]:
    """The rights of a request by its lower-case headers and the address it arrived at."""
    if not settings.TOKEN:
        local = guard.is_loopback(arrived_at) or arrived_at in settings.ALLOWED_HOSTS
        return BOTH if local and not settings.NAMES else NOTHING
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return rights_of_token(token.strip())
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return NOTHING
    return rights_of_cookie(morsel.value) if morsel else NOTHING


class AccessMiddleware:
    """Gives each request its rights; sends strangers to the login page or answers 401."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The page, the way to the login, or why this is not allowed."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        rights = rights_of(headers, request.META.get("SERVER_NAME", ""))
        request.rights = rights  # type: ignore[attr-defined]  # ours, for views
        if request.path.startswith(OPEN_PATHS):
            return self.get_response(request)
        if READ not in rights:
            return self._stranger(request)
        changes = request.method not in guard.SAFE and request.path != "/preferences/"
        if changes and START not in rights:
            return trouble.plain(
                request, 403, "Your token may read, not start.", "Use the other token."
            )
        return self.get_response(request)

    def _stranger(self, request: HttpRequest) -> HttpResponseBase:
        if not settings.TOKEN:
            return trouble.plain(
                request,
                403,
                "This instance can be reached from outside and has no token.",
                "Set LIFELINE_TOKEN and start it again.",
            )
        if request.path.startswith("/api/") or request.method not in guard.SAFE:
            answer = trouble.plain(
                request, 401, "This needs a token.", "Send Authorization: Bearer TOKEN."
            )
            answer["WWW-Authenticate"] = "Bearer"
            return answer
        return HttpResponseRedirect(f"/login/?next={quote(request.get_full_path())}")
