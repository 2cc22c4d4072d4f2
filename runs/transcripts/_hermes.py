"""What Hermes' views share: ``delegate_task``, its calls, its children and its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.core.events import Kind
from runs.transcripts._values import integer, items, length, mapping, marker, status, text

TASKS = 1000
"""Tasks of one call, at most: numbers above are not believed."""
_DELIVERED = re.compile(r"\[ASYNC DELEGATION (?:BATCH )?COMPLETE — (\w{1,80})\]\n")
_ONE = re.compile(r"^Status: (\w{1,40}) .*\n--- RESULT ---$", re.MULTILINE)
_TASK = re.compile(r"^--- . TASK (\d{1,4})/(\d{1,4})\b.*\(status=(\w{1,40})", re.MULTILINE)


def parsed(value: Any) -> Any:
    """JSON in a text, None where it is none."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def paired(
    children: Iterable[str], results: Iterable[dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The known children of which something is said, both in the order of their tasks."""
    pairs = zip(children, results, strict=False)
    return ((child, said) for child, said in pairs if child and said)


def told(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What an answer says of each task, in their order: the data of a notice but for child and
    form, nothing for a task that it leaves out."""
    rows = [mapping(one) for one in items(answer.get("results"))]
    numbers = [integer(row.get("task_index")) for row in rows]
    places = [one for one in numbers if one is not None and 0 <= one < TASKS]
    if len(set(places)) < len(rows):
        places = list(range(len(rows)))
    found: list[dict[str, Any]] = [{} for _ in range(max(places, default=-1) + 1)]
    for place, one in zip(places, rows, strict=True):
        found[place] = {
            "status": status(one.get("status")),
            "raw": text(one.get("status"), 40),
            "finish": text(one.get("exit_reason"), 40) or None,
            "has_result": length(one.get("summary")) > 0,
            "text_length": length(one.get("summary")),
            "error_passed": length(one.get("error")) > 0,
        }
    return found


def delivered(message: Any) -> tuple[str, list[dict[str, Any]]]:
    """The delegation whose result this message brings, and what it says of each task, in order.

    Hermes puts a result into the conversation in one of two forms, for one task or for several.
    What a sub-agent wrote stands below the line of its own task: what it quotes of another one
    may be taken for that. Of two words for one task none is believed, but for the first one's.
    """
    found = _DELIVERED.match(message) if isinstance(message, str) else None
    if found is None:
        return "", []
    words: dict[int, str] = {}
    lines = _TASK.findall(message)
    for number, word in ((int(one), word) for one, of, word in lines if of == lines[0][1]):
        if words.setdefault(number, word) != word and number > 1:
            words[number] = "unknown"
    one = _ONE.search(message)
    if one is not None and not words:
        words[1] = one[1]
    told_of = [
        {"status": status(words[number]), "raw": words[number], "has_result": True}
        if number in words
        else {}
        for number in range(1, max(words, default=0) + 1)
    ]
    return found[1], told_of


def notices(
    name: str, children: Sequence[str], results: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The data of each notice that a late result of a delegation is.

    Of a text that was cut nothing is known but that it came.
    """
    said = results or [{"status": "unknown", "raw": ""}] * len(children)
    batch = name if len(children) > 1 else None
    for child, one in paired(children, said):
        yield {"child": child, "form": "notification", "batch": batch, **one}


@dataclass(slots=True)
class _Call:
    """A call: of each of its tasks the number in its marker and the child, both may be empty."""

    markers: list[str]
    children: list[str]
    delegation: str = ""


class Delegations:
    """The calls of one conversation; a child belongs to the task that it names, else to the oldest
    one that lacks a child.

    Some versions store a call only when its turn is over: children that began before wait for it.
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], _Call] = {}
        self._waiting: dict[str, list[str]] = {}

    def ask(self, agent: str, call: str, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """A call with these arguments: the data of each task's ``spawn.requested``."""
        tasks = [mapping(one) for one in items(given.get("tasks"))] or [given]
        waiting = self._waiting.get(agent, [])
        markers = [marker(task.get("goal")) for task in tasks]
        here = waiting[: len(tasks)]
        self._calls[agent, call] = _Call(markers, here + [""] * (len(tasks) - len(here)))
        del waiting[: len(tasks)]
        for number, task in enumerate(tasks):
            yield {
                "call": self._task(call, number),
                "prompt_length": length(task.get("goal")),
                "role": text(task.get("role") or given.get("role"), 40) or None,
                "task": markers[number] or None,
            }

    def begin(self, agent: str, child: str, tasks: int = 1, goal: Any = "") -> str:
        """A child of `agent` begins: the call that it belongs to, empty where none lacks one.

        `tasks`: how many its call has, `goal`: its own task, where the child says so.
        """
        mine = [(name, call) for (owner, name), call in self._calls.items() if owner == agent]
        task = marker(goal)
        for name, call in mine:
            for number, named in enumerate(call.markers):
                if task and named == task and not call.children[number]:
                    call.children[number] = child
                    return self._task(name, number)
        for name, call in mine:
            more = tasks - len(call.children)
            call.markers += [""] * more
            call.children += [""] * more
            if "" in call.children:
                number = call.children.index("")
                call.children[number] = child
                return self._task(name, number)
        self._waiting.setdefault(agent, []).append(child)
        return ""

    def knows(self, agent: str, call: str) -> bool:
        """Whether that call delegates."""
        return (agent, call) in self._calls

    def children(self, delegation: str) -> list[str]:
        """The children of a delegation, in the order of its tasks; empty where one is not known.

        Whoever asked for it: a late result may come to another than that.
        """
        for call in self._calls.values():
            if delegation and call.delegation == delegation:
                return call.children
        return []

    def answer(
        self, agent: str, call: str, given: Mapping[str, Any]
    ) -> Iterator[tuple[Kind, dict[str, Any]]]:
        """What the call's answer says: whether it was taken, and how each child ended."""
        asked = self._calls[agent, call]
        results = told(given)
        dispatched = given.get("status") == "dispatched"
        asked.delegation = text(given.get("delegation_id"))
        for number, child in enumerate(asked.children):
            yield (
                Kind.SPAWN_ANSWERED,
                {
                    "call": self._task(call, number),
                    "ok": dispatched or bool(results),
                    "background": dispatched,
                    **({"child": child} if child else {}),
                    **({} if dispatched or results else {"refusal": "error"}),
                },
            )
        batch = call if len(asked.children) > 1 else None
        for child, one in paired(asked.children, results):
            note = {"child": child, "form": "tool_result", "batch": batch, **one}
            yield Kind.NOTICE_DELIVERED, note

    @staticmethod
    def _task(call: str, number: int) -> str:
        """The call's id for one of its tasks: a call may have several."""
        return call if number == 0 else f"{call}/{number}"
