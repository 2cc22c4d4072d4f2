"""Hermes as a client of Codex's app-server: a stand-in is the ``codex`` on its PATH."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from runs import clients
from runs.driver import Context, Launch, Source
from runs.drivers._log import printed
from runs.drivers.hermes.config import config_files

CLIENT = "codex_app_server"


def client_launch(context: Context, home: Path) -> Launch:
    """One prompt; its model is reached through ``codex app-server``. `home` is HERMES_HOME."""
    return Launch(
        argv=(str(context.binary.path), "-z", context.prompt),
        env={
            "PATH": clients.path(context),
            "HERMES_HOME": str(home),
            "NO_COLOR": "1",
        },
        files={**config_files(context, home, CLIENT), **clients.files(context)},
    )


def client_sources() -> Iterable[Source]:
    """What it prints, and the conversation with the app-server."""
    yield Source(name="stdout", reader=printed, stream="stdout")
    yield clients.source()
