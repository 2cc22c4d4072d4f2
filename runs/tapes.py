"""What a loopback provider answers in a scenario, written down: bytes, pauses, how it ends.

Each answer is played once by the real script, dialect and fault onto a tape.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

from fakes.answer import Answer
from fakes.dialect import ModelRequest, Reply, ToolCall, Turn, dialects, dumps, pieces
from fakes.fault import Fault
from fakes.journal import Bodies, Exchange
from fakes.ledger import Place
from fakes.script import Child, Script, Stage, ToolTable, root_prompt
from fakes.targeting import AimedFault, Identity
from fakes.wire import ClientGone
from runs import catalogue
from runs.driver import Driver
from runs.scenario import Scenario
from runs.tape import NotPossible, Recorder, Tape

MODEL = "gpt-5.4"
ATTEMPTS, STEPS = 9, 24
NOTHING, SPOKEN, ANSWERED = 0, 1, 2
"""What a caller has heard: nothing since it acted; a word; the answers of all its children."""
ANSWER = re.compile(r"CHILD-OK (\d[\d.]*\d|\d)")


class Named:
    """The agent's tools, with a sign in place of each id that only a run tells."""

    def __init__(self, tools: ToolTable, known: dict[str, str]) -> None:
        self._tools, self._known = tools, known
        self.messaged = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tools, name)

    def message(self, child: Child, text: str) -> ToolCall | None:
        """More work for a child; noted, since that child will have a second run."""
        self.messaged = True
        return self._tools.message(child, text)

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Every child that was delegated so far."""
        return dict(self._known)


def tapes(
    driver: Driver, version: str, scenario: Scenario, options: dict[str, Any]
) -> dict[str, list[dict[str, Any]]]:
    """By caller's path (root: empty) its steps, by form a tape an attempt.

    `after`: tool outputs that lead to the step; `heard`: what else does (see above). The last
    tape serves all further attempts.
    """
    script, faults = catalogue.build_script(scenario), catalogue.build_faults(scenario)
    if driver.dialect(options) == "generate_content":
        raise NotPossible("The script's server does not speak the Gemini protocol.")
    prompts = {"": (root_prompt(script), "parent", Identity(0, "root"))}
    counts = {1: 0, 2: 0}
    for task in script.tasks():
        depth = task.path.count(".") + 1
        kind = "child" if depth == 1 else "grandchild"
        counts[min(depth, 2)] += 1
        parent = task.path.rpartition(".")[0] or "root"
        who = Identity(depth, task.path, parent)
        prompts[task.path] = (task.prompt, f"{kind}:{counts[min(depth, 2)]}", who)
    paths = {caller: path for path, (_, caller, _) in prompts.items()}
    tools = driver.tools(options, version)
    player = _Player(driver.dialect(options), script, tools, faults, paths)
    return {
        path: asyncio.run(player.play(prompt, caller, who))
        for path, (prompt, caller, who) in prompts.items()
    }


class _Player:
    def __init__(
        self,
        dialect: str,
        script: Script,
        tools: ToolTable,
        faults: list[AimedFault],
        paths: dict[str, str],
    ) -> None:
        self.dialect, self.script, self.tools = dialects()[dialect], script, tools
        self.faults, self.paths = faults, paths
        self.messaged = False

    async def play(self, prompt: str, caller: str, who: Identity) -> list[dict[str, Any]]:
        """Every step that one caller can come to, by outputs and by what it heard."""
        path = self.paths[caller]
        below = {each: self._answers(each) for each in self.paths.values() if _under(path, each)}
        found: dict[tuple[int, int], tuple[tuple[Turn, ...], Reply, int]] = {}
        gists: dict[tuple[int, int], tuple[Any, ...]] = {}
        waiting: list[tuple[Turn, ...]] = [(Turn("user", prompt),)]
        while waiting:
            turns = waiting.pop(0)
            place = sum(turn.role == "tool" for turn in turns), _heard(turns, below)
            if place in found:
                continue
            if len(found) == STEPS:
                raise NotPossible("Its conversation is longer than a script should be.")
            call = 1 + sum(turn.role == "assistant" for turn in turns)
            reply = self._reply(turns, caller, who, call, below)
            found[place] = turns, reply, call
            gists[place] = self._gist(reply, caller, call)
            if _comes_round(gists, *place):
                continue
            if not reply.final or below or self.messaged:
                waiting += _continued(turns, reply, below)
        steps: list[dict[str, Any]] = []
        last = None
        for after, heard in sorted(found):
            turns, reply, call = found[after, heard]
            said = after, gists[after, heard]
            fresh: dict[str, Any] = {"after": after, "heard": heard}
            step = steps.pop() if said == last else fresh
            for form in ("stream", "plain"):
                step[form] = await self._attempts(turns, reply, caller, call, form == "stream")
            steps.append(step)
            last = said
        return steps

    def _answers(self, path: str) -> bool:
        """Whether that caller's answer is whole in the end."""
        (label,) = (caller for caller, each in self.paths.items() if each == path)
        fault = self._fault(label, 1, ATTEMPTS, self._request((), stream=True))
        return fault is None or not fault.error_class()

    def _gist(self, reply: Reply, caller: str, call: int) -> tuple[Any, ...]:
        """What makes a reply another one: its calls, its words but for counts, its faults."""
        calls = [(each.name, dumps(each.arguments)) for each in reply.tool_calls]
        request = self._request((), stream=True)
        faults = [self._fault(caller, call, n + 1, request) for n in range(ATTEMPTS)]
        return calls, re.sub(r"\d+ of \d+", "", reply.text), faults

    def _reply(
        self, turns: tuple[Turn, ...], caller: str, who: Identity, call: int, below: Collection[str]
    ) -> Reply:
        acted = any(turn.tool_calls for turn in turns)
        known = {path: f"@C {path}@" for path in below if acted}
        named = Named(self.tools, known)
        stage = Stage(who, cast(ToolTable, named), call)
        reply = self.script.reply(caller, self._request(turns, stream=True), stage)
        self.messaged = self.messaged or named.messaged
        prefix = f"{self.dialect.call_prefix}{call}"
        calls = (
            replace(each, id=each.id or f"{prefix}_{n}", raw=_uncut(each.text))
            for n, each in enumerate(reply.tool_calls)
        )
        return replace(reply, tool_calls=tuple(calls))

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
        signs = "@C " in repr(reply.tool_calls)
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
        except (AttributeError, TypeError):
            name = fault.name if fault else "the answer"
            raise NotPossible(f"{name} needs a port of the provider that is shut.") from None
        broken = fault is not None and fault.name != "success"
        head: list[tuple[Any, ...]] = [("fault", fault.name)] if fault and broken else []
        if reply.after:
            head.append(("after", [self._milestone(name) for name in reply.after], reply.patience))
        whole = [("answered",)] if reply.final and answer.complete else []
        sign = b"\\1@IN %g@" % (answer.retry_after or 0)
        played = [
            (each[0], _LATER.sub(sign, each[1])) if each[0] == "send" else each
            for each in connection.tape
        ]
        return [*head, *played, *whole]

    def _milestone(self, name: str) -> tuple[str, str]:
        """``child:1 asked`` as the path of that caller and what it did."""
        caller, _, what = name.partition(" ")
        if caller not in self.paths or what == "faulted":
            raise NotPossible(f"It waits for {name!r}, which the script's server does not see.")
        return self.paths[caller], what

    def _fault(self, caller: str, call: int, attempt: int, request: ModelRequest) -> Fault | None:
        for each in self.faults:
            meant = not each.fault.why_not(request.dialect, request.stream)
            if meant and each.target.hits(caller, call, attempt, request.stream):
                return each.fault
        return None


