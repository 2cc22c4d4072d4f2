"""Every fault, in every dialect and form that it means something to, as real clients see it.

`SEEN` says what httpx and curl observe. Beyond it one thing holds everywhere: the
client gets exactly the bytes that the journal counts, neither more nor fewer.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import httpx
import pytest

from fakes.fault import Fault, faults, make_fault
from fakes.refusals import kernel_refusals
from fakes.tests.support import Served, combinations, events, fast, http, path_of, request_body
from runs.tests import needs

SILENCE, PATIENCE = 0.8, 20.0
"""Seconds after which a client here gives up: on an answer that never ends, on any other."""


class Seen(NamedTuple):
    """`error`: class of httpx's exception; `curl`: its exit code; `status`: None: no headers."""

    error: str
    curl: int
    body: str
    status: int | None = 200


GOOD = ("", 0, "whole")
SEEN = {
    "success": Seen(*GOOD),
    "sse-cut": Seen("", 0, "part"),
    "chunk-cut": Seen("RemoteProtocolError", 18, "part"),
    "cut-after": Seen("RemoteProtocolError", 18, "part"),
    "cut-after-terminal": Seen("RemoteProtocolError", 18, "whole"),
    "reset-before-headers": Seen("ReadError", 56, "empty", None),
    "reset-mid-body": Seen("ReadError", 56, "part"),
    "refused": Seen("ConnectError", 7, "empty", None),
    "garbage-status": Seen("RemoteProtocolError", 1, "empty", None),
    "http-status": Seen("", 0, "other", 500),
    "stall-headers": Seen("timeout", 28, "empty", None),
    "stall": Seen("timeout", 28, "part"),
    "keepalive-only": Seen("timeout", 28, "blank"),
    "drip": Seen(*GOOD),
    "slow-first-byte": Seen(*GOOD),
    "malformed-json": Seen("", 0, "other"),
    "sse-error": Seen("", 0, "part"),
    "response-failed": Seen("", 0, "other"),
    "response-incomplete": Seen("", 0, "other"),
    "empty-200": Seen("", 0, "empty"),
    "error-200": Seen("", 0, "other"),
    "html-200": Seen("", 0, "other"),
    "short-content-length": Seen("", 0, "part"),
    "no-terminal": Seen("", 0, "part"),
    "duplicate-terminal": Seen("", 0, "whole"),
    "duplicated-events": Seen("", 0, "whole"),
    "reordered-events": Seen("", 0, "whole"),
    "truncated-arguments": Seen("", 0, "whole"),
    "oversized-event": Seen("", 0, "whole"),
    "wrong-content-type": Seen(*GOOD),
}
"""What a client sees of each fault with its usual settings."""

TERMINAL = (b"response.completed", b'finish_reason":"', b"message_stop", b'"finishReason":"')


def test_it_says_of_every_fault_what_a_client_sees() -> None:
    assert set(SEEN) == set(faults())


async def read(
    client: httpx.AsyncClient, url: str, body: dict[str, Any], patience: float = PATIENCE
) -> tuple[Any, bytes, str]:
    """Status, bytes as they came, and the class of the exception."""
    status, received, error = None, bytearray(), ""
    try:
        async with asyncio.timeout(patience), client.stream("POST", url, json=body) as answer:
            status = answer.status_code
            async for part in answer.aiter_raw():
                received += part
    except TimeoutError:
        error = "timeout"
    except httpx.HTTPError as trouble:
        error = type(trouble).__name__
    return status, bytes(received), error


def is_whole(body: bytes, form: str) -> bool:
    if form == "stream":
        return any(word in event for event in events(body) for word in TERMINAL)
    try:
        return bool(json.loads(body))
    except ValueError:
        return False


def check_body(kind: str, body: bytes, form: str) -> None:
    if kind == "empty":
        assert body == b""
    elif kind == "blank":
        assert body and body.replace(b": keep-alive", b"").strip() == b""
    elif kind in ("whole", "part"):
        assert body
        assert is_whole(body, form) is (kind == "whole")


