"""Google's official client (google-genai) on the Gemini dialect.

https://googleapis.github.io/python-genai/#error-handling: an ``APIError`` has code, status and
message; 4xx are ``ClientError``, 5xx ``ServerError``. Errors of the transport come through as
they are, and so does a body that cannot be parsed.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from google import genai
from google.genai import errors, types

from fakes.fault import make_fault
from fakes.tests.official import TEXT
from fakes.tests.support import CHILD, FORMS, ROOT, TOOL_NAMES, Served, fast

SOCKETS = {"trust_env": False, "verify": False}

Ask = Callable[..., Any]


@pytest.fixture
async def ask(serve: Callable[..., Any]) -> AsyncIterator[Ask]:
    """Serves a fault and asks the client: the plain answer, or the list of a stream's events."""
    clients = []

    async def asked(*faults: Any, form: str, prompt: str = CHILD, **more: Any) -> Any:
        timeout = more.pop("timeout", 20_000)
        served: Served = await serve(*faults, **more)
        options = types.HttpOptions(
            base_url=served.base, timeout=timeout, async_client_args=SOCKETS
        )
        client = genai.Client(api_key="x", http_options=options).aio
        clients.append(client)
        declared = [
            types.FunctionDeclaration(name=name, parameters_json_schema={"type": "object"})
            for name in TOOL_NAMES
        ]
        settings = types.GenerateContentConfig(
            system_instruction="Be brief.",
            tools=[types.Tool(function_declarations=declared)],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        given = {"model": "gpt-5.4", "contents": prompt, "config": settings}
        if form == "plain":
            return await client.models.generate_content(**given)
        stream = await client.models.generate_content_stream(**given)
        return [event async for event in stream]

    yield asked
    for client in clients:
        await client.aclose()


def words(answer: Any) -> str:
    """The text of an answer in either form."""
    return "".join(each.text or "" for each in (answer if isinstance(answer, list) else [answer]))


def last(answer: Any) -> Any:
    """The answer itself, or the last event of its stream."""
    return answer[-1] if isinstance(answer, list) else answer


@pytest.mark.parametrize("form", FORMS)
async def test_it_parses_text_usage_and_the_end(ask: Ask, form: str) -> None:
    answer = await ask(form=form)
    end = last(answer)
    assert words(answer).startswith(TEXT) and len(words(answer).split()) >= 23
    assert end.candidates[0].finish_reason == types.FinishReason.STOP
    used = end.usage_metadata
    assert used.total_token_count == used.prompt_token_count + used.candidates_token_count
    assert used.candidates_token_count > 1
    assert (end.model_version, end.response_id) == ("gpt-5.4", "r1")


@pytest.mark.parametrize("form", FORMS)
async def test_it_parses_several_function_calls(ask: Ask, form: str) -> None:
    answer = await ask(form=form, prompt=ROOT, script="delegate-many")
    events = answer if form == "stream" else [answer]
    calls = [call for event in events for call in event.function_calls or []]
    assert [(call.id, call.name) for call in calls] == [
        ("call_r1_0", "task"),
        ("call_r1_1", "task"),
    ]
    assert "LIFELINE-TASK-2" in calls[1].args["prompt"]


async def test_it_lists_models_and_counts_tokens(serve: Callable[..., Any]) -> None:
    served: Served = await serve(model="m-1")
    options = types.HttpOptions(base_url=served.base, async_client_args=SOCKETS)
    async with genai.Client(api_key="x", http_options=options).aio as client:
        assert [model.name async for model in await client.models.list()] == ["models/m-1"]
        counted = await client.models.count_tokens(model="m-1", contents="some words")
    assert counted.total_tokens >= 1 and served.records == []


@pytest.mark.parametrize(
    "name",
    [
        *("success", "drip", "slow-first-byte", "duplicate-terminal", "reordered-events"),
        *("oversized-event", "wrong-content-type"),
    ],
)
async def test_it_parses_what_is_only_odd(ask: Ask, name: str) -> None:
    text = words(await ask(fast(name), form="stream"))
    assert "CHILD-OK" in text and len(text.split()) >= 23


@pytest.mark.parametrize("name", ["sse-cut", "no-terminal"])
async def test_it_takes_a_cut_stream_without_a_word(ask: Ask, name: str) -> None:
    """Why the cut matters: iterating gives no error, only no finish reason."""
    seen = await ask(name, form="stream")
    assert words(seen).startswith(TEXT)
    assert [event.candidates[0].finish_reason for event in seen] == [None] * len(seen)


@pytest.mark.parametrize("form", FORMS)
async def test_it_sees_that_the_model_stopped_at_its_limit(ask: Ask, form: str) -> None:
    end = last(await ask("response-incomplete", form=form))
    assert end.candidates[0].finish_reason == types.FinishReason.MAX_TOKENS


STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", STATUSES)
async def test_it_raises_the_class_of_the_status(ask: Ask, status: int, form: str) -> None:
    fault = make_fault("http-status", {"status": status, "retry_after": 2.0})
    kind = errors.ClientError if status < 500 else errors.ServerError
    with pytest.raises(kind) as raised:
        await ask(fault, form=form)
    assert (raised.value.code, raised.value.status) == (status, STATUSES[status])
    assert raised.value.message == f"Lifeline answers {status}."
    assert raised.value.response.headers["retry-after"] == "2"


@pytest.mark.parametrize("name", ["sse-error", "error-200"])
async def test_it_raises_for_an_error_inside_of_a_stream(ask: Ask, name: str) -> None:
    with pytest.raises(errors.ServerError) as raised:
        await ask(name, form="stream")
    assert (raised.value.code, raised.value.status) == (500, "INTERNAL")


@pytest.mark.parametrize("name", ["malformed-json", "html-200"])
async def test_it_cannot_parse_what_is_no_json(ask: Ask, name: str) -> None:
    with pytest.raises(errors.UnknownApiResponseError):
        await ask(name, form="stream")
    with pytest.raises(json.JSONDecodeError):
        await ask(name, form="plain")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("reset-before-headers", {"ReadError"}),
        ("refused", {"ConnectError"}),
        ("garbage-status", {"RemoteProtocolError"}),
        ("chunk-cut", {"RemoteProtocolError"}),
        ("cut-after", {"RemoteProtocolError"}),
        ("reset-mid-body", {"ReadError"}),
        ("stall", {"ReadTimeout"}),
        ("stall-headers", {"ReadTimeout"}),
    ],
)
async def test_it_lets_the_transports_errors_through(
    ask: Ask, name: str, kinds: set[str], form: str
) -> None:
    timeout = 500 if "ReadTimeout" in kinds else 20_000
    with pytest.raises(Exception) as raised:
        await ask(fast(name, form), form=form, timeout=timeout)
    assert {type(raised.value).__name__} == kinds
