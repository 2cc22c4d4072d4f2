"""The app-server's protocol as one version itself describes it, and messages held against it.

The binary writes its JSON Schemas (``generate-json-schema``); they are kept beside it. A
schema of that bundle forbids no further keys, so fields that it does not know are
looked for apart from what it calls invalid.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator
from jsonschema.exceptions import ValidationError

Json = Mapping[str, Any]
SIDES = {
    "client-request": "ClientRequest",
    "client-notification": "ClientNotification",
    "server-request": "ServerRequest",
    "server-notification": "ServerNotification",
}
"""The four files that list methods."""
ENVELOPE = frozenset({"jsonrpc", "id", "method", "params", "trace", "result", "error"})
STAMP = "emittedAtMs"
"""The key with which newer versions stamp notifications."""
FREE = frozenset({"delta", "text", "id", "message", "preview", "cwd", "path"})
"""Keys whose texts are anybody's words."""
SHAPES = 4096
"""Shapes of messages whose remarks are remembered: most of a stream is one shape."""
MOST = 20
"""Remarks about one message at most."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What the schema does not know or forbids: `what` is unknown-method, unknown-field, invalid.

    `place` is the place in the message (``params.item.kind``), `detail` says why.
    """

    what: str
    method: str
    place: str = ""
    detail: str = ""


class Protocol:
    """One version's bundle."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds the files as the binary wrote them; OSError or ValueError if not."""
        self._folder = folder
        self._documents = {side: _read(folder / f"{name}.json") for side, name in SIDES.items()}
        self.methods = {side: _methods(found) for side, found in self._documents.items()}
        self._validators: dict[tuple[str, str], Draft7Validator | None] = {}
        self._known: dict[Any, list[Remark]] = {}

    def check(self, side: str, message: Json) -> list[Remark]:
        """What is remarkable about a request or notification of that side."""
        method = str(message.get("method", ""))[:120]
        if method not in self.methods[side]:
            return [Remark("unknown-method", method)]
        shape = (side, method, _shape(message))
        if shape not in self._known:
            if len(self._known) >= SHAPES:
                self._known.clear()
            self._known[shape] = self._checked(side, method, message)
        return self._known[shape]

    def _checked(self, side: str, method: str, message: Json) -> list[Remark]:
        found = [
            Remark("unknown-field", method, key)
            for key in message
            if key not in ENVELOPE and not (key == STAMP and self._stamps(side))
        ]
        validator = self._validator(side, method)
        if validator is not None:
            found += _remarks(validator, method, "params", message.get("params"))
        return found[:MOST]

    def check_result(self, side: str, method: str, message: Json) -> list[Remark]:
        """What is remarkable about the answer to a request of that side."""
        if "error" in message or method not in self.methods[side]:
            return []
        validator = self._result_validator(side, method)
        if validator is None:
            return []
        return _remarks(validator, method, "result", message.get("result"))[:MOST]

    def _stamps(self, side: str) -> bool:
        return STAMP in self._documents[side].get("properties", {})

    def _validator(self, side: str, method: str) -> Draft7Validator | None:
        key = (side, method)
        if key not in self._validators:
            entry = self.methods[side][method]
            params = entry.get("properties", {}).get("params") or {}
            schema = {**params, "definitions": self._documents[side].get("definitions", {})}
            self._validators[key] = Draft7Validator(schema) if params else None
        return self._validators[key]

    def _result_validator(self, side: str, method: str) -> Draft7Validator | None:
        key = (f"{side}/result", method)
        if key not in self._validators:
            name = _type_of(self.methods[side][method]).removesuffix("Params")
            paths = [self._folder / place / f"{name}Response.json" for place in ("v2", "v1", ".")]
            path = next((path for path in paths if name and path.is_file()), None)
            self._validators[key] = Draft7Validator(_read(path)) if path else None
        return self._validators[key]


