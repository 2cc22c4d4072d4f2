"""The first gate: exact Host, no foreign page, no body that a foreign page could send.

One pure decision (`refusal`) for HTTP and WebSocket alike. A browser names the page
that asks (Origin, fetch metadata); a page on another port of this very machine is as
foreign as any other. Behind a proxy its public name is listed in ``LIFELINE_NAMES``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from dashboard import trouble

SAFE = ("GET", "HEAD", "OPTIONS")
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
TOO_LARGE = "X-Lifeline-Too-Large"
"""Marks a request of which the body was let go (:mod:`dashboard.bounded`)."""
_IN_PIECES = (
    "Read large logs with `python3 manage.py judge PATH --store`, or on the page /import/, "
    "which sends them in pieces where JavaScript is on."
)
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def is_loopback(name: str) -> bool:
    """Whether a host name or address can only be reached from this machine."""
    bare = name.strip("[]").lower()
    if bare == "localhost":
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def bracketed(address: str) -> str:
    """An address as it stands in a Host header (IPv6 in brackets)."""
    return f"[{address}]" if ":" in address and not address.startswith("[") else address


def known_hosts(server: tuple[str, int]) -> set[str]:
    """Every Host that names this instance; `server` is the address that the request arrived at.

    The arrival address itself counts only as an IP number: no foreign name can be one.
    """
    address, port = server
    names = {*LOOPBACK, settings.HOST.lower(), *_test_names()}
    try:
        ipaddress.ip_address(address.strip("[]"))
        names.add(address)
    except ValueError:
        pass
    hosts = {f"{bracketed(name)}:{port}" for name in names}
    if port == 80:
        hosts |= {bracketed(name) for name in names}
    return hosts | {name.lower() for name in settings.NAMES}


def _test_names() -> set[str]:
    """The names that Django's test runner adds to the allowed ones; none in production."""
    return {name for name in settings.ALLOWED_HOSTS if name != "*"}


def origins(host: str) -> set[str]:
    """The origins that a page of ours can have at this Host."""
    found = {f"http://{host}"}
    return found | {f"https://{host}"} if host in settings.NAMES else found


def refusal(
    method: str, headers: Mapping[str, str], server: tuple[str, int], *, websocket: bool = False
) -> str:
    """Why this request gets nothing, or "".

    `headers` have lower-case names; `server` is (address, port) of the socket. A WebSocket
    needs our own Origin; other requests need none, but a foreign one is refused.
    """
    host = headers.get("host", "").lower()
    if host not in known_hosts(server):
        return "The Host is not an address of this instance."
    origin = headers.get("origin", "")
    if (origin or websocket) and origin not in origins(host):
        return "The request comes from a page of another origin."
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        opened = method in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate"
        if websocket or not (opened and headers.get("sec-fetch-dest", "document") == "document"):
            return "The request comes from a page of another site."
    return ""


_NO_JSON = "The API takes application/json and no other."
_AT_HOME = "Open Lifeline at the address that it printed."
_OTHERWISE = {_NO_JSON: "See /api/openapi.json for what each address takes."}


def body_refusal(method: str, path: str, content_type: str, length: int | None) -> str:
    """Why this body is refused, or "": JSON for the API, CSRF-protected forms for the pages."""
    if method in SAFE or (not content_type and length == 0):
        return ""
    bare = content_type.partition(";")[0].strip().lower()
    if path.startswith("/api/"):
        return "" if bare == "application/json" else _NO_JSON
    return "" if bare in FORMS or bare == "application/json" else "This kind of body is not taken."


def websocket_refusal(scope: Mapping[str, Any]) -> str:
    """Why a WebSocket of this ASGI scope gets nothing, or ""; the same gate, then the right."""
    from dashboard import access

    headers = {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }
    server = scope.get("server") or ("", 0)
    why = refusal("GET", headers, (str(server[0]), int(server[1] or 0)), websocket=True)
    if why:
        return why
    if access.READ not in access.rights_of(headers, str(server[0])):
        return "This instance needs a token."
    return ""


class GuardMiddleware:
    """Answers 403 before anything else looks at the request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The response of the page, or the refusal in words."""
        why = self._why(request)
        if why:
            response: HttpResponseBase = self._refuse(request, why)
        elif TOO_LARGE in request.headers:
            response = trouble.plain(request, 413, "The request is too large.", _IN_PIECES)
        else:
            response = self.get_response(request)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "same-origin")
        response.headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("X-Frame-Options", "DENY")
        return response

    def _why(self, request: HttpRequest) -> str:
        headers = {name.lower(): value for name, value in request.headers.items()}
        if "host" not in headers and not isinstance(request, ASGIRequest):
            headers["host"] = request.get_host()  # only the test client sends none
        server = (request.META.get("SERVER_NAME", ""), int(request.META.get("SERVER_PORT") or 0))
        method = request.method or "GET"
        length = request.META.get("CONTENT_LENGTH") or (
            None if "transfer-encoding" in headers else 0
        )
        return refusal(method, headers, server) or body_refusal(
            method, request.path, request.META.get("CONTENT_TYPE", ""), _number(length)
        )

    def _refuse(self, request: HttpRequest, why: str) -> HttpResponse:
        return trouble.plain(request, 403, why, _OTHERWISE.get(why, _AT_HOME))


def _number(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None
