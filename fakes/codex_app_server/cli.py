"""The command line: as much of ``codex`` as a client of its app-server calls."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fakes.codex_app_server.protocol import versions
from fakes.codex_app_server.server import Server
from fakes.codex_app_server.world import world


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the server until its client hangs up; 2 for any other call than ``app-server``.

    Options of ``codex`` itself (``-c key=value``, ``--enable``) are taken and play no part.
    """
    parser = argparse.ArgumentParser(prog="codex", description=__doc__, add_help=False)
    parser.add_argument("--state-dir", type=Path, help="folder of the scenario and transcript")
    parser.add_argument("--protocol", default="", help=f"one of {', '.join(versions())}")
    parser.add_argument("--bundle", type=Path, help="schemas that a binary of it wrote")
    parser.add_argument("--version", action="store_true")
    known, rest = parser.parse_known_args(arguments)
    try:
        version = known.protocol or versions()[-1]
        if known.version:
            print(f"codex-cli {version}")
            return 0
        if "app-server" not in rest or known.state_dir is None:
            print("codex: this stand-in plays only: --state-dir DIR app-server", file=sys.stderr)
            return 2
        known.state_dir.mkdir(parents=True, exist_ok=True)
        return Server(world(known.state_dir.resolve(), version, known.bundle)).serve()
    except ValueError as wrong:
        print(f"codex: {wrong}", file=sys.stderr)
        return 2
