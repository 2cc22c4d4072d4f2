"""What all scripts share: a parent that delegates, waits and reports; children that answer.

The next step is read out of the conversation itself, so that an agent may ask
again, repeat itself, be notified or be retried at any time:

    delegate what is not delegated ─▶ steps of the script ─▶ wait, where there is a tool for it
    ─▶ ROOT-OK when told about the children, else ROOT-WAITS

Whoever has tasks below it is a parent; nested children are just that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from fakes.dialect import ModelRequest, Reply, ToolCall, dumps
from fakes.script import Child, Finisher, Recruiter, Script, Stage, Task, ToolTable, task
from fakes.settings import setting
from fakes.targeting import TASK_PATTERN, task_path

ORDER = re.compile(r"(\S+) after ((?:parent|child:\d+|grandchild:\d+) (?:asked|answered|faulted))")
ANSWERED = re.compile(r"CHILD-OK (\d[\d.]*\d|\d)")
REPORT = re.compile(r"ROOT-(OK|WAITS) ")
TRIES = 25
"""How often a task is delegated to one caller at most: an agent that forgets must not loop."""
FILLER = ["This", "sentence", "is", "part", "of", "the", "answer", "and", "says", "nothing"]


class Talk:
    """A conversation as a script looks at it. `path`: of the caller's own task, root: empty."""

    def __init__(self, request: ModelRequest, stage: Stage, caller: str) -> None:
        self.request = request
        self.stage = stage
        self.caller = caller
        self.tools: ToolTable = stage.tools
        number = caller.partition(":")[2] or "1"
        who = stage.identity
        self.path = "" if who.depth == 0 else who.task or task_path(request) or number

    @cached_property
    def calls(self) -> list[ToolCall]:
        """All tool calls that the model has made so far."""
        return [call for turn in self.request.turns for call in turn.tool_calls]

    @cached_property
    def made(self) -> Counter[str]:
        """How often each call was made, by name and arguments."""
        return Counter(_key(call) for call in self.calls)

    @cached_property
    def delegated(self) -> set[str]:
        """Paths of the tasks that it has handed out."""
        found = (TASK_PATTERN.search(dumps(call.arguments)) for call in self.calls)
        return {match.group(1) for match in found if match}

    @cached_property
    def answered(self) -> set[str]:
        """Paths of the tasks whose answers it has seen."""
        heard = (turn.text for turn in self.request.turns if turn.role in ("user", "tool"))
        return {path for text in heard for path in ANSWERED.findall(text)}

    @cached_property
    def news(self) -> bool:
        """Whether somebody spoke to it since it delegated (a notification).

        In a conversation that was restored without its calls, since it reported.
        """
        turns = self.request.turns
        acts = [n for n, turn in enumerate(turns) if turn.tool_calls] or self.reports
        return bool(acts) and any(turn.role == "user" for turn in turns[acts[-1] :])

    @cached_property
    def reports(self) -> list[int]:
        """The places of its own reports, which prove that it had delegated everything."""
        turns = enumerate(self.request.turns)
        return [n for n, turn in turns if turn.role == "assistant" and REPORT.match(turn.text)]

    @property
    def spoke(self) -> bool:
        """Whether it has given an answer before."""
        return any(t.role == "assistant" and "CHILD-OK" in t.text for t in self.request.turns)

    def child(self, path: str) -> Child:
        """The child with the agent's own id of it, where a tool's output told it."""
        return Child(path, self.tools.children(self.request).get(path, ""))

    def fetch(self, path: str) -> ToolCall | None:
        """The call that fetches what was announced; None where a tool waits, or nothing does."""
        child = self.child(path)
        if self.tools.wait(child) is not None:
            return None
        return self.tools.wait(replace(child, announced=True))

    def first_new(self, calls: Iterable[ToolCall | None]) -> ToolCall | None:
        """The first of these calls that has not been made (as often as it is listed)."""
        made = Counter(self.made)
        for call in calls:
            if call is None:
                continue
            if not made[_key(call)]:
                return call
            made[_key(call)] -= 1
        return None


def _key(call: ToolCall) -> str:
    return f"{call.name} {dumps(call.arguments)}"


