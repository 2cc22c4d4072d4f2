"""The official clients agree: they parse what is good and raise what they document.

openai: https://github.com/openai/openai-python#handling-errors
anthropic: https://github.com/anthropics/anthropic-sdk-python#handling-errors
Both say: APIConnectionError when the API cannot be reached, APITimeoutError when it
takes too long, and by status BadRequestError, AuthenticationError … InternalServerError.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

import anthropic
import openai
import pytest

from fakes.fault import make_fault
from fakes.tests.support import CHILD, DIALECTS, FORMS, ROOT, Served, fast, request_body

TEXT = "CHILD-OK 1."
HASTE = 0.5
"""Seconds after which a client here gives up."""


def library(dialect: str) -> Any:
    return anthropic if dialect == "messages" else openai


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., Any]]:
    """Makes the official client of a dialect, without retries of its own."""
    made = []

    def make(served: Served, dialect: str, timeout: float = 20) -> Any:
        module = library(dialect)
        maker = module.AsyncAnthropic if module is anthropic else module.AsyncOpenAI
        base = served.base if module is anthropic else f"{served.base}/v1"
        sockets = module.DefaultAsyncHttpxClient(verify=False, trust_env=False, timeout=timeout)
        client = maker(
            api_key="x", base_url=base, max_retries=0, timeout=timeout, http_client=sockets
        )
        made.append(client)
        return client

    yield make
    for client in made:
        await client.close()


async def ask(client: Any, dialect: str, form: str, prompt: str = CHILD) -> Any:
    """The plain answer, or the list of a stream's events."""
    call = {
        "responses": lambda c: c.responses.create,
        "chat_completions": lambda c: c.chat.completions.create,
        "messages": lambda c: c.messages.create,
    }[dialect](client)
    answer = await call(**request_body(dialect, form, prompt))
    return [event async for event in answer] if form == "stream" else answer


def words(dialect: str, form: str, answer: Any) -> str:
    """The text of an answer."""
    if form == "plain":
        return {
            "responses": lambda a: a.output_text,
            "chat_completions": lambda a: a.choices[0].message.content,
            "messages": lambda a: a.content[0].text,
        }[dialect](answer)
    deltas = {
        "responses": lambda e: e.delta if e.type == "response.output_text.delta" else "",
        "chat_completions": lambda e: e.choices[0].delta.content or "",
        "messages": lambda e: e.delta.text if e.type == "content_block_delta" else "",
    }[dialect]
    return "".join(deltas(event) for event in answer)


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


STATUSES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    408: "APIStatusError",
    413: "APIStatusError",
    429: "RateLimitError",
    500: "InternalServerError",
    502: "InternalServerError",
    503: "InternalServerError",
    529: "InternalServerError",
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("status", STATUSES)
async def test_they_raise_the_class_of_the_status(
    serve: Callable[..., Any], connect: Callable[..., Any], dialect: str, status: int
) -> None:
    fault = make_fault("http-status", {"status": status, "retry_after": 2.0, "code": "lifeline"})
    served: Served = await serve(fault)
    client = connect(served, dialect)
    for number, form in enumerate(FORMS, 1):
        with pytest.raises(getattr(library(dialect), STATUSES[status])) as raised:
            await ask(client, dialect, form)
        error = raised.value
        assert error.status_code == status
        assert error.request_id == f"req_r{number}"
        assert error.response.headers["retry-after"] == "2"
        if dialect != "messages":
            assert error.code == "lifeline"
        elif status in (429, 529):
            assert error.body["error"]["type"] in ("rate_limit_error", "overloaded_error")
    assert {r["retry_after"] for r in served.said("request.ended")} == {2.0}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_they_read_retry_after_as_a_date_and_the_rate_limits(
    serve: Callable[..., Any], connect: Callable[..., Any], dialect: str
) -> None:
    settings = {"status": 429, "retry_after": 30.0, "retry_after_form": "date"}
    served: Served = await serve(make_fault("http-status", settings))
    with pytest.raises(library(dialect).RateLimitError) as raised:
        await ask(connect(served, dialect), dialect, "plain")
    headers = raised.value.response.headers
    assert 25 < parsedate_to_datetime(headers["retry-after"]).timestamp() - time() <= 31
    kind = "anthropic-ratelimit-requests" if dialect == "messages" else "x-ratelimit"
    named = f"{kind}-remaining" if dialect == "messages" else f"{kind}-remaining-requests"
    assert headers[named] == "0"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["reset-before-headers", "refused", "garbage-status"])
