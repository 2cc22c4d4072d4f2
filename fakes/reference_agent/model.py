"""Asking the model: one call, with all its tries.

Tries are bounded, their gaps grow and are jittered, the provider's Retry-After
is obeyed, and what no repetition mends is not repeated. Silence is measured in
content, not in bytes: keep-alives do not count as progress.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from fakes.reference_agent.client import Exchange, Response, server_sent_events
from fakes.reference_agent.settings import schemas
from fakes.reference_agent.trouble import CallFailed, of_status
from fakes.reference_agent.wires import WIRES, Answer, Wire

if TYPE_CHECKING:
    from fakes.reference_agent.agent import Agent
    from fakes.reference_agent.world import World

COURTESY = 1.2
"""How much longer than asked it waits: the provider's clock began before ours."""
STORM = 20
"""Tries of one call in a storm."""
WAVE = 0.3
"""Seconds between the moments at which all children come back in a wave."""
HOPS = 4
"""Redirects that are followed, and the request itself."""
TELL_EVERY = 0.25
"""Seconds between two records of arriving content."""


class Model:
    """The one way to the provider, shared by all agents of a session."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.settings = world.settings
        self.breaks = world.behaviour.breaks

    async def ask(self, agent: Agent) -> Answer:
        """One answer to the agent's conversation; CallFailed when it gives up."""
        call = f"{agent.id}:{self.world.usage.next(agent.id)}"
        waits: list[float] = []
        while True:
            try:
                answer = await self._try(agent, call, len(waits) + 1)
            except CallFailed as failure:
                if not self._again(failure, len(waits) + 1):
                    self._give_up(agent, failure, waits)
                    raise
                await self._wait(agent, failure, waits)
                continue
            if waits:
                agent.log("retry.claim", retries=len(waits), sleep=round(sum(waits), 3))
                agent.set_status("working")
            return answer

    async def _try(self, agent: Agent, call: str, attempt: int) -> Answer:
        model = self._model(agent)
        agent.log("model.started", call=call, model=model, attempt=attempt)
        began = time.time()
        failure: CallFailed | None = None
        try:
            return await self.request(agent, model)
        except CallFailed as error:
            if error.partial and agent.parent and self.breaks("truncated-success"):
                return Answer(error.partial)
            failure = error
            raise
        finally:
            ended = time.time()
            facts: dict[str, Any] = {"ok": failure is None, "http_status": 200}
            if failure is not None:
                facts["error_class"] = failure.error_class
                facts["http_status"] = failure.status
            agent.log(
                "model.ended",
                call=call,
                attempt=attempt,
                model=model,
                duration=round(ended - began, 6),
                **facts,
            )
            self.world.trace_chat(agent, call, attempt, model, began, ended, failure is None)

    async def request(self, agent: Agent, model: str) -> Answer:
        """One request and its answer, read to the end."""
        wire = WIRES[self.settings.dialect]()
        body = wire.body(agent.items, schemas(self.settings.wait), model, self.settings.stream)
        url = self.settings.url.rstrip("/") + wire.target(model, self.settings.stream)
        headers = {
            "user-agent": f"lifeline-reference/{self.settings.version}",
            "x-agent-id": agent.id,
            "x-agent-depth": str(agent.depth),
            "x-parent-agent-id": agent.parent.id if agent.parent else "",
            "accept": "text/event-stream" if self.settings.stream else "application/json",
        }
        patience = None if self.breaks("silent-stall") else self.settings.idle_timeout
        try:
            async with asyncio.timeout(patience) as clock:
                for _hop in range(HOPS):
                    async with Exchange(url, headers, body) as response:
                        if response.status in (307, 308) and response.headers.get("location"):
                            url = urljoin(url, response.headers["location"])
                            continue
                        await self._read(agent, wire, response, clock, patience)
                        break
        except TimeoutError:
            if not agent.open_children():
                facts: dict[str, Any] = {
                    "action": "abandon",
                    "after": patience,
                    "reason": "no content",
                }
                agent.log("watchdog.fired", target=agent.id, **facts)
            raise CallFailed("timeout", f"no content for {patience} s") from None
        answer = wire.answer()
        if not answer.text and not answer.calls:
            raise CallFailed("stream", "an empty answer")
        return answer

    async def _read(
        self,
        agent: Agent,
        wire: Wire,
        response: Response,
        clock: asyncio.Timeout,
        patience: float | None,
    ) -> None:
        if response.status != 200:
            raise of_status(response.status, await response.all(), response.retry_after())
        if not self.settings.stream:
            await self._plain(wire, response)
            return
        try:
            await self._stream(agent, wire, response, clock, patience)
        except (CallFailed, OSError):
            # What breaks after the answer's own end takes nothing away from it.
            if not wire.done:
                raise

    async def _stream(
        self,
        agent: Agent,
        wire: Wire,
        response: Response,
        clock: asyncio.Timeout,
        patience: float | None,
    ) -> None:
        loop = asyncio.get_running_loop()
        told, fresh = 0.0, 0
        async for name, data in server_sent_events(response):
            if name == ":":
                continue
            came = wire.take(name, data)
            if not came:
                continue
            fresh += came
            if agent.parent and not told:
                self.world.event("child-running")
            if patience is not None:
                clock.reschedule(loop.time() + patience)
            if loop.time() - told >= TELL_EVERY:
                agent.log("message.delta", text_length=fresh, what="content")
                told, fresh = loop.time(), 0

    async def _plain(self, wire: Wire, response: Response) -> None:
        try:
            document = json.loads(await response.all())
        except ValueError:
            raise CallFailed("stream", "the answer is not JSON") from None
        if not isinstance(document, dict):
            raise CallFailed("stream", "the answer is not an object")
        wire.take_whole(document)

    def _model(self, agent: Agent) -> str:
        if self.breaks("model-substituted") and agent.parent:
            return f"{agent.model}-small"
        if self.breaks("model-leaks") and not agent.parent and self.world.child_model:
            return self.world.child_model
        return agent.model

    def _again(self, failure: CallFailed, attempt: int) -> bool:
        if self.breaks("no-retry"):
            return False
        if self.breaks("retry-permanent") and failure.error_class == "bad_request":
            return attempt <= self.settings.retries
        if not failure.retryable:
            return False
        if self.breaks("retry-storm"):
            return attempt < STORM
        return self.breaks("endless-retry") or attempt <= self.settings.retries

    def _delay(self, failure: CallFailed, tries: int) -> float:
        if self.breaks("flat-retry"):
            return self.settings.delay
        if self.breaks("endless-retry"):
            return self.settings.delay * float(1.15**tries)
        if self.breaks("retry-storm"):
            return self.settings.delay / 4
        if self.breaks("rate-limit-wave"):
            return math.ceil(time.time() / WAVE + 0.25) * WAVE - time.time()
        jitter = self.world.behaviour.random.uniform(1.0, 1.25)
        delay = self.settings.delay * float(2**tries) * jitter
        if failure.retry_after is not None and not self.breaks("ignore-retry-after"):
            delay += failure.retry_after * COURTESY
        return delay

    async def _wait(self, agent: Agent, failure: CallFailed, waits: list[float]) -> None:
        delay = self._delay(failure, len(waits))
        waits.append(delay)
        of = None if self.breaks("endless-retry") else self.settings.retries + 1
        agent.log(
            "model.retry",
            attempt=len(waits) + 1,
            of=of,
            delay=round(delay, 3),
            reason=failure.error_class,
            http_status=failure.status,
            next_at=round(time.time() + delay, 3),
        )
        agent.set_status(
            "backing-off",
            attempt=len(waits) + 1,
            of=of,
            next_at=round(time.time() + delay, 3),
            reason=failure.error_class,
        )
        await asyncio.sleep(delay)

    def _give_up(self, agent: Agent, failure: CallFailed, waits: list[float]) -> None:
        if waits:
            agent.log("retry.claim", retries=len(waits), sleep=round(sum(waits), 3))
        agent.log(
            "error",
            error_class=failure.error_class,
            http_status=failure.status,
            retryable=failure.retryable,
            will_retry=False,
            detail=failure.detail,
        )
