"""The fake refuses what the real binaries refuse, in their words (recorded from them)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.codex_app_server.harness import install
from fakes.codex_app_server.protocol import versions
from fakes.tests.codex_app_server.client import Client
from fakes.tests.codex_app_server.mistakes import AFTER, BEFORE, DATA, INTRODUCTION

RECORDED = json.loads(DATA.read_text())


@pytest.mark.parametrize("version", versions())
def test_it_refuses_as_that_version_does_fx_1_fx_2_fx_6(version: str, tmp_path: Path) -> None:
    fake = install(tmp_path, version)
    requests = [*BEFORE, INTRODUCTION, *AFTER]
    different = []
    with Client(fake) as client:
        for (method, params), text in zip(requests, RECORDED[version], strict=True):
            found = client.answer(client.request(method, params)).get("error", {})
            if found.get("message", "") != text:
                different.append((method, params, text, found))
    assert not different