async def test_they_cannot_connect(
    serve: Callable[..., Any], connect: Callable[..., Any], name: str, form: str, dialect: str
) -> None:
    served: Served = await serve(fast(name))
    with pytest.raises(library(dialect).APIConnectionError):
        await ask(connect(served, dialect), dialect, form)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["stall-headers", "stall"])
async def test_they_time_out(
    serve: Callable[..., Any], connect: Callable[..., Any], name: str, form: str, dialect: str
) -> None:
    served: Served = await serve(fast(name))
    with pytest.raises(Exception) as raised:
        await ask(connect(served, dialect, HASTE), dialect, form)
    raised_by = [raised.value, raised.value.__cause__]
    kinds = {type(error).__name__ for error in raised_by}
    # Inside a stream that runs, anthropic lets its transport's own exception through.
    allowed = {"APITimeoutError"} | (
        {"ReadTimeout"} if (dialect, name) == ("messages", "stall") else set()
    )
    assert kinds & allowed


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["chunk-cut", "cut-after", "reset-mid-body"])
async def test_they_lose_the_connection(
    serve: Callable[..., Any], connect: Callable[..., Any], name: str, form: str, dialect: str
) -> None:
    served: Served = await serve(fast(name, form))
    with pytest.raises(Exception) as raised:
        await ask(connect(served, dialect), dialect, form)
    kinds = {type(error).__name__ for error in (raised.value, raised.value.__cause__)}
    streamed = dialect == "messages" and form == "stream"
    allowed = {"RemoteProtocolError", "ReadError"} if streamed else {"APIConnectionError"}
    assert kinds & allowed


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("form", FORMS)
async def test_they_cannot_parse_malformed_json(
    serve: Callable[..., Any], connect: Callable[..., Any], form: str, dialect: str
) -> None:
    served: Served = await serve("malformed-json")
    with pytest.raises(json.JSONDecodeError):
        await ask(connect(served, dialect), dialect, form)


async def test_they_raise_or_hand_on_an_error_event(
    serve: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    served: Served = await serve("sse-error")
    with pytest.raises(openai.APIError, match="server_error"):
        await ask(connect(served, "chat_completions"), "chat_completions", "stream")
    with pytest.raises(anthropic.APIStatusError) as raised:
        await ask(connect(served, "messages"), "messages", "stream")
    assert raised.value.request_id == "req_r2"
    # The Responses API sends its error event flat; the client hands it on as an event.
    last = (await ask(connect(served, "responses"), "responses", "stream"))[-1]
    assert (last.type, last.code) == ("error", "server_error")


async def test_they_see_a_response_that_failed_or_is_incomplete(
    serve: Callable[..., Any], connect: Callable[..., Any]
) -> None:
    failed: Served = await serve(make_fault("response-failed", {"code": "rate_limit_exceeded"}))
    for form in FORMS:
        answer = await ask(connect(failed, "responses"), "responses", form)
        response = answer[-1].response if form == "stream" else answer
        assert (response.status, response.error.code) == ("failed", "rate_limit_exceeded")
    short: Served = await serve("response-incomplete")
    response = await ask(connect(short, "responses"), "responses", "plain")
    assert response.incomplete_details.reason == "max_output_tokens"
    chunks = await ask(connect(short, "chat_completions"), "chat_completions", "stream")
    assert chunks[-1].choices[0].finish_reason == "length"
    message = await ask(connect(short, "messages"), "messages", "plain")
    assert message.stop_reason == "max_tokens"


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
