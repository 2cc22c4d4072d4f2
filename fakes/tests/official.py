"""The official clients of three dialects, and how a test asks by them."""

from __future__ import annotations

from typing import Any

import anthropic
import openai

from fakes.tests.support import CHILD, Served, request_body

DIALECTS = ("responses", "chat_completions", "messages")
"""Google's client is another kind: `test_official_google.py`."""
TEXT = "CHILD-OK 1."


def library(dialect: str) -> Any:
    return anthropic if dialect == "messages" else openai


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


def official(served: Served, dialect: str, timeout: float = 20) -> Any:
    """The official client of a dialect, without retries of its own."""
    module = library(dialect)
    maker = module.AsyncAnthropic if module is anthropic else module.AsyncOpenAI
    base = served.base if module is anthropic else f"{served.base}/v1"
    sockets = module.DefaultAsyncHttpxClient(verify=False, trust_env=False, timeout=timeout)
    return maker(api_key="x", base_url=base, max_retries=0, timeout=timeout, http_client=sockets)
