"""The fake provider: a loopback HTTP server whose model follows a script.

    async with provider:      or  port = await provider.start() … await provider.stop()

One provider serves all dialects by path, tells who asks, lets the script answer
and a fault break that answer, and journals every exchange.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fakes.fault import Fault
from fakes.script import Script, ToolTable
from fakes.targeting import AimedFault, CallerRule

Record = Callable[[dict[str, Any]], None]
BODY_LIMIT = 32 * 1024 * 1024


class Provider:
    """A fake provider. `record` gets each journal record (contracts: keys of KINDS)."""

    def __init__(
        self,
        script: Script,
        *,
        tools: ToolTable,
        faults: Sequence[AimedFault] = (),
        rule: CallerRule | None = None,
        model: str = "gpt-5.4",
        record: Record,
        bodies: Path | None = None,
        body_limit: int = BODY_LIMIT,
        request_cap: int | None = None,
    ) -> None:
        self.aimed = list(faults)
        self.delivered: Counter[int] = Counter()
        self.capped = asyncio.Event()

    async def start(
        self, host: str = "127.0.0.1", port: int = 0, sock: socket.socket | None = None
    ) -> int:
        """Listens; gives the port. `sock` is a socket that already listens."""
        raise NotImplementedError

    async def stop(self) -> None:
        """Ends everything; exchanges still open are journaled as ``closed: open``."""
        raise NotImplementedError

    def undelivered(self) -> list[AimedFault]:
        """The faults that were aimed and never fired."""
        return [each for index, each in enumerate(self.aimed) if not self.delivered[index]]


__all__ = ["Fault", "Mapping", "Provider", "Record"]
