"""Makes the condensed table of one version from the schema bundles that its binary writes.

The bundle with ``--experimental`` is the protocol; what the plain bundle lacks needs the
experimental capability. What no schema tells (the order in which fields are missed and words
are listed) the binary is asked: see :mod:`.asking`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fakes.codex_app_server.grammar import Type, condensed

Table = dict[str, Any]
SIDES = {
    "client_requests": "ClientRequest",
    "client_notifications": "ClientNotification",
    "server_requests": "ServerRequest",
    "server_notifications": "ServerNotification",
}
STAMP = "emittedAtMs"


def digest(folder: Path) -> str:
    """SHA-256 over the names and contents of a bundle's files, whatever the order of keys:
    old binaries write it anew each time."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*.json")):
        content = json.dumps(json.loads(path.read_text()), sort_keys=True)
        whole.update(f"{path.relative_to(folder)}\0{content}\0".encode())
    return whole.hexdigest()


def condense(version: str, experimental: Path, plain: Path | None = None) -> Table:
    """The table of `version` from its two bundles; without the plain one nothing is gated."""
    bundle = _Bundle(experimental)
    table: Table = {
        "version": version,
        "bundle": {"experimental": digest(experimental), "plain": plain and digest(plain)},
        "stamps": STAMP in _read(experimental / "ServerNotification.json").get("properties", {}),
    }
    for side, name in SIDES.items():
        table[side] = bundle.side(name, answers=side.endswith("requests"))
    table["types"] = bundle.types()
    table["listed"] = list(table["client_requests"])
    table["gated"] = _gated(table, _Bundle(plain or experimental))
    return table


class _Bundle:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Type] = {}

    def side(self, name: str, *, answers: bool) -> dict[str, Any]:
        """``{method: {"params": T or null, "result": T or null}}`` in the binary's order."""
        found = {}
        document = self._learn(_read(self._folder / f"{name}.json"))
        for entry in document["oneOf"]:
            params = entry["properties"].get("params")
            form = condensed(params) if params and params != {"type": "null"} else None
            for method in entry["properties"]["method"]["enum"]:
                required = "params" in entry.get("required", ())
                line: dict[str, Any] = {"params": form, "needed": required}
                if answers:
                    line["result"] = self._result(form, method)
                found[method] = line
        return found

    def types(self) -> dict[str, Type]:
        return dict(sorted(self._known.items()))

    def _learn(self, document: dict[str, Any]) -> dict[str, Any]:
        for name, schema in document.get("definitions", {}).items():
            form = condensed(schema)
            if self._known.setdefault(name, form) != form:
                raise ValueError(f"two forms of {name}")
        return document

    def _result(self, form: Type, method: str) -> Type | None:
        name = form[1:].removesuffix("Params") if isinstance(form, str) else _camel(method)
        for place in (".", "v2", "v1"):
            path = self._folder / place / f"{name}Response.json"
            if path.is_file():
                document = self._learn(_read(path))
                self._known.setdefault(f"{name}Response", condensed(document))
                return f"@{name}Response"
        return None


def _camel(method: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in method.replace("/", " ").split())


def _read(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text())
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} is no schema")
    return found


def _gated(table: Table, plain: _Bundle) -> dict[str, Any]:
    """What only the experimental bundle has: methods, and fields by type."""
    methods = plain.side("ClientRequest", answers=False)
    known = plain.types()
    fields: dict[str, list[str]] = {}
    for name, form in table["types"].items():
        if form[0] == "struct" and name in known and known[name][0] == "struct":
            more = [key for key in form[1] if key not in known[name][1]]
            if more:
                fields[name] = more
    return {
        "methods": [name for name in table["client_requests"] if name not in methods],
        "fields": fields,
        "names": {},
        "filled": [],
    }


def written(table: Table) -> str:
    """The table as text: one type or method a line, so that a change can be read."""
    return "\n".join(_lines(table)) + "\n"


def _lines(table: Table) -> Iterator[str]:
    yield "{"
    for number, (key, value) in enumerate(table.items()):
        comma = "," if number < len(table) - 1 else ""
        if not isinstance(value, dict):
            yield f"{json.dumps(key)}: {json.dumps(value)}{comma}"
            continue
        yield f"{json.dumps(key)}: {{"
        for inner, (name, line) in enumerate(value.items()):
            short = json.dumps(line, separators=(",", ":"))
            yield f" {json.dumps(name)}: {short}{',' if inner < len(value) - 1 else ''}"
        yield f"}}{comma}"
    yield "}"