@pytest.mark.parametrize(("name", "dialect", "form"), list(combinations()))
async def test_it_breaks_the_answer_as_said(
    serve: Callable[..., Any], name: str, dialect: str, form: str
) -> None:
    fault = fast(name, form)
    seen = SEEN[name]
    served: Served = await serve(fault)
    url, request = served.base + path_of(dialect, form), request_body(dialect, form)
    patience = SILENCE if seen.error == "timeout" else PATIENCE
    started = time.monotonic()
    async with http(follow_redirects=True) as client:
        (status, body, error), (code, copied) = await asyncio.gather(
            read(client, url, request, patience), curl(url, request, patience)
        )
    took = time.monotonic() - started
    assert (status, error, code) == (seen.status, seen.error, seen.curl)
    check_body(seen.body, body, form)
    check_body(seen.body, copied, form)
    assert took >= getattr(fault, "seconds", 0) or name == "refused"
    await served.settled()
    journal(served, fault, [body, copied], form)


async def curl(url: str, request: dict[str, Any], patience: float = PATIENCE) -> tuple[int, bytes]:
    """curl's exit code and the bytes that it got. -L: it follows redirects as agents do."""
    process = await asyncio.create_subprocess_exec(
        *(
            needs.program("curl"),
            "-sNL",
            "--noproxy",
            "*",
            "-m",
            str(patience),
            "-d",
            json.dumps(request),
            url,
        ),
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output


def journal(served: Served, fault: Fault, bodies: list[bytes], form: str) -> None:
    """The journal agrees with what the clients got."""
    ended = served.said("request.ended")
    assert {r["attempt"] for r in ended} == {1, 2}
    assert served.provider.undelivered() == []
    assert served.provider.delivered[0] == 2
    for record in ended:
        marks = served.said("fault.fired", request=record["request"])
        assert marks and marks[0]["fault"] == record["fault"] == fault.name
        assert record["complete"] is (fault.error_class() == "")
        assert record["error_class"] == fault.error_class()
    if fault.name == "short-content-length":
        assert all(record["bytes"] > len(bodies[0]) for record in ended)
        return
    sent = sorted(record["bytes"] for record in ended)
    if SEEN[fault.name].error == "timeout":  # what was on its way when the client gave up
        assert all(a >= b for a, b in zip(sent, sorted(map(len, bodies)), strict=True))
    else:
        assert sent == sorted(map(len, bodies))
    if form == "stream" and b"data: " in bodies[0]:
        assert {record["events"] for record in ended} == {len(events(bodies[0]))}


async def seen_by_curl(
    serve: Callable[..., Any], fault: Fault, form: str = "stream"
) -> tuple[int, bytes]:
    served: Served = await serve(fault)
    return await curl(served.base + path_of("responses"), request_body("responses", form))


async def test_it_closes_before_the_headers_by_fin_as_well(serve: Callable[..., Any]) -> None:
    assert await seen_by_curl(serve, make_fault("reset-before-headers", {"by": "fin"})) == (52, b"")


@pytest.mark.parametrize(("by", "code"), [("end", 0), ("fin", 18), ("rst", 56)])
@pytest.mark.parametrize("count", [0, 1, 777])
async def test_it_cuts_after_exactly_so_many_bytes(
    serve: Callable[..., Any], by: str, code: int, count: int
) -> None:
    fault = make_fault("cut-after", {"unit": "bytes", "count": count, "by": by})
    got, body = await seen_by_curl(serve, fault)
    assert (got, len(body)) == (code, count)


async def test_it_does_not_claim_a_cut_beyond_the_end(serve: Callable[..., Any]) -> None:
    served: Served = await serve(make_fault("cut-after", {"count": 10_000}))
    assert is_whole((await served.post("responses", "stream")).content, "stream")
    await served.settled()
    assert len(served.provider.undelivered()) == 1
    assert served.said("request.ended")[0]["complete"] is True


async def test_it_announces_more_than_it_sends(serve: Callable[..., Any]) -> None:
    code, body = await seen_by_curl(serve, make_fault("short-content-length", {"short": "body"}))
    assert code == 18 and body and not is_whole(body, "stream")


@pytest.mark.parametrize("name", ["stall", "stall-headers", "keepalive-only"])
@pytest.mark.parametrize("form", ["stream", "plain"])
async def test_it_goes_on_after_a_stall(serve: Callable[..., Any], name: str, form: str) -> None:
    served: Served = await serve(make_fault(name, {"seconds": 0.4}))
    started = time.monotonic()
    answer = await served.post("responses", form)
    assert time.monotonic() - started >= 0.4
    assert is_whole(answer.content, form)
    await served.settled()
    assert served.said("request.ended")[0]["complete"] is True


@pytest.mark.parametrize("after", ["head", "start", "half", "content", "all"])
async def test_it_cuts_at_every_point_of_an_answer(serve: Callable[..., Any], after: str) -> None:
    code, body = await seen_by_curl(serve, make_fault("sse-cut", {"after": after}))
    deltas = sum(b"output_text.delta" in event for event in events(body))
    assert code == 0 and not is_whole(body, "stream")
    assert deltas == {"head": 0, "start": 0, "half": 12, "content": 24, "all": 24}[after]


async def test_it_shuts_the_port_for_a_time_and_opens_it_again(serve: Callable[..., Any]) -> None:
    served: Served = await serve(
        {"fault": "refused", "by": "shut", "seconds": 1.5, "on": {"attempt": 1}}
    )
    with pytest.raises(httpx.ReadError):
        await served.post("responses", "plain")
    for _ in range(3):
        with pytest.raises(httpx.ConnectError):
            await served.post("responses", "plain")
    await served.reopened()
    assert (await served.post("responses", "plain")).status_code == 200


async def test_it_counts_what_a_shut_port_refused(serve: Callable[..., Any]) -> None:
    served: Served = await serve({"fault": "refused", "by": "shut", "seconds": 1.5})
    # As of a sealed network: nobody but this test is refused there.
    tried = []
    served.provider.refusals = lambda: len(tried)
    with pytest.raises(httpx.ReadError):
        await served.post("responses", "plain")
    for number in (2, 3, 4):
        with pytest.raises(httpx.ConnectError):
            await served.post("responses", "plain")
        tried.append(1)
        await served.until("request.ended", number)
    await served.reopened()
    ended = served.said("request.ended", caller="child:1")
    assert [(r["call"], r["attempt"], r["closed"]) for r in ended] == [
        (1, number, "refused") for number in (1, 2, 3, 4)
    ]
    with pytest.raises(httpx.ReadError):
        await served.post("responses", "plain")
    await served.settled()
    assert served.said("request.ended")[-1]["attempt"] == 5


def test_it_reads_the_counter_of_a_network() -> None:
    import os
    import socket

    count = kernel_refusals(os.getpid())
    before = count()
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(nobody.getsockname())
    assert count() > before
    assert kernel_refusals(2**30)() == 0


@pytest.mark.parametrize(
    ("follows", "error"), [(True, httpx.ConnectError), (False, httpx.ReadError)]
)
async def test_it_refuses_as_the_agent_can_be_refused(
    serve: Callable[..., Any], follows: bool, error: type[Exception]
) -> None:
    served: Served = await serve("refused")
    served.provider.follows = follows
    async with http(follow_redirects=True) as client:
        with pytest.raises(error):
            await served.post("messages", "stream", client=client)
        with pytest.raises(httpx.ConnectError):
            await served.post("messages", "stream", client=client)
    assert served.provider.undelivered() == []
