"""What a loopback provider answers in a scenario, written down: bytes, pauses, how it ends.

Each answer is played once by the real script, dialect and fault onto a tape.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any, cast

from fakes.answer import Answer
from fakes.dialect import ModelRequest, Reply, ToolCall, Turn, dialects, dumps
from fakes.fault import Fault
from fakes.journal import Bodies, Exchange
from fakes.ledger import Place
from fakes.script import Child, Script, Stage, ToolTable, root_prompt
from fakes.targeting import TASK_PATTERN, AimedFault, Identity
from fakes.wire import ClientGone
from runs import catalogue
from runs.driver import Driver
from runs.errors import HarnessError
from runs.scenario import Scenario

MODEL = "gpt-5.4"
ATTEMPTS, STEPS = 9, 8
MOST_BYTES = 200_000
LONGEST = 600.0
"""Seconds that one answer may take; what lasts longer is held open."""
Tape = list[tuple[Any, ...]]


class NotPossible(HarnessError):
    """This run cannot be made a script; says why."""


class Recorder:
    """Stands for the connection: writes down what is done with it."""

    def __init__(self) -> None:
        self.tape: Tape = []
        self.closed = ""
        self.gone = asyncio.Event()
        self._size = 0
        self._paused = 0.0

    async def write(self, data: bytes) -> None:
        """Bytes that leave."""
        self._size += len(data)
        if self._size > MOST_BYTES:
            raise NotPossible("Its answers are too long for a script.")
        if self.tape and self.tape[-1][0] == "send":
            self.tape[-1] = ("send", self.tape[-1][1] + data)
        else:
            self.tape.append(("send", data))

    async def pause(self, seconds: float | None) -> None:
        """Time that passes; for ever ends the tape."""
        self._paused += seconds or 0.0
        if seconds is None or self._paused > LONGEST:
            self.tape.append(("hold",))
            raise ClientGone
        if seconds > 0:
            self.tape.append(("pause", seconds))

    async def cut(self) -> None:
        """A clean end."""
        self.closed = "cut"
        self.tape.append(("close",))

    async def reset(self) -> None:
        """A reset."""
        self.closed = "reset"
        self.tape.append(("reset",))


class Named:
    """The agent's tools, with a sign in place of each id that only a run tells."""

    def __init__(self, tools: ToolTable, known: dict[str, str]) -> None:
        self._tools, self._known = tools, known

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tools, name)

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Every child that was delegated so far."""
        return dict(self._known)


def tapes(
    driver: Driver, version: str, scenario: Scenario, options: dict[str, Any]
) -> dict[str, list[dict[str, Any]]]:
    """By caller's path (root: empty) a step a call, by form a tape an attempt.

    `after`: tool outputs that lead to the step. The last tape serves all further attempts.
    """
    script, faults = catalogue.build_script(scenario), catalogue.build_faults(scenario)
    if getattr(script, "order", ()):
        raise NotPossible("Its callers wait for each other; that needs the provider itself.")
    if driver.dialect(options) == "generate_content":
        raise NotPossible("The script's server does not speak the Gemini protocol.")
    player = _Player(driver.dialect(options), script, driver.tools(options, version), faults)
    prompts = {"": (root_prompt(script), "parent", Identity(0, "root"))}
    counts = {1: 0, 2: 0}
    for task in script.tasks():
        depth = task.path.count(".") + 1
        kind = "child" if depth == 1 else "grandchild"
        counts[min(depth, 2)] += 1
        parent = task.path.rpartition(".")[0] or "root"
        who = Identity(depth, task.path, parent)
        prompts[task.path] = (task.prompt, f"{kind}:{counts[min(depth, 2)]}", who)
    return {
        path: asyncio.run(player.play(prompt, caller, who))
        for path, (prompt, caller, who) in prompts.items()
    }


class _Player:
    def __init__(
        self, dialect: str, script: Script, tools: ToolTable, faults: list[AimedFault]
    ) -> None:
        self.dialect, self.script, self.tools = dialects()[dialect], script, tools
        self.faults = faults

    async def play(self, prompt: str, caller: str, who: Identity) -> list[dict[str, Any]]:
        """Every step of one caller until its final answer."""
        turns: tuple[Turn, ...] = (Turn("user", prompt),)
        known: dict[str, str] = {}
        notes: dict[str, int] = {}
        steps: list[dict[str, Any]] = []
        for call in range(1, STEPS + 1):
            request = self._request(turns, stream=True)
            stage = Stage(who, cast(ToolTable, Named(self.tools, known)), call, 1, notes)
            reply = self.script.reply(caller, request, stage)
            reply = replace(
                reply,
                tool_calls=tuple(
                    each if each.id else replace(each, id=f"{self.dialect.call_prefix}{call}_{n}")
                    for n, each in enumerate(reply.tool_calls)
                ),
            )
            steps.append(
                {"after": sum(turn.role == "tool" for turn in turns)}
                | {
                    form: await self._attempts(turns, reply, caller, call, form == "stream")
                    for form in ("stream", "plain")
                }
            )
            if reply.final:
                return steps
            known |= {task.path: f"@CHILD {task.path}@" for task in self.script.tasks()}
            turns += (
                Turn("assistant", "", reply.tool_calls),
                *(Turn("tool", self._output(each), call_id=each.id) for each in reply.tool_calls),
            )
        raise NotPossible("Its conversation is longer than a script should be.")

    def _output(self, call: ToolCall) -> str:
        """What a tool would say: a child's answer, unless that comes with a later call to wait."""
        paths = [task.path for task in self.script.tasks()]
        if TASK_PATTERN.search(dumps(call.arguments)) and any(
            self.tools.wait(Child(path, path)) is not None for path in paths
        ):
            return "It has begun."
        return " ".join(f"CHILD-OK {path}" for path in paths)

    def _request(self, turns: tuple[Turn, ...], *, stream: bool) -> ModelRequest:
        return ModelRequest(
            self.dialect.name, MODEL, stream, turns, ("tool",), f"/v1{self.dialect.ending}", {}, {}
        )

    async def _attempts(
        self, turns: tuple[Turn, ...], reply: Reply, caller: str, call: int, stream: bool
    ) -> list[Tape]:
        request = self._request(turns, stream=stream)
        made = [
            await self._tape(request, reply, caller, call, attempt)
            for attempt in range(1, ATTEMPTS + 1)
        ]
        while len(made) > 1 and _same(made[-1], made[-2]):
            made.pop()
        return made

    async def _tape(
        self, request: ModelRequest, reply: Reply, caller: str, call: int, attempt: int
    ) -> Tape:
        fault = self._fault(caller, call, attempt, request)
        connection = Recorder()
        exchange = Exchange(
            f"r{call}", Place(caller, call, attempt), lambda record: None, Bodies(None)
        )
        signs = "@CHILD " in repr(reply.tool_calls)
        answer = Answer(
            connection=cast(Any, connection), exchange=exchange, request=request,
            dialect=self.dialect, reply=reply, tools=self.tools, keep_alive=False,
            chunks=not signs, door=cast(Any, None), fault=fault, fired=lambda: None,
            shut=_no_door,
        )  # fmt: skip
        try:
            await (fault.play(answer) if fault else answer.whole())
        except ClientGone:
            pass
        except (AttributeError, TypeError) as trouble:
            name = fault.name if fault else "the answer"
            raise NotPossible(f"{name} needs the provider's own socket ({trouble}).") from None
        broken = fault is not None and fault.name != "success"
        head: list[tuple[Any, ...]] = [("fault", fault.name)] if fault and broken else []
        return [*head, *connection.tape]

    def _fault(self, caller: str, call: int, attempt: int, request: ModelRequest) -> Fault | None:
        for each in self.faults:
            meant = not each.fault.why_not(request.dialect, request.stream)
            if meant and each.target.hits(caller, call, attempt, request.stream):
                return each.fault
        return None


def _no_door(seconds: float) -> None:
    raise TypeError("a port that refuses")


def _same(one: Tape, other: Tape) -> bool:
    """Whether two attempts are played alike; the date in a head does not count."""
    return _DATE.sub("", repr(one)) == _DATE.sub("", repr(other))


_DATE = re.compile(r'date: [^\\]+\\r\\n|"created(?:_at)?":\d+')