def _comes_round(gists: Mapping[tuple[int, int], tuple[Any, ...]], after: int, heard: int) -> bool:
    """Whether each word leads to what the word before led to: to a call, and then to a text.

    So it goes on for ever; the steps that are known serve for all further ones.
    """
    places = ((after, NOTHING), (after, heard))
    earlier = ((after - 1, NOTHING), (after - 1, heard))
    known = all(place in gists for place in (*places, *earlier))
    same = known and [gists[place] for place in places] == [gists[place] for place in earlier]
    return heard == SPOKEN and same


def _under(path: str, other: str) -> bool:
    """Whether the task `other` is handed out by `path`."""
    return other != "" and other.rpartition(".")[0] == path


def _heard(turns: tuple[Turn, ...], below: Collection[str]) -> int:
    """What a caller has heard; the script's `heard_of` reads the same out of a request."""
    told = (turn.text for turn in turns if turn.role in ("user", "tool"))
    if below and set(below) <= {path for text in told for path in ANSWER.findall(text)}:
        return ANSWERED
    acts = [n for n, turn in enumerate(turns) if turn.tool_calls]
    acts = acts or [n for n, turn in enumerate(turns) if turn.role == "assistant"]
    news = bool(acts) and any(turn.role == "user" for turn in turns[acts[-1] :])
    return SPOKEN if news else NOTHING


def _continued(
    turns: tuple[Turn, ...], reply: Reply, below: Mapping[str, bool]
) -> list[tuple[Turn, ...]]:
    """How the conversation may go on: with outputs, or with a word after a text.

    Either has the answers of all children that give one, or nothing of them.
    """
    said = (*turns, Turn("assistant", reply.text, reply.tool_calls))
    answers = " ".join(f"CHILD-OK {path}" for path, whole in below.items() if whole)
    if not reply.tool_calls:
        texts = dict.fromkeys([answers or "It goes on.", "It goes on."])
        return [(*said, Turn("user", text)) for text in texts]
    texts = dict.fromkeys(["It goes on.", answers or "It goes on."])
    return [
        (*said, *(Turn("tool", text, call_id=each.id) for each in reply.tool_calls))
        for text in texts
    ]


def _uncut(text: str) -> str:
    """Arguments with blanks before a sign that would be cut where they are sent in pieces."""
    signs = _SIGN.findall(text)
    if len(signs) != text.count("@C ") or any(len(sign) > PIECE for sign in signs):
        raise NotPossible("It names a child in the middle of a text that is sent in pieces.")
    made = ""
    for part in _SIGN.split(text):
        if _SIGN.fullmatch(part) and len(made) % PIECE + len(part) > PIECE:
            made += " " * (-len(made) % PIECE)
        made += part
    return made if made != text else ""


def _no_door(seconds: float) -> None:
    raise TypeError("a port that refuses")


def _same(one: Tape, other: Tape) -> bool:
    """Whether two attempts are played alike; the date in a head does not count."""
    return _DATE.sub("", repr(one)) == _DATE.sub("", repr(other))


PIECE = len(pieces(" " * 1000)[0])
_SIGN = re.compile(r'("@C [\d.]+@")')
_DATE = re.compile(r'date: [^\\]+\\r\\n|"created(?:_at)?":\d+')
_LATER = re.compile(rb"(retry-after: )[A-Z][^\r]+")
"""A date counts from the answer, not from the second in which the script is made."""
