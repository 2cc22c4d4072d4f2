"""JSON that is nested deeper than our stack is an agent's to write; it is no error of ours."""

from __future__ import annotations

from fakes.dialect import ModelRequest, Turn
from runs.drivers.hermes import gateway
from runs.drivers.reference import Tools

DEEP = "[" * 60_000


def test_it_is_no_record_of_the_gateway() -> None:
    assert gateway._parsed(DEEP.encode()) is None


def test_it_is_no_output_of_a_tool() -> None:
    turns = (Turn(role="tool", text=DEEP),)
    request = ModelRequest("responses", "m", True, turns, (), "/", {}, {})
    assert Tools().children(request) == {}