@dataclass(frozen=True)
class Delegation(Script):
    """Base of the scripts; a script says what is delegated and adds steps."""

    words: int = setting(24, "Words in a child's answer.", low=1, high=100_000)
    child_first: float = setting(
        0.0, "Pause before the first byte of a child's answer.", unit="s", low=0, high=600
    )
    child_model: str = setting("", "Model that children are asked for; empty: the agent's choice.")
    order: tuple[str, ...] = setting(
        (),
        'Who waits for whom, as "child:2 after child:1 answered"; also asked and faulted.',
    )

    def __post_init__(self) -> None:
        for rule in self.order:
            if not ORDER.fullmatch(rule):
                raise ValueError(
                    f'{self.name}: order: {rule!r} is not of the form "child:2 after '
                    'child:1 answered" (or asked, faulted)'
                )

    def reply(self, caller: str, request: ModelRequest, stage: Stage) -> Reply:
        if stage.identity.depth < 0:
            return Reply(text="Delegation test")
        talk = Talk(request, stage, caller)
        said = _handed_in(self._next(talk), talk)
        after = tuple(m[2] for rule in self.order if (m := ORDER.match(rule)) and m[1] == caller)
        first = self.first + (self.child_first if talk.path else 0)
        return replace(said, per_token=self.per_token, first=first, after=(*said.after, *after))

    def _next(self, talk: Talk) -> Reply:
        below = self.below(talk.path)
        if not below:
            return self.child(talk)
        fresh = [each for each in below if each.path not in talk.delegated]
        if not fresh or (talk.reports and not talk.delegated):
            return self.parent(talk, below)
        if self._forgets(talk):
            return self.report(talk, below)
        chosen = self.at_once(fresh)
        return Reply(tool_calls=tuple(call for each in chosen for call in _starts(talk, each)))

    def _forgets(self, talk: Talk) -> bool:
        """Whether it was told to delegate too often: its conversation does not keep the calls."""
        tries = talk.stage.notes.get("delegations", 0) + 1
        talk.stage.notes["delegations"] = tries
        return tries > TRIES + len(self.below(talk.path))

    def below(self, path: str) -> list[Task]:
        """The tasks that this caller hands out."""
        return [each for each in self.tasks() if each.path.rpartition(".")[0] == path]

    def at_once(self, fresh: list[Task]) -> list[Task]:
        """Which of the tasks are handed out in one turn."""
        return fresh

    def tasks(self) -> tuple[Task, ...]:
        return (task("1", model=self.child_model),)

    def parent(self, talk: Talk, below: list[Task]) -> Reply:
        """What a parent says when everything is delegated: wait, then report."""
        call = self.wait(talk, below)
        if call is not None:
            return Reply(tool_calls=(call,))
        return self.report(talk, below)

    def wait(self, talk: Talk, below: list[Task], rounds: int = 1) -> ToolCall | None:
        """The next call that waits for a child; None: there is none, or nothing to wait for.

        A tool that only fetches what was announced is called at each announcement.
        """
        fetches = _fetches(talk, below)
        if fetches:
            return fetches[0] if talk.news else None
        calls = {
            each.path: talk.tools.wait(talk.child(each.path)) for each in below if each.background
        }
        waits = [call for path, call in calls.items() if path not in talk.answered]
        # A tool that waits for whoever comes first is called in one form for all of them.
        spent = [call for path, call in calls.items() if path in talk.answered and call in waits]
        return talk.first_new((spent + waits) * rounds)

    def told(self, talk: Talk, below: list[Task]) -> bool:
        """Whether the conversation says that the children have ended, well or not."""
        if talk.news or all(each.path in talk.answered for each in below):
            return True
        if any(talk.made[_key(call)] for call in _fetches(talk, below)):
            return True
        waits = [talk.tools.wait(talk.child(each.path)) for each in below if each.background]
        waited = [call for call in waits if call is not None]
        return len(waited) == len(waits) and talk.first_new(waited) is None

    def report(self, talk: Talk, below: list[Task]) -> Reply:
        """The parent's text."""
        seen = sum(each.path in talk.answered for each in below)
        counted = f"{seen} of {len(below)} answers seen."
        if talk.path:
            return Reply(text=f"{_answer(talk, self.words)} Of my own tasks {counted}")
        word = "ROOT-OK" if self.told(talk, below) else "ROOT-WAITS"
        return Reply(text=f"{word} {counted}")

    def child(self, talk: Talk) -> Reply:
        """What a child without tasks of its own says."""
        return Reply(text=_answer(talk, self.words))


def _starts(talk: Talk, chosen: Task) -> tuple[ToolCall, ...]:
    """The calls that hand out a task; where its agent wants one, a call before makes the worker."""
    tools = talk.tools
    made = tools.recruit(chosen) if isinstance(tools, Recruiter) else None
    asked = tools.delegate(chosen)
    return (asked,) if made is None else (made, asked)


def _handed_in(said: Reply, talk: Talk) -> Reply:
    """A sub-agent's answer, with the call that hands it in where its agent wants one."""
    if not talk.path or not said.final or not isinstance(talk.tools, Finisher):
        return said
    return replace(said, tool_calls=(talk.tools.finish(said.text),), ends=True)


def _fetches(talk: Talk, below: list[Task]) -> list[ToolCall]:
    """The calls that fetch what was announced of these children."""
    calls = (talk.fetch(each.path) for each in below)
    return [call for call in calls if call is not None]


def _answer(talk: Talk, words: int) -> str:
    opening = f"CHILD-OK {talk.path}" + (" again." if talk.spoke else ".")
    filler = [FILLER[number % len(FILLER)] for number in range(max(0, words - 2))]
    return " ".join([opening, *filler]) + ("." if filler else "")
