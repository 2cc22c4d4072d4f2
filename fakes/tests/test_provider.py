"""The provider itself: journal, limits, encodings, addresses, the end of a run."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard

from fakes.targeting import Identity
from fakes.tests.support import CHILD, DIALECTS, ROOT, Served, http, path_of, request_body

KEYS = {
    "request.received": "call attempt caller turn request model stream dialect bytes tools path "
    "headers connection body fault_aimed task conversation",
    "response.started": "call attempt caller turn request status",
    "fault.fired": "call attempt caller turn request fault mark bytes events settings",
    "request.ended": "call attempt caller turn request status complete closed bytes events fault "
    "retry_after model start duration first_byte error_class response",
}


POST = b"POST /v1/responses HTTP/1.1\r\nhost: a\r\n"


async def raw(served: Served, data: bytes) -> bytes:
    """What comes back for these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.provider.port)
    writer.write(data)
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    return answer


async def test_it_journals_an_exchange_in_order(serve: Callable[..., Any]) -> None:
    served: Served = await serve("sse-cut")
    await served.post("responses", "stream")
    await served.settled()
    assert [r["what"] for r in served.records] == list(KEYS)
    for record in served.records:
        assert set(record) == {"what", "at", *KEYS[record["what"]].split()}
        json.dumps(record)
    times = [r["at"] for r in served.records]
    assert times == sorted(times)


async def test_it_keeps_credentials_out_of_the_journal(serve: Callable[..., Any]) -> None:
    served: Served = await serve()
    secrets = {"Authorization": "Bearer tip", "X-Api-Key": "tip", "Cookie": "tip", "X-Token": "tip"}
    async with http(headers={**secrets, "X-Agent": "a7"}) as client:
        await served.post("messages", "plain", client=client)
    [asked] = served.said("request.received")
    assert "tip" not in json.dumps(asked)
    assert asked["headers"]["x-agent"] == "a7"
    assert "authorization" in asked["headers"]


async def test_it_keeps_bodies(serve: Callable[..., Any], tmp_path: Path) -> None:
    served: Served = await serve("chunk-cut", bodies=tmp_path / "bodies")
    with pytest.raises(httpx.RemoteProtocolError):
        await served.post("responses", "stream")
    await served.settled()
    [asked], [ended] = served.said("request.received"), served.said("request.ended")
    kept = json.loads((tmp_path / "bodies" / asked["body"]).read_text())
    assert kept["input"][0]["content"] == CHILD
    answer = (tmp_path / "bodies" / ended["response"]).read_bytes()
    assert len(answer) == ended["bytes"] and answer.startswith(b"event: response.created")


async def test_it_marks_what_is_open_when_the_run_ends(serve: Callable[..., Any]) -> None:
    served: Served = await serve("stall")
    waiting = [asyncio.create_task(served.post("responses", "stream")) for _ in range(3)]
    await served.until("fault.fired", 3)
    await served.provider.stop()
    ended = served.said("request.ended")
    assert [(r["closed"], r["complete"]) for r in ended] == [("open", False)] * 3
    assert [r["bytes"] > 0 for r in ended] == [True] * 3
    for task in waiting:
        with pytest.raises(httpx.HTTPError):
            await task


async def test_it_notices_a_client_that_leaves(serve: Callable[..., Any]) -> None:
    served: Served = await serve("stall-headers")
    async with http(0.3) as client:
        with pytest.raises(httpx.ReadTimeout):
            await served.post("responses", "plain", client=client)
    await served.settled()
    [ended] = served.said("request.ended")
    assert (ended["closed"], ended["complete"], ended["error_class"]) == (
        "client-gone",
        False,
        "timeout",
    )