def _shape(value: Any, key: str = "") -> Any:
    """What a schema looks at: keys, types and short words, not the texts that people read."""
    if isinstance(value, dict):
        return tuple((name, _shape(inner, name)) for name, inner in value.items())
    if isinstance(value, list):
        return ("[]", *dict.fromkeys(_shape(inner) for inner in value[:50]))
    if isinstance(value, str):
        word = len(value) <= 32 and key not in FREE and not key.endswith(("Id", "_id"))
        return ("word", value) if word else "text"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (type(value).__name__, value < 0)
    return value


@lru_cache(maxsize=4)
def protocol_of(folder: Path) -> Protocol | None:
    """The bundle in `folder`, None where there is none that can be read."""
    try:
        return Protocol(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _read(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text())
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} is no schema")
    return found


def _methods(document: Json) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for entry in document["oneOf"]:
        for method in entry["properties"]["method"]["enum"]:
            found[str(method)] = entry
    return found


def _type_of(entry: Json) -> str:
    params = entry.get("properties", {}).get("params") or {}
    for choice in (params, *params.get("anyOf", ())):
        if "$ref" in choice:
            return str(choice["$ref"]).rpartition("/")[2]
    return ""


def _remarks(validator: Draft7Validator, method: str, place: str, value: Any) -> list[Remark]:
    schema: Any = validator.schema
    found = [
        Remark("invalid", method, _place(place, error), error.message[:200])
        for error in validator.iter_errors(value)
    ]
    unknown = dict.fromkeys(_unknown(schema, schema.get("definitions", {}), value, place, 0))
    return found + [Remark("unknown-field", method, key) for key in unknown]


def _place(start: str, error: ValidationError) -> str:
    steps = ["[]" if isinstance(step, int) else f".{step}" for step in error.absolute_path]
    return start + "".join(steps)


def _unknown(schema: Json, known: Json, value: Any, place: str, depth: int) -> Iterator[str]:
    """Places of keys that no form of the schema which fits knows."""
    if depth > 24:
        return
    forms = list(_forms(schema, known, value, 0))
    if isinstance(value, dict):
        if not any("properties" in form for form in forms) or any(_open(form) for form in forms):
            return
        for key, inner in value.items():
            here = [form["properties"][key] for form in forms if key in form.get("properties", {})]
            if not here:
                yield f"{place}.{key}"[:200]
            for form in here[:1]:
                yield from _unknown(form, known, inner, f"{place}.{key}", depth + 1)
    elif isinstance(value, list):
        items = [form["items"] for form in forms if isinstance(form.get("items"), dict)][:1]
        for inner in value[:50] if items else ():
            yield from _unknown(items[0], known, inner, f"{place}[]", depth + 1)


def _forms(schema: Any, known: Json, value: Any, depth: int) -> Iterator[Json]:
    """The plain schemas that a value is described by, references and choices followed."""
    if not isinstance(schema, dict) or depth > 12:
        return
    reference = schema.get("$ref")
    if reference is not None:
        target = known.get(str(reference).rpartition("/")[2])
        yield from _forms(target, known, value, depth + 1)
    yield schema
    for choice in schema.get("allOf", ()):
        yield from _forms(choice, known, value, depth + 1)
    for choice in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        if _fits(choice, known, value):
            yield from _forms(choice, known, value, depth + 1)


def _fits(choice: Any, known: Json, value: Any) -> bool:
    """Whether the words by which forms are told apart (``type``) are those of the value."""
    target = choice
    if isinstance(choice, dict) and "$ref" in choice:
        target = known.get(str(choice["$ref"]).rpartition("/")[2])
    if not isinstance(target, dict):
        return False
    if not isinstance(value, dict):
        return "properties" not in target
    for key, inner in target.get("properties", {}).items():
        words = inner.get("enum") if isinstance(inner, dict) else None
        if words is not None and len(words) == 1 and key in value and value[key] not in words:
            return False
    return all(key in value for key in target.get("required", ()))


def _open(form: Json) -> bool:
    """Whether any key is allowed: a map."""
    return bool(form.get("additionalProperties"))
