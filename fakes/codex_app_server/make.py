"""``python -m fakes.codex_app_server.make BINARY…``: writes the tables of these binaries.

Each is a native ``codex`` of a version. It writes its schemas and is asked what they do not
tell, in a home of its own that is thrown away, without a provider it could reach.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fakes.codex_app_server.asking import Ask, name_gates, refine
from fakes.codex_app_server.condense import Table, condense, written
from fakes.codex_app_server.protocol import TABLES

CONFIG = """\
check_for_update_on_startup = false
model = "none"
model_provider = "none"
[model_providers.none]
name = "none"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"
requires_openai_auth = false
[analytics]
enabled = false
[features]
plugins = false
"""

INTRODUCTION = ("initialize", {"clientInfo": {"name": "table", "version": "1"}})


def make(binary: Path) -> Table:
    """The table of that binary; CalledProcessError or OSError where it does not do its part."""
    with _home() as environment:
        folder = Path(environment["HOME"])
        bundles = {key: folder / key for key in ("experimental", "plain")}
        for key, place in bundles.items():
            more = ["--experimental"] if key == "experimental" else []
            call = ["app-server", "generate-json-schema", "--out", str(place)]
            _run([str(binary), *call, *more], environment)
        version = _version(binary, environment)
        table = condense(version, bundles["experimental"], bundles["plain"])
        with _asking(binary, environment) as ask:
            refine(table, ask)
        with _asking(binary, environment) as ask:
            ask(*INTRODUCTION)
            name_gates(table, ask)
    return table


def refusals(binary: Path, requests: Sequence[tuple[str, Any]]) -> tuple[str, list[str]]:
    """The binary's version, and the texts with which it refuses these requests in one
    connection (empty where it does not)."""
    with _home() as environment, _asking(binary, environment) as ask:
        return _version(binary, environment), [ask(*request) for request in requests]


@contextmanager
def _home() -> Iterator[dict[str, str]]:
    """An environment with a home of its own, thrown away at the end."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "config.toml").write_text(CONFIG)
        yield {"PATH": os.defpath, "HOME": name, "CODEX_HOME": name}


def _version(binary: Path, environment: Mapping[str, str]) -> str:
    return _run([str(binary), "--version"], environment).split()[-1]


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@contextmanager
def _asking(binary: Path, environment: Mapping[str, str]) -> Iterator[Ask]:
    """Requests to a running app-server, one after another."""
    server = subprocess.Popen(
        [str(binary), "app-server"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None and server.stdout is not None
    stdin, stdout, asked = server.stdin, server.stdout, 0

    def ask(method: str, params: Any) -> str:
        nonlocal asked
        asked += 1
        request = {"id": asked, "method": method}
        if params is not None:
            request["params"] = params
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        for line in stdout:
            message = json.loads(line)
            if message.get("id") == asked and "method" not in message:
                return str(message.get("error", {}).get("message", ""))
        raise OSError(f"{binary} hung up at {method}")

    try:
        yield ask
    finally:
        stdin.close()
        server.wait(30)


def main(arguments: Sequence[str]) -> int:
    """Write the tables; 2 without arguments."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    for argument in arguments:
        table = make(Path(argument))
        path = TABLES / f"{table['version']}.json"
        path.write_text(written(table))
        print(f"{path.name}: {len(table['client_requests'])} methods", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
