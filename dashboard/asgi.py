"""What Daphne serves: pages by Django, live events by the sockets; one guard before both."""

from __future__ import annotations

import logging
import os
import sys

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
pages = get_asgi_application()  # before anything that imports models

# These import models, so they stand behind the line above.
from dashboard import guard  # noqa: E402
from dashboard.consumers import Receive, Scope, Send, list_socket, refuse, run_socket  # noqa: E402

log = logging.getLogger(__name__)
sockets = URLRouter(
    [
        # `path` is typed for views; a URLRouter takes ASGI applications.
        path("ws/runs/", list_socket),  # type: ignore[arg-type]
        path("ws/runs/<str:permalink>/", run_socket),  # type: ignore[arg-type]
    ]
)


def leave_when_stopped() -> None:
    """End this process as soon as its reactor has stopped.

    A request that is in flight then waits in its thread for a loop that is gone, and
    would keep the process for ever. There is nothing to finish: every write is a transaction.
    """
    reactor = sys.modules.get("twisted.internet.reactor")
    if reactor is not None:
        reactor.addSystemEventTrigger("after", "shutdown", os._exit, 0)


leave_when_stopped()
if "daphne.http_protocol" in sys.modules:
    from dashboard import bounded

    bounded.install()


async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
    """The sockets, behind the same exact Host, Origin and token as the pages."""
    why = guard.websocket_refusal(scope)
    if why:
        log.info("A WebSocket was refused: %s", why)
        await refuse(receive, send)
        return
    try:
        await sockets(scope, receive, send)
    except ValueError:  # no such address
        await refuse(receive, send)


application = ProtocolTypeRouter({"http": pages, "websocket": guarded})
