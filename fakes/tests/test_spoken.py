"""A conversation in short words."""

from __future__ import annotations

from fakes.dialect import ToolCall, Turn
from fakes.spoken import MOST, digest, spoken


def test_it_tells_texts_by_their_digest_and_tools_by_the_ids_of_their_calls() -> None:
    turns = [
        Turn("system", "You are."),
        Turn("user", " go on\n"),
        Turn("assistant", "", (ToolCall("send", {}, id="c1"),)),
        Turn("tool", "done", call_id="c1"),
        Turn("assistant", "go on"),
    ]
    mark = digest("go on")
    assert spoken(turns) == [f"user {mark}", "call c1", "output c1", f"assistant {mark}"]


def test_it_tells_nothing_of_a_conversation_without_end() -> None:
    assert spoken([Turn("user", "a")] * (MOST + 1)) == []
    assert digest(" ") == ""
