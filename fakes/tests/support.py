"""What the tests share: a provider with its journal, and requests as agents send them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from fakes.dialect import dialects
from fakes.fault import Fault, aim, faults, make_fault
from fakes.provider import Provider
from fakes.script import Script, make_script, task
from fakes.targeting import ROOT_MARKER
from fakes.tools import PlainTools

DIALECTS = ("responses", "chat_completions", "messages", "generate_content")
FORMS = ("stream", "plain")
CHILD = task("1").prompt
ROOT = f"{ROOT_MARKER} Delegate this."
TOOL_NAMES = ("task", "wait", "work")


@dataclass
class Served:
    """A running provider; `records` is its journal."""

    provider: Provider
    records: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    async def start(
        cls, *given: Fault | str | Mapping[str, Any], script: Script | str, **more: Any
    ) -> Served:
        """Faults by name hit every attempt of any child; mappings are a scenario's entries."""
        records: list[dict[str, Any]] = []
        provider = Provider(
            make_script(script) if isinstance(script, str) else script,
            tools=more.pop("tools", PlainTools()),
            faults=[_aimed(each) for each in given],
            record=records.append,
            **more,
        )
        await provider.start()
        return cls(provider, records)

    @property
    def base(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self.provider.port}"

    def said(self, what: str, **wanted: Any) -> list[dict[str, Any]]:
        """The records of a kind, with these values."""
        return [
            r
            for r in self.records
            if r["what"] == what and all(r[key] == value for key, value in wanted.items())
        ]

    async def until(self, what: str, count: int) -> None:
        """Returns when the journal has so many records of a kind."""
        async with asyncio.timeout(20):
            while len(self.said(what)) < count:
                await asyncio.sleep(0.005)

    async def settled(self) -> None:
        """Returns when every exchange has ended in the journal."""
        await self.until("request.ended", len(self.said("request.received")))

    async def reopened(self) -> None:
        """Returns when its port takes connections again."""
        async with asyncio.timeout(20):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.provider.port)
                    return writer.close()
                except OSError:
                    await asyncio.sleep(0.01)

    async def post(
        self, dialect: str, form: str, prompt: str = CHILD, client: httpx.AsyncClient | None = None
    ) -> httpx.Response:
        """A whole answer by httpx."""
        body = request_body(dialect, form, prompt)
        if client is not None:
            return await client.post(self.base + path_of(dialect, form), json=body)
        async with http() as own:
            return await own.post(self.base + path_of(dialect, form), json=body)


def http(timeout: float = 20, **more: Any) -> httpx.AsyncClient:
    """A client for loopback (`verify` off: reading certificates is what takes time)."""
    return httpx.AsyncClient(timeout=timeout, trust_env=False, verify=False, **more)


def _aimed(given: Fault | str | Mapping[str, Any]) -> Any:
    if isinstance(given, str):
        return aim({"fault": given})
    if isinstance(given, Fault):
        from fakes.settings import stored

        return aim({"fault": given.name, **stored(given)})
    return aim(given)


def path_of(dialect: str, form: str = "stream") -> str:
    """Where requests of a dialect go; `form` stands in the path of some."""
    if dialect == "generate_content":
        kind = "streamGenerateContent?alt=sse" if form == "stream" else "generateContent"
        return f"/v1beta/models/gpt-5.4:{kind}"
    return f"/v1{dialects()[dialect].ending}"


def request_body(
    dialect: str, form: str, prompt: str = CHILD, tools: bool = True
) -> dict[str, Any]:
    """A first request of an agent with this prompt."""
    said = [{"role": "user", "content": prompt}]
    body: dict[str, Any] = {"model": "gpt-5.4", "stream": form == "stream"}
    schema = {"type": "object", "properties": {}}
    names = TOOL_NAMES if tools else ()
    if dialect == "responses":
        functions = [{"type": "function", "name": n, "parameters": schema} for n in names]
        return {**body, "input": said, "tools": functions}
    if dialect == "chat_completions":
        inner = [{"type": "function", "function": {"name": n, "parameters": schema}} for n in names]
        return {**body, "messages": said, "tools": inner}
    if dialect == "generate_content":
        declared = [{"name": n, "parameters": schema} for n in names]
        asked = [{"role": "user", "parts": [{"text": prompt}]}]
        return {"contents": asked, "tools": [{"functionDeclarations": declared}]}
    own = [{"name": n, "input_schema": schema} for n in names]
    return {**body, "messages": said, "max_tokens": 1000, "tools": own}


def combinations(only: str | None = None) -> Iterator[tuple[str, str, str]]:
    """Every fault, dialect and form that has a meaning."""
    for name in faults():
        for dialect in DIALECTS:
            for form in FORMS:
                fault = fast(name, form)
                if only in (None, name) and not fault.why_not(dialect, form == "stream"):
                    yield name, dialect, form


QUICK: dict[str, dict[str, Any]] = {
    "drip": {"seconds": 0.3},
    "slow-first-byte": {"seconds": 0.3},
    "keepalive-only": {"every": 0.1},
    "oversized-event": {"kib": 64},
}
"""Settings that make a fault fit for a test."""


def fast(name: str, form: str = "stream") -> Fault:
    """The fault with settings that take a test no longer than it must."""
    settings = dict(QUICK.get(name, {}))
    if name == "cut-after" and form == "plain":
        settings |= {"unit": "bytes", "count": 40}
    return make_fault(name, settings)


def events(body: bytes) -> list[bytes]:
    """The events of a stream, without comments; an unfinished one is not among them."""
    whole = body.split(b"\n\n")[:-1]
    return [event for event in whole if not event.startswith(b":")]


def data(body: bytes) -> list[Any]:
    """The data of a good stream's events."""
    lines = [event.split(b"data: ", 1)[1] for event in events(body)]
    return [json.loads(line) for line in lines if line != b"[DONE]"]


def task_prompt(path: str) -> str:
    """The prompt of the child with this path."""
    return task(path).prompt


def is_request(served: Served, caller: str, **wanted: Any) -> dict[str, Any]:
    """The only ended request of a caller with these values."""
    [record] = served.said("request.ended", caller=caller, **wanted)
    return record
