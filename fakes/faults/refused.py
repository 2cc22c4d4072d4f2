"""Nobody accepts the connection.

Who asks is in the request, and a request needs a connection: the attempt that is
aimed at cannot itself be refused by the port that it came in on. Two honest ways:

- ``redirect``: the attempt is answered 307 to a port where nobody listens; the client
  follows (official clients, fetch and most agents do; curl with -L) and its connection
  is refused. Exact: this attempt, no other caller, every attempt counted.
- ``shut``: the attempt is reset and the listening socket shut for some seconds. Every
  new connection is refused then, also of other callers; idle connections are closed,
  running answers go on. In a sealed network the kernel's counter tells how often the
  port was tried, and each try is journaled as an attempt of this caller; elsewhere
  refused attempts are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class Refused(Fault):
    """ECONNREFUSED."""

    name = "refused"
    title = "Connection refused"
    sentence = "The attempt ends at a port where nobody listens."
    seen = "Connection refused (ECONNREFUSED; curl: exit 7)."
    picture = "connect │ RST"

    by: Literal["auto", "redirect", "shut"] = setting(
        "auto",
        "redirect: this attempt is sent to a closed port (exact; the agent must follow redirects). "
        "shut: the port itself is closed for everybody for some seconds. auto: redirect, or shut "
        "for an agent that does not follow.",
        choices=("auto", "redirect", "shut"),
    )
    seconds: float = setting(
        30.0, "With shut: how long the port stays closed.", unit="s", low=0.1, high=3600
    )

    async def play(self, answer: Answer) -> None:
        await answer.pause(answer.reply.first)
        if self.by == "shut" or (self.by == "auto" and not answer.follows):
            answer.mark(f"port shut for {self.seconds:g} s")
            answer.shut(self.seconds)
            await answer.reset()
        else:
            host, port = answer.door.nobody()
            place = f"http://{host}:{port}{answer.request.path}"
            await answer.begin(307, headers={"location": place}, length=0)
            answer.mark(f"sent to port {port}, where nobody listens")
            await answer.end()
        answer.closed = "refused"

    def error_class(self) -> str:
        return "refused"

    def answers(self) -> int:
        return 0 if self.by == "shut" else 307


FAULT = Refused