async def test_quiet_waits_for_what_a_dead_client_had_sent(serve: Callable[..., Any]) -> None:
    served: Served = await serve()
    body = json.dumps(request_body("responses", "plain")).encode()
    head = POST + f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    clients = [socket.create_connection(("127.0.0.1", served.provider.port)) for _ in range(40)]
    for client in clients:  # nobody has accepted yet: this test has not given up the loop
        client.sendall(head + body)
        client.close()
    await served.provider.quiet(5)
    assert len(served.said("request.ended")) == 40


async def test_quiet_does_not_wait_for_ever_for_one_who_stays(serve: Callable[..., Any]) -> None:
    served: Served = await serve()
    reader, writer = await asyncio.open_connection("127.0.0.1", served.provider.port)
    await asyncio.wait_for(served.provider.quiet(0.1), 5)
    assert not reader.at_eof()
    writer.close()


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
async def test_it_reads_compressed_requests(serve: Callable[..., Any], encoding: str) -> None:
    served: Served = await serve()
    plain = json.dumps(request_body("responses", "plain")).encode()
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "zstd": zstandard.compress}[encoding]
    async with http() as client:
        answer = await client.post(
            served.base + "/v1/responses",
            content=pack(plain),
            headers={"content-encoding": encoding, "content-type": "application/json"},
        )
    assert answer.status_code == 200
    assert served.said("request.received")[0]["caller"] == "child:1"


async def test_it_refuses_a_body_that_is_too_large(serve: Callable[..., Any]) -> None:
    served: Served = await serve(body_limit=1000)
    big = {**request_body("responses", "plain"), "instructions": "x" * 2000}
    async with http(20) as client:
        announced = await client.post(served.base + "/v1/responses", json=big)

        async def parts() -> Any:
            for _ in range(30):
                yield b" " * 100

        chunked = await client.post(served.base + "/v1/responses", content=parts())
        bomb = await client.post(
            served.base + "/v1/responses",
            content=gzip.compress(b" " * 1_000_000),
            headers={"content-encoding": "gzip"},
        )
    assert [announced.status_code, chunked.status_code, bomb.status_code] == [413] * 3
    assert served.records == []


async def test_it_takes_32_mebibytes_and_no_more(serve: Callable[..., Any]) -> None:
    served: Served = await serve()
    body = json.dumps(request_body("responses", "plain")).encode()
    limit = 32 * 1024 * 1024
    async with http(60) as client:
        for size, status in ((limit, 200), (limit + 1, 413)):
            padded = body + b" " * (size - len(body))
            answer = await client.post(served.base + "/v1/responses", content=padded)
            assert answer.status_code == status


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("body", [b"{", b"[]", b"[" * 100_000, b'{"input": 3}', b"\xff"])
async def test_it_answers_400_to_what_is_no_request(
    serve: Callable[..., Any], dialect: str, body: bytes
) -> None:
    served: Served = await serve()
    async with http() as client:
        answer = await client.post(served.base + path_of(dialect), content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "data",
    [
        b"GARBAGE\r\n\r\n",
        POST + b"content-length: x\r\n\r\n",
        POST + b"content-encoding: br\r\ncontent-length: 1\r\n\r\n1",
        POST + b"content-encoding: zstd\r\ncontent-length: 1\r\n\r\n1",
        POST + b"content-encoding: gzip\r\ncontent-length: 1\r\n\r\n1",
    ],
)
async def test_it_answers_400_to_what_is_no_http(serve: Callable[..., Any], data: bytes) -> None:
    served: Served = await serve()
    assert (await raw(served, data)).startswith(b"HTTP/1.1 400 ")


async def test_it_lists_its_model_at_any_address(serve: Callable[..., Any]) -> None:
    served: Served = await serve(model="m-1")
    async with http() as client:
        for path in ("/v1/models", "/models", "/", "/anything?x=1"):
            assert (await client.get(served.base + path)).json()["data"][0]["id"] == "m-1"
        theirs = await client.get(served.base + "/v1/models", headers={"anthropic-version": "x"})
        assert theirs.json()["data"][0]["type"] == "model"
        gemini = await client.get(served.base + "/v1beta/models")
        assert gemini.json()["models"][0]["name"] == "models/m-1"
        assert (await client.head(served.base + "/")).content == b""
        counted = await client.post(served.base + "/v1/messages/count_tokens", json={})
        assert counted.json()["input_tokens"] >= 1
        assert (await client.post(served.base + "/elsewhere", json={})).status_code == 404
    assert served.records == []


