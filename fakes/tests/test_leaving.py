"""Clients that leave: before the terminal event of a stream, and once they have it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from fakes.answer import Answer
from fakes.fault import Fault
from fakes.tests.support import Served, http, path_of, request_body


@dataclass(frozen=True)
class Lingers(Fault):
    """Sends all but `kept` pieces and keeps the connection open."""

    kept: int = 0
    name = "lingers"
    title = sentence = seen = picture = "It lingers."

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        await answer.send(answer.pieces[: len(answer.pieces) - self.kept])
        answer.mark("lingers")
        await answer.hold()

    def error_class(self) -> str:
        return ""


@pytest.mark.parametrize(("kept", "error"), [(0, ""), (1, "aborted")])
async def test_who_leaves_with_the_terminal_event_has_a_whole_answer(
    serve: Callable[..., Any], kept: int, error: str
) -> None:
    served: Served = await serve("success")
    served.provider.aimed = [replace(one, fault=Lingers(kept)) for one in served.provider.aimed]
    body = json.dumps(request_body("responses", "stream")).encode()
    async with http() as client:
        where = served.base + path_of("responses")
        async with client.stream("POST", where, content=body) as answer:
            async for _ in answer.aiter_bytes():
                if served.said("fault.fired"):
                    break
    await served.settled()
    [ended] = served.said("request.ended")
    found = (ended["closed"], ended["complete"], ended["error_class"])
    assert found == ("client-gone", not kept, error)
