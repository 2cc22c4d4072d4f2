"""The tables: what they are made from, and that real binaries still give them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.codex_app_server.condense import condense, digest, written
from fakes.codex_app_server.grammar import condensed
from fakes.codex_app_server.harness import install
from fakes.codex_app_server.make import make, refusals
from fakes.codex_app_server.protocol import TABLES, Protocol, versions
from fakes.codex_app_server.serde import Invalid, check
from fakes.tests.codex_app_server.client import Client
from fakes.tests.codex_app_server.mistakes import AFTER, BEFORE, DATA, INTRODUCTION
from runs import binaries
from runs.errors import CannotRunHere
from runs.tests import needs


def test_a_schema_becomes_a_type_that_refuses_as_serde_does() -> None:
    mode = {
        "oneOf": [
            {"enum": ["on", "off"]},
            {
                "required": ["at"],
                "additionalProperties": False,
                "properties": {"at": {"type": "integer", "format": "uint8", "minimum": 0}},
            },
        ]
    }
    shape = {
        "type": "object",
        "properties": {"mode": mode, "tags": {"type": ["array", "null"], "items": {}}},
        "required": ["mode"],
    }
    form = condensed(shape)
    assert form == [
        "struct",
        {"mode": ["mixed", ["on", "off"], {"at": "u8"}], "tags": ["option", ["list", "any"]]},
        ["mode"],
    ]
    assert check({}, form, {"mode": {"at": 255}, "tags": None, "x": 1}) == ["$.x"]
    for value, text in (
        ({}, "missing field `mode`"),
        ({"mode": "up"}, "unknown variant `up`, expected one of `on`, `off`, `at`"),
        ({"mode": {"at": 256}}, "invalid value: integer `256`, expected u8"),
        ({"mode": "on", "tags": {}}, "invalid type: map, expected a sequence"),
    ):
        with pytest.raises(Invalid) as wrong:
            check({}, form, value)
        assert str(wrong.value) == text


def bundle(folder: Path, *, gated: bool) -> Path:
    """A tiny bundle; `gated` adds what only ``--experimental`` writes."""
    folder.mkdir()
    fields = {"threadId": {"type": "string"}, **({"secret": {"type": "string"}} if gated else {})}
    params = {"type": "object", "properties": fields, "required": ["threadId"]}
    methods = ["turn/start", *(["turn/guess"] if gated else [])]
    entries = [
        {
            "properties": {
                "method": {"enum": [method]},
                "params": {"$ref": "#/definitions/TurnStartParams"},
            },
            "required": ["id", "method", "params"],
        }
        for method in methods
    ]
    for name in ("ClientRequest", "ClientNotification", "ServerRequest", "ServerNotification"):
        document: dict[str, Any] = {"oneOf": entries if name == "ClientRequest" else []}
        document["definitions"] = {"TurnStartParams": params}
        (folder / f"{name}.json").write_text(json.dumps(document))
    return folder


def test_what_only_the_experimental_bundle_has_is_gated(tmp_path: Path) -> None:
    both = bundle(tmp_path / "all", gated=True), bundle(tmp_path / "plain", gated=False)
    table = condense("1.0.0", *both)
    assert table["gated"]["methods"] == ["turn/guess"]
    assert table["gated"]["fields"] == {"TurnStartParams": ["secret"]}
    assert table["bundle"] == {"experimental": digest(both[0]), "plain": digest(both[1])}
    assert json.loads(written(table)) == table


def test_it_checks_by_an_installed_bundle_and_says_so(tmp_path: Path) -> None:
    fake = install(tmp_path, "0.171.5", bundle(tmp_path / "bundle", gated=True))
    with Client(fake) as client:
        assert client.refusal("turn/start", {}) == "Invalid request: missing field `threadId`"
        assert client.refusal("model/list", {}).endswith("expected `turn/start` or `turn/guess`")
    spawn = fake.events("spawn")[0]
    assert (spawn["protocol"], spawn["checks"]) == ("0.171.5", "bundle")
    assert spawn["bundle"]["experimental"] == digest(tmp_path / "bundle")


def test_four_versions_are_kept_with_their_differences() -> None:
    assert versions() == ["0.120.0", "0.147.0", "0.160.0", "0.171.0"]
    kinds = [list(Protocol(one).words("SubAgentActivityKind")) for one in versions()]
    assert kinds == [
        [],
        ["started", "interacted", "interrupted"],
        ["started", "interacted", "interrupted", "completed"],
        ["started", "interacted", "interrupted", "completed"],
    ]
    assert [Protocol(one).stamps for one in versions()] == [False, True, True, True]
    with pytest.raises(ValueError, match="no table of 9.9.9"):
        Protocol("9.9.9")


@pytest.mark.binary
@pytest.mark.slow
@pytest.mark.django_db
def test_the_real_binary_still_gives_its_table_and_refusals() -> None:
    version = versions()[-1]
    try:
        path = Path(binaries.ensure("codex", version, lambda line: None).path)
    except CannotRunHere as missing:
        needs.lack(str(missing))
    assert written(make(path)) == (TABLES / f"{version}.json").read_text()
    _, texts = refusals(path, [*BEFORE, INTRODUCTION, *AFTER])
    assert texts == json.loads(DATA.read_text())[version]
