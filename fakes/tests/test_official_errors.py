"""The official clients raise for a fault what they document.

openai: https://github.com/openai/openai-python#handling-errors
anthropic: https://github.com/anthropics/anthropic-sdk-python#handling-errors
Both say: APIConnectionError when the API cannot be reached, APITimeoutError when it
takes too long, and by status BadRequestError, AuthenticationError … InternalServerError.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

import anthropic
import openai
import pytest

from fakes.fault import make_fault
from fakes.tests.official import DIALECTS, ask, library
from fakes.tests.support import FORMS, Served, fast

HASTE = 0.5
"""Seconds after which a client here gives up."""

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
