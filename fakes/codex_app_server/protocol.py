"""The protocol of one version, from its condensed table: what is known, required and gated."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fakes.codex_app_server.condense import condense, digest
from fakes.codex_app_server.grammar import Type
from fakes.codex_app_server.serde import Invalid, check, missing, unknown_variant

TABLES = Path(__file__).with_name("tables")


class Gated(Exception):
    """The client asks for what needs the experimental capability; the text is the server's."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} requires experimentalApi capability")


def versions() -> list[str]:
    """The versions whose tables are kept, oldest first."""
    return sorted((path.stem for path in TABLES.glob("*.json")), key=_numbers)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def kept(version: str) -> dict[str, Any]:
    """The table of one of :func:`versions`; ValueError for any other."""
    if version not in versions():
        raise ValueError(f"no table of {version}; there are {', '.join(versions())}")
    found: dict[str, Any] = json.loads((TABLES / f"{version}.json").read_text())
    return found


def _made_from(version: str, bundle: Path) -> bool:
    return version in versions() and kept(version)["bundle"]["experimental"] == digest(bundle)


def _from_bundle(version: str, bundle: Path) -> dict[str, Any]:
    """A table of the bundle alone, with the gates of the newest kept version that is no newer."""
    try:
        table = condense(version, bundle)
    except (OSError, KeyError, TypeError) as wrong:
        raise ValueError(f"{bundle} is no bundle of schemas: {wrong}") from wrong
    older = [one for one in versions() if _numbers(one) <= _numbers(version)]
    table["gated"] = kept((older or versions())[-1 if older else 0])["gated"]
    return table


class Protocol:
    """One version's table."""

    def __init__(self, version: str = "", bundle: Path | None = None) -> None:
        """`version` is one of :func:`versions`, the newest where none is given; ValueError.

        `bundle` is the folder of schemas that a binary of `version` wrote with
        ``--experimental``; then any version will do. Where it is the very bundle that the
        kept table was made from, the table is used: it knows more.
        """
        self.version = version or versions()[-1]
        self.source = "table"
        """Where the checks come from: table, or bundle."""
        if bundle is None or _made_from(self.version, bundle):
            self._table = kept(self.version)
        else:
            self._table, self.source = _from_bundle(self.version, bundle), "bundle"
        self.types: Mapping[str, Type] = self._table["types"]
        self.stamps: bool = self._table["stamps"]
        self.bundle: Mapping[str, str] = self._table["bundle"]

    def older_than(self, version: str) -> bool:
        """Whether this is an older version than that."""
        return _numbers(self.version) < _numbers(version)

    def has(self, method: str) -> bool:
        """Whether a client may ask for `method`."""
        return method in self._table["listed"]

    def request(self, method: str, message: Mapping[str, Any]) -> list[str]:
        """Places of unknown keys in a client's request; Invalid as the server refuses it."""
        known = self._table["client_requests"]
        if method not in self._table["listed"]:
            raise unknown_variant(method, self._table["listed"])
        return self._params(known[method], message) if method in known else []

    def gate(self, method: str, params: Any) -> None:
        """Gated where a client without the experimental capability may not ask for it."""
        gated = self._table["gated"]
        if method in gated["methods"]:
            raise Gated(method)
        form = self._table["client_requests"].get(method, {}).get("params")
        fields = gated["fields"].get(str(form)[1:], ())
        for key, value in params.items() if isinstance(params, dict) else ():
            if key in fields and self._asks_for(key, value):
                raise Gated(f"{method}.{gated['names'].get(key, key)}")
            if key == "approvalPolicy" and isinstance(value, dict) and "granular" in value:
                raise Gated("askForApproval.granular")

    def _asks_for(self, key: str, value: Any) -> bool:
        filled = key in self._table["gated"]["filled"]
        return value is not None and value is not False and not (filled and not value)

    def notification(self, method: str, message: Mapping[str, Any]) -> list[str] | None:
        """Places of unknown keys in a client's notification, None for an unknown one; Invalid."""
        line = self._table["client_notifications"].get(method)
        return None if line is None else self._params(line, message)

    def reply(self, method: str, result: Any) -> list[str]:
        """Places of unknown keys in a client's answer to the server's request; Invalid."""
        return check(self.types, self._table["server_requests"][method]["result"], result)

    def sends(self, method: str) -> bool:
        """Whether this version's server sends that notification or request."""
        return method in self._table["server_notifications"] or self.asks(method)

    def asks(self, method: str) -> bool:
        """Whether this version's server asks that of a client."""
        return method in self._table["server_requests"]

    def sent(self, method: str) -> Type:
        """The type of what the server sends under that method."""
        for side in ("server_notifications", "server_requests"):
            if method in self._table[side]:
                return self._table[side][method]["params"]
        raise KeyError(method)

    def result(self, method: str) -> Type:
        """The type of the server's answer to that method."""
        return self._table["client_requests"].get(method, {}).get("result")

    def words(self, name: str) -> Sequence[str]:
        """The words of a named type, or those that tell its forms apart; none where there is
        no such type."""
        form = self.types.get(name, ["words", []])
        if form[0] == "both":
            form = form[2]
        return list(form[1] if form[0] == "words" else form[2])

    @property
    def summarises(self) -> bool:
        """Whether the end of a turn repeats its last message."""
        return "TurnItemsView" in self.types

    def _params(self, line: Mapping[str, Any], message: Mapping[str, Any]) -> list[str]:
        params = message.get("params")
        if line["params"] is None:
            return []
        if params is None:
            if line["needed"]:
                raise missing("params")
            return []
        return check(self.types, line["params"], params)


__all__ = ["Gated", "Invalid", "Protocol", "kept", "versions"]