@pytest.mark.parametrize("path", ["/responses", "/v1/responses", "/v1/responses/?beta=true"])
async def test_it_serves_with_and_without_the_prefix(serve: Callable[..., Any], path: str) -> None:
    served: Served = await serve()
    async with http() as client:
        answer = await client.post(served.base + path, json=request_body("responses", "plain"))
    assert answer.json()["status"] == "completed"


async def test_it_speaks_http_1_0_without_chunks(serve: Callable[..., Any]) -> None:
    served: Served = await serve()
    body = json.dumps(request_body("responses", "stream")).encode()
    head = f"POST /v1/responses HTTP/1.0\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    answer = await raw(served, head + body)
    assert b"transfer-encoding" not in answer and b"response.completed" in answer


async def test_it_invites_a_body_that_waits(serve: Callable[..., Any]) -> None:
    served: Served = await serve()
    body = json.dumps(request_body("responses", "plain")).encode()
    head = (
        "POST /v1/responses HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\nconnection: close\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    answer = await raw(served, head.encode() + body)
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


async def test_it_answers_pipelined_requests_in_order(serve: Callable[..., Any]) -> None:
    served: Served = await serve()
    both = b""
    for number, prompt in enumerate((CHILD, ROOT)):
        body = json.dumps(request_body("responses", "plain", prompt)).encode()
        close = "connection: close\r\n" if number else ""
        head = (
            f"POST /v1/responses HTTP/1.1\r\nhost: a\r\n{close}content-length: {len(body)}\r\n\r\n"
        )
        both += head.encode() + body
    answer = await raw(served, both)
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert [r["caller"] for r in served.said("request.ended")] == ["child:1", "parent"]
    assert len({r["connection"] for r in served.said("request.received")}) == 1


async def test_it_stops_answering_beyond_the_cap(serve: Callable[..., Any]) -> None:
    served: Served = await serve(request_cap=2)
    for _ in range(2):
        assert (await served.post("responses", "plain")).status_code == 200
    assert not served.provider.capped.is_set()
    async with http(0.3) as client:
        with pytest.raises(httpx.ReadTimeout):
            await served.post("responses", "plain", client=client)
    assert served.provider.capped.is_set()


async def test_it_tells_callers_by_the_rule_before_the_markers(serve: Callable[..., Any]) -> None:
    def rule(request: Any) -> Identity | None:
        own = request.headers.get("x-agent-id")
        return Identity(1, own, "root") if own else None

    served: Served = await serve(rule=rule)
    async with http(headers={"x-agent-id": "a"}) as client:
        await served.post("responses", "plain", ROOT, client)
        await served.post("responses", "plain", f"{ROOT} and more", client)
    await served.post("responses", "plain", ROOT)
    asked = [(r["caller"], r["call"], r["attempt"]) for r in served.said("request.received")]
    assert asked == [("child:1", 1, 1), ("child:1", 2, 1), ("parent", 1, 1)]


async def test_it_serves_on_a_socket_that_was_made_elsewhere(serve: Callable[..., Any]) -> None:
    import socket

    from fakes.provider import Provider
    from fakes.script import make_script
    from fakes.tools import PlainTools

    sock = socket.create_server(("127.0.0.1", 0))
    provider = Provider(make_script("delegate-one"), tools=PlainTools(), record=lambda _: None)
    assert await provider.start(sock=sock) == sock.getsockname()[1]
    async with http() as client:
        assert (await client.get(f"http://127.0.0.1:{provider.port}/models")).status_code == 200
    await provider.stop()
