"""Plays a script without an agent: who will be called how often, and what each call says.

The script talks to an ideal agent that has every tool, never fails and never tries
again. What comes of it is a plan to draw (planned.py), not a promise: a real agent may
lack a tool, ask once more, or ask for a title.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from fakes.dialect import ModelRequest, Reply, ToolCall, Turn
from fakes.script import Child, Script, Stage, Task, root_prompt
from fakes.targeting import TASK_PATTERN, Identity, by_markers

LANES = 24
"""Callers that are played; a drawing of more helps nobody."""
CALLS = 12
"""Calls of one caller that are played."""
TASKS = 400
"""Scripts with more tasks are not played at all."""


@dataclass(frozen=True, slots=True)
class Act:
    """One planned call. `hears`: (path, nth answer) that must be there before the next call.

    `cues`: milestones that must be reached before it, as ``child:1 answered``; `prompted`:
    the parent's call (path, number) that made this one necessary.
    """

    does: str
    spawns: tuple[str, ...] = ()
    hears: tuple[tuple[str, int], ...] = ()
    cues: tuple[str, ...] = ()
    prompted: tuple[str, int] | None = None
    waits: bool = False


@dataclass(slots=True)
class Lane:
    """One caller. `path` is its task (root: empty); `cut` says that it has more calls."""

    caller: str
    path: str
    acts: list[Act] = field(default_factory=list)
    cut: bool = False

    @property
    def depth(self) -> int:
        """0 parent, 1 child, 2 and more grandchild."""
        return self.path.count(".") + 1 if self.path else 0


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """All lanes, parents before their children; `left` callers are not among them."""

    lanes: tuple[Lane, ...]
    left: int = 0


class _Tools:
    """Tools of an agent that has them all."""

    def delegate(self, task: Task) -> ToolCall:
        return ToolCall("delegate", {"prompt": task.prompt, "background": task.background})

    def wait(self, child: Child) -> ToolCall | None:
        return ToolCall("wait", {"child": child.path})

    def poll(self, child: Child) -> ToolCall | None:
        return ToolCall("poll", {"child": child.path})

    def message(self, child: Child, text: str) -> ToolCall | None:
        return ToolCall("message", {"child": child.path, "text": text})

    def cancel(self, child: Child) -> ToolCall | None:
        return ToolCall("cancel", {"child": child.path})

    def work(self, form: str) -> ToolCall | None:
        return ToolCall("work", {"form": form})

    def children(self, request: ModelRequest) -> dict[str, str]:
        return {}


@lru_cache(maxsize=64)
def rehearse(script: Script) -> Rehearsal:
    """Play the script once; what it says at length is not needed for that."""
    if hasattr(script, "words"):
        short: dict[str, Any] = {"words": 1}
        script = replace(script, **short)
    tasks = script.tasks()
    if len(tasks) > TASKS:
        return Rehearsal((), len(tasks) + 1)
    shown = list(_callers([task.path for task in tasks]))[: LANES - 1]
    stage = _Play(script, {task.path: task for task in tasks})
    lanes = {"": Lane("parent", "")}
    lanes |= {path: Lane(caller, path) for path, caller in shown}
    for lane in lanes.values():  # parents come before their children
        stage.play(lane)
    return Rehearsal(tuple(sorted(lanes.values(), key=_place)), len(tasks) - len(shown))


def _callers(paths: list[str]) -> Iterator[tuple[str, str]]:
    """Path and label of each child, numbered as they will appear: generation by generation."""
    counts = {"child": 0, "grandchild": 0}
    for path in sorted(paths, key=lambda path: (path.count("."), _numbers(path))):
        kind = "grandchild" if "." in path else "child"
        counts[kind] += 1
        yield path, f"{kind}:{counts[kind]}"


def _numbers(path: str) -> tuple[int, ...]:
    return tuple(int(part) for part in path.split(".") if part)


def _place(lane: Lane) -> tuple[int, ...]:
    return _numbers(lane.path)


class _Play:
    """Plays one lane after the other, and remembers who was written to."""

    def __init__(self, script: Script, tasks: dict[str, Task]) -> None:
        self.script = script
        self.tasks = tasks
        self.letters: dict[str, list[tuple[str, int, str]]] = {}
        """By path of the child: who wrote (path, number of the call) and what."""

    def play(self, lane: Lane) -> None:
        """Fill in what that caller does, from its prompt to its last word."""
        prompt = self.tasks[lane.path].prompt if lane.path else root_prompt(self.script)
        turns, notes = [Turn("user", prompt)], dict[str, int]()
        self._speak(lane, turns, notes, None)
        for parent, number, text in self.letters.get(lane.path, []):
            turns.append(Turn("user", text))
            self._speak(lane, turns, notes, (parent, number))
        last = lane.acts[-1] if lane.acts else None
        if not lane.path and last and turns[-1].text.startswith("ROOT-WAITS"):
            self._is_told(lane, turns, notes)

    def _is_told(self, lane: Lane, turns: list[Turn], notes: dict[str, int]) -> None:
        """The agent itself tells a parent that did not wait, and it speaks again."""
        below = [path for path in self.tasks if path and "." not in path]
        lane.acts[-1] = replace(lane.acts[-1], hears=tuple((path, 1) for path in below))
        turns.append(Turn("user", " ".join(f"CHILD-OK {path}." for path in below)))
        self._speak(lane, turns, notes, None)

    def _speak(
        self,
        lane: Lane,
        turns: list[Turn],
        notes: dict[str, int],
        prompted: tuple[str, int] | None,
    ) -> None:
        """Ask the script until it calls no more tools."""
        while True:
            if len(lane.acts) >= CALLS:
                lane.cut = True
                return
            request = _request(turns)
            who = by_markers(request)
            identity = Identity(lane.depth, lane.path or who.key, task=lane.path)
            stage = Stage(identity, _Tools(), len(lane.acts) + 1, 1, notes)
            said = self.script.reply(lane.caller, request, stage)
            lane.acts.append(self._act(lane, said, prompted))
            calls = tuple(replace(c, id=f"{len(turns)}.{n}") for n, c in enumerate(said.tool_calls))
            turns.append(Turn("assistant", said.text, calls))
            turns.extend(Turn("tool", _output(call), call_id=call.id) for call in calls)
            if not calls:
                return
            prompted = None

    def _act(self, lane: Lane, said: Reply, prompted: tuple[str, int] | None) -> Act:
        hears, spawns = [], []
        for call in said.tool_calls:
            path = _whose(call)
            if call.name == "delegate":
                spawns.append(path)
            if call.name == "wait" or (
                call.name == "delegate" and not call.arguments["background"]
            ):
                hears.append((path, 1 + len(self.letters.get(path, []))))
            if call.name == "message":
                letter = (lane.path, len(lane.acts) + 1, str(call.arguments["text"]))
                self.letters.setdefault(path, []).append(letter)
        waits = bool(hears) and not spawns
        does = _does(said, lane)
        return Act(does, tuple(spawns), tuple(hears), said.after, prompted, waits)


def _request(turns: list[Turn]) -> ModelRequest:
    tools = ("delegate", "wait", "poll", "message", "cancel", "work")
    return ModelRequest("responses", "", True, tuple(turns), tools, "", {}, {})


def _whose(call: ToolCall) -> str:
    """The path of the child that a call is about; empty when it is about none."""
    if call.name == "delegate":
        found = TASK_PATTERN.search(str(call.arguments["prompt"]))
        return found.group(1) if found else ""
    return str(call.arguments.get("child", ""))


def _output(call: ToolCall) -> str:
    answers = call.name == "wait" or (call.name == "delegate" and not call.arguments["background"])
    return f"CHILD-OK {_whose(call)}." if answers else "done"


VERBS = {"wait": "waits", "poll": "asks after it", "message": "writes to it", "cancel": "stops it"}


def _does(said: Reply, lane: Lane) -> str:
    """What this call says, in two or three words."""
    if not said.tool_calls:
        if lane.path:
            return "answers"
        return "reports" if said.text.startswith("ROOT-OK") else "ends its turn"
    call = said.tool_calls[0]
    if call.name == "delegate":
        how = "" if call.arguments["background"] else " and waits"
        return f"delegates {len(said.tool_calls)}{how}"
    if call.name == "work":
        form = str(call.arguments["form"])
        return "asks permission" if form == "ask" else f"uses a {form} tool".replace("note ", "")
    return VERBS.get(call.name, call.name)
