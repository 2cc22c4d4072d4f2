"""The official clients parse every good answer, streamed and plain."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from fakes.tests.official import DIALECTS, TEXT, ask, words
from fakes.tests.support import CHILD, ROOT, Served, fast


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_they_parse_text_in_both_forms(
    serve: Callable[..., Any], connect: Callable[..., Any], dialect: str
) -> None:
    served: Served = await serve()
    client = connect(served, dialect)
    plain = words(dialect, "plain", await ask(client, dialect, "plain"))
    streamed = words(dialect, "stream", await ask(client, dialect, "stream"))
    assert plain == streamed and plain.startswith(TEXT)
    assert [model.id async for model in client.models.list()] == ["gpt-5.4"]


async def test_they_put_a_streamed_response_together(
    serve: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    served: Served = await serve()
    async with connect(served, "responses").responses.stream(model="m", input=CHILD) as stream:
        numbers = [event.sequence_number async for event in stream]
        response = await stream.get_final_response()
    assert numbers == list(range(len(numbers)))
    assert response.output_text.startswith(TEXT) and response.status == "completed"
    assert response.usage.total_tokens > response.usage.output_tokens > 0


async def test_they_put_a_streamed_completion_together(
    serve: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    served: Served = await serve()
    asked = {"model": "m", "messages": [{"role": "user", "content": CHILD}]}
    completions = connect(served, "chat_completions").chat.completions
    async with completions.stream(**asked, stream_options={"include_usage": True}) as stream:
        final = await stream.get_final_completion()
    assert final.choices[0].message.content.startswith(TEXT)
    assert final.choices[0].finish_reason == "stop" and final.usage.total_tokens > 0


async def test_they_put_a_streamed_message_together(
    serve: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    served: Served = await serve()
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": CHILD}]}
    async with connect(served, "messages").messages.stream(**asked) as stream:
        final = await stream.get_final_message()
    assert final.content[0].text.startswith(TEXT) and final.stop_reason == "end_turn"
    assert final.usage.output_tokens > 1


def plain_calls(dialect: str, answer: Any) -> list[tuple[str, str, dict[str, Any]]]:
    """Id, name and arguments of the calls of a plain answer."""
    if dialect == "responses":
        return [(c.call_id, c.name, json.loads(c.arguments)) for c in answer.output]
    if dialect == "chat_completions":
        calls = answer.choices[0].message.tool_calls
        return [(c.id, c.function.name, json.loads(c.function.arguments)) for c in calls]
    return [(block.id, block.name, block.input) for block in answer.content]


def streamed_calls(dialect: str, seen: list[Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """The same, put together from a stream's events."""
    parts: dict[int, list[str]] = {}
    for event in seen:
        if dialect == "responses":
            if event.type == "response.output_item.added":
                parts[event.output_index] = [event.item.call_id, event.item.name, ""]
            elif event.type == "response.function_call_arguments.delta":
                parts[event.output_index][2] += event.delta
        elif dialect == "chat_completions":
            for call in event.choices[0].delta.tool_calls or []:
                known = parts.setdefault(call.index, [call.id, call.function.name, ""])
                known[2] += call.function.arguments
        elif event.type == "content_block_start":
            parts[event.index] = [event.content_block.id, event.content_block.name, ""]
        elif event.type == "content_block_delta":
            parts[event.index][2] += event.delta.partial_json
    return [(call_id, name, json.loads(text)) for call_id, name, text in parts.values()]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_they_parse_several_tool_calls(
    serve: Callable[..., Any], connect: Callable[..., Any], dialect: str
) -> None:
    served: Served = await serve(script="delegate-many")
    client = connect(served, dialect)
    plain = plain_calls(dialect, await ask(client, dialect, "plain", ROOT))
    streamed = streamed_calls(dialect, await ask(client, dialect, "stream", ROOT))
    assert [(name, given) for _, name, given in plain] == [(n, g) for _, n, g in streamed]
    assert [name for _, name, _ in plain] == ["task", "task"]
    assert "LIFELINE-TASK-2" in plain[1][2]["prompt"]
    ids = [call_id for call_id, _, _ in plain + streamed]
    assert len(set(ids)) == 4
    assert all(
        call_id.startswith("toolu_" if dialect == "messages" else "call_") for call_id in ids
    )


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_they_take_a_cut_stream_without_a_word(
    serve: Callable[..., Any], connect: Callable[..., Any], dialect: str
) -> None:
    """Why the cut matters: iterating gives no error, only no terminal event."""
    served: Served = await serve("sse-cut")
    seen = await ask(connect(served, dialect), dialect, "stream")
    text = words(dialect, "stream", seen)
    assert text.startswith(TEXT) and len(text.split()) == 12 + (len(TEXT.split()) - 2)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "name",
    [
        "success",
        "drip",
        "slow-first-byte",
        "duplicate-terminal",
        "reordered-events",
        "oversized-event",
        "wrong-content-type",
    ],
)
async def test_they_parse_what_is_only_odd(
    serve: Callable[..., Any], connect: Callable[..., Any], name: str, dialect: str
) -> None:
    served: Served = await serve(fast(name))
    text = words(dialect, "stream", await ask(connect(served, dialect), dialect, "stream"))
    assert "CHILD-OK" in text and len(text.split()) >= 23
