"""One answer as it is played on the wire: what a fault works with.

    head │ piece piece piece … terminal │ end
    begin   send            send          end        (or: cut, reset, hold)

`pieces` is the good answer. A stream's pieces are its events; a plain body comes
in three (start, content, terminal), so that "half of the answer" and "all but the
end" mean something in both forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal

from fakes.dialect import Dialect, Frame, ModelRequest, Part, Problem, Reply, dumps
from fakes.journal import Closed, Exchange
from fakes.wire import Connection

if TYPE_CHECKING:
    from fakes.door import Door
    from fakes.fault import Fault
    from fakes.script import ToolTable

STREAM = "text/event-stream; charset=utf-8"
JSON = "application/json"
Upto = Literal["head", "start", "half", "content", "all"]
UPTO: tuple[Upto, ...] = ("head", "start", "half", "content", "all")
"""Points of an answer: after its headers, its opening, half of its content, all of its
content, everything but its end."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Part of a good answer. `delay` seconds pass before it."""

    data: bytes
    part: Part
    events: int
    delay: float = 0.0
    frame: Frame | None = None


class Answer:
    """The answer to one request. See the drawing above."""

    def __init__(
        self,
        *,
        connection: Connection,
        exchange: Exchange,
        request: ModelRequest,
        dialect: Dialect,
        reply: Reply,
        tools: ToolTable,
        keep_alive: bool,
        chunks: bool,
        door: Door,
        fault: Fault | None,
        fired: Callable[[], None],
        shut: Callable[[float], None],
        follows: bool = True,
    ) -> None:
        self.request = request
        self.dialect = dialect
        self.reply = reply
        self.tools = tools
        self.streaming = request.stream
        self.door = door
        self.follows = follows
        """Whether the agent follows redirects."""
        self.shut = shut
        """Refuses connections for so many seconds."""
        self.exchange = exchange
        self.pieces = self.rendered(reply)
        self.closed: Closed | None = None
        self._fault = fault
        self._fired = fired
        self._connection = connection
        self._keep_alive = keep_alive
        self._may_chunk = chunks
        self._chunked = False
        self._sent: dict[Piece, None] = {}
        self.retry_after: float | None = None
        """Seconds that the answer told the client to wait."""

    # What the good answer is

    def rendered(self, reply: Reply) -> tuple[Piece, ...]:
        """The pieces of a reply in this request's dialect and form."""
        answer_id = self.exchange.id
        if self.streaming:
            frames = self.dialect.frames(self.request, reply, answer_id)
            return tuple(_piece(frame, reply) for frame in frames)
        body = dumps(self.dialect.whole(self.request, reply, answer_id))
        return _plain_pieces(body.encode("utf-8", "replace"), reply)

    def unsent(self) -> list[Piece]:
        """The pieces that have not been sent."""
        return [piece for piece in self.pieces if piece not in self._sent]

    def upto(self, point: Upto) -> list[Piece]:
        """The pieces before a point of the answer; at least one is always left out."""
        content = [p for p in self.pieces if p.part in ("content", "arguments")]
        if point == "head" or not self.pieces:
            return []
        if point == "start" or not content:
            return self._before(content[0]) if content else list(self.pieces[:1])
        if point == "half":
            middle = content[(len(content) - 1) // 2]
            return [*self._before(middle), middle]
        if point == "content":
            return [*self._before(content[-1]), content[-1]]
        return self._before(next(p for p in self.pieces if p.part == "terminal"))

    def _before(self, piece: Piece) -> list[Piece]:
        return list(self.pieces[: self.pieces.index(piece)])

    # Sending it

    async def begin(
        self,
        status: int = 200,
        *,
        content_type: str = "",
        length: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Status line and headers; chunks unless a `length` is announced."""
        await self._connection.pause(self.reply.first)
        self._chunked = length is None and self._may_chunk
        told = {
            "date": formatdate(usegmt=True),
            "content-type": content_type or (STREAM if self.streaming else JSON),
            **self.dialect.headers(f"req_{self.exchange.id}"),
            **({"cache-control": "no-cache"} if self.streaming else {}),
            **(headers or {}),
        }
        if length is not None:
            told["content-length"] = str(length)
        elif self._chunked:
            told["transfer-encoding"] = "chunked"
        else:
            self._keep_alive = False
        told["connection"] = "keep-alive" if self._keep_alive else "close"
        lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        await self.raw(f"HTTP/1.1 {status} {_phrase(status)}\r\n{lines}\r\n".encode(), status)

    async def raw(self, data: bytes, status: int = 0) -> None:
        """Bytes as they are, outside the body's framing."""
        self.exchange.started(status)
        await self._connection.write(data)

    async def write(self, data: bytes, events: int = 0) -> None:
        """Bytes of the body."""
        if data:
            await self._connection.write(self.framed(data))
            self.exchange.sent(data, events)

    def framed(self, data: bytes) -> bytes:
        """The bytes as a chunk, where the body is chunked."""
        return b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data

    async def send(self, pieces: Iterable[Piece]) -> None:
        """Pieces of the good answer, each after its delay."""
        for piece in pieces:
            await self._connection.pause(piece.delay)
            await self.write(piece.data, piece.events)
            self._sent[piece] = None

    async def frame(self, frame: Frame) -> None:
        """One event that is not part of the good answer."""
        await self.write(frame.wire(), 1)

    async def pause(self, seconds: float) -> None:
        """Lets time pass."""
        await self._connection.pause(seconds)

    async def hold(self) -> None:
        """Sends nothing more until the client leaves or the run ends."""
        await self._connection.pause(None)

    # Ending it

    async def end(self) -> None:
        """The proper end of the body."""
        if self._chunked:
            await self._connection.write(b"0\r\n\r\n")
        self.closed = "ended"
        if not self._keep_alive:
            await self._connection.cut()

    async def rest(self) -> None:
        """All pieces that are left, and the proper end."""
        await self.send(self.unsent())
        await self.end()

    async def whole(self) -> None:
        """The good answer from beginning to end."""
        length = None if self.streaming else sum(len(piece.data) for piece in self.pieces)
        await self.begin(length=length)
        await self.rest()

    async def cut(self) -> None:
        """Closes the connection cleanly (FIN) without the end of the body."""
        self.closed = "cut"
        await self._connection.cut()

    async def reset(self) -> None:
        """Closes the connection by RST."""
        self.closed = "reset"
        await self._connection.reset()

    async def error(self, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
        """An HTTP error in the provider's own shape, whole."""
        body = dumps(self.dialect.error(problem, f"req_{self.exchange.id}")).encode()
        await self.document(problem.status, JSON, body, headers)

    async def document(
        self, status: int, content_type: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        """Any whole answer of known length."""
        await self.begin(status, content_type=content_type, length=len(body), headers=headers)
        await self.write(body)
        await self.end()

    # Telling about it

    def mark(self, text: str) -> None:
        """The fault has acted just now; `text` says how, for the journal."""
        if self._fault is not None:
            self._fired()
            self.exchange.fire(self._fault, text)

    @property
    def complete(self) -> bool:
        """Whether a whole good answer was sent; what broke after its end takes nothing away,
        nor does a client that leaves a stream once its terminal event is out."""
        fault = self.exchange.fired
        broken = fault is not None and fault.error_class() != ""
        whole = self.closed == "ended" or (fault is not None and self.closed == "cut")
        whole = whole or (self.closed is None and self.streaming)
        return whole and not broken and self._sent.keys() == set(self.pieces)


def _piece(frame: Frame, reply: Reply) -> Piece:
    paced = frame.part in ("content", "arguments")
    return Piece(frame.wire(), frame.part, 1, reply.per_token if paced else 0.0, frame)


def _plain_pieces(body: bytes, reply: Reply) -> tuple[Piece, ...]:
    third = max(1, len(body) // 3)
    return (
        Piece(body[:third], "start", 0),
        Piece(body[third : 2 * third], "content", 0, reply.per_token * len(reply.text.split())),
        Piece(body[2 * third :], "terminal", 0),
    )


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Overloaded" if status == 529 else "Unknown"
