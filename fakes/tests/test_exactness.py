"""A thousand deliveries are a thousand: many connections, reused ones, all dialects."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from fakes.tests.support import DIALECTS, Served, path_of, request_body, task_prompt

CALLERS = 50
EACH = 20


class Agent:
    """A child that asks over and over, by bare sockets, on one connection as long as it lives."""

    def __init__(self, served: Served, number: int) -> None:
        self.port = served.provider.port
        dialect = DIALECTS[number % len(DIALECTS)]
        body = json.dumps(request_body(dialect, "stream", task_prompt(str(number + 1)))).encode()
        head = f"POST {path_of(dialect)} HTTP/1.1\r\nhost: a\r\ncontent-length: {len(body)}\r\n\r\n"
        self.request = head.encode() + body
        self.pipe: Any = None

    async def ask(self) -> tuple[int, bool]:
        """The number of events that came, and whether the body had its proper end."""
        if self.pipe is None:
            self.pipe = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.pipe
        writer.write(self.request)
        body = (await reader.readuntil(b"\r\n\r\n"))[:0]
        while size := await self.chunk_size(reader):
            body += (await reader.readexactly(size + 2))[:-2]
        if size is None:
            writer.close()
            self.pipe = None
        else:
            await reader.readexactly(2)
        return body.count(b"\n\n"), size == 0

    async def chunk_size(self, reader: asyncio.StreamReader) -> int | None:
        line = await reader.readline()
        return int(line, 16) if line else None

    async def life(self) -> list[tuple[int, bool]]:
        """All answers of this agent."""
        seen = [await self.ask() for _ in range(EACH)]
        if self.pipe:
            self.pipe[1].close()
        return seen


async def test_it_cuts_a_thousand_of_a_thousand_at_the_same_event(
    serve: Callable[..., Any],
) -> None:
    served: Served = await serve({"fault": "cut-after", "count": 4, "on": {"caller": "child"}})
    seen = await asyncio.gather(*(Agent(served, number).life() for number in range(CALLERS)))
    assert [each for one in seen for each in one] == [(4, False)] * (CALLERS * EACH)
    await served.settled()
    assert served.provider.delivered[0] == len(served.said("fault.fired")) == CALLERS * EACH
    counted = Counter((r["caller"], r["call"], r["attempt"]) for r in served.said("request.ended"))
    wanted = {(f"child:{n}", 1, k) for n in range(1, CALLERS + 1) for k in range(1, EACH + 1)}
    assert counted == Counter(wanted)


async def test_it_hits_every_second_attempt_on_connections_that_are_reused(
    serve: Callable[..., Any],
) -> None:
    faults = [
        {"fault": "sse-cut", "on": {"caller": "child", "attempt": number}}
        for number in range(2, EACH + 1, 2)
    ]
    served: Served = await serve(*faults)
    seen = await asyncio.gather(*(Agent(served, number).life() for number in range(CALLERS)))
    await served.settled()
    for one in seen:
        whole, short = set(one[0::2]), set(one[1::2])
        assert len(whole) == len(short) == 1 and max(short) < min(whole)
        assert all(proper for _, proper in one)
    assert len({r["connection"] for r in served.said("request.received")}) == CALLERS
    assert served.provider.undelivered() == []
    assert len(served.said("fault.fired")) == CALLERS * EACH // 2


async def test_it_serves_many_dripping_answers_at_once(serve: Callable[..., Any]) -> None:
    served: Served = await serve({"fault": "drip", "seconds": 1.0, "on": {"caller": "child"}})
    async with asyncio.timeout(60):
        answers = await asyncio.gather(*(Agent(served, len(DIALECTS) * n).ask() for n in range(40)))
    assert len(set(answers)) == 1
    await served.settled()
    durations = [r["duration"] for r in served.said("request.ended")]
    assert len(durations) == 40 and min(durations) >= 1.0
    # One after the other they would take 40 s.
    ended = [r["at"] for r in served.said("request.ended")]
    assert max(ended) - min(r["start"] for r in served.said("request.ended")) < 30
