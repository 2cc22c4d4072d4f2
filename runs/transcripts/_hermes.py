"""What Hermes' views share: ``delegate_task``, its calls, its children and its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from runs.core.events import Kind
from runs.transcripts._values import items, length, mapping, status, text

_DELIVERED = re.compile(r"\[ASYNC DELEGATION (?:BATCH )?COMPLETE — (\w{1,80})\]\n")
_ONE = re.compile(r"^Status: (\w{1,40}) .*\n--- RESULT ---$", re.MULTILINE)
_TASK = re.compile(r"^--- . TASK (\d{1,4})/\d{1,4}\b.*\(status=(\w{1,40})", re.MULTILINE)


def parsed(value: Any) -> Any:
    """JSON in a text, None where it is none."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def told(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What an answer says of each task, in order: the data of a notice but for child and form."""
    return [
        {
            "status": status(one.get("status")),
            "raw": text(one.get("status"), 40),
            "has_result": length(one.get("summary")) > 0,
            "text_length": length(one.get("summary")),
            "error_passed": length(one.get("error")) > 0,
        }
        for one in map(mapping, items(answer.get("results")))
    ]


def delivered(message: Any) -> tuple[str, list[dict[str, Any]]]:
    """The delegation whose result this message brings, and what it says of each task, in order.

    Hermes puts a result into the conversation in one of two forms, for one task or for several.
    What a sub-agent wrote stands below the lines that are read: the first of each kind counts.
    """
    found = _DELIVERED.match(message) if isinstance(message, str) else None
    if found is None:
        return "", []
    words: dict[int, str] = {}
    for number, word in _TASK.findall(message):
        words.setdefault(int(number), word)
    one = _ONE.search(message)
    if one is not None and not words:
        words[1] = one[1]
    told_of = [
        {"status": status(words[number]), "raw": words[number], "has_result": True}
        for number in sorted(words)
    ]
    return found[1], told_of


@dataclass(slots=True)
class _Call:
    tasks: int
    children: list[str] = field(default_factory=list)
    delegation: str = ""


class Delegations:
    """The calls of one conversation; children are given to the oldest call that lacks one.

    Some versions store a call only when its turn is over: children that began before wait for it.
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], _Call] = {}
        self._waiting: dict[str, list[str]] = {}

    def ask(self, agent: str, call: str, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """A call with these arguments: the data of each task's ``spawn.requested``."""
        tasks = [mapping(one) for one in items(given.get("tasks"))] or [given]
        waiting = self._waiting.get(agent, [])
        self._calls[agent, call] = _Call(len(tasks), waiting[: len(tasks)])
        del waiting[: len(tasks)]
        for number, task in enumerate(tasks):
            yield {
                "call": self._task(call, number),
                "prompt_length": length(task.get("goal")),
                "role": text(task.get("role") or given.get("role"), 40) or None,
            }

    def begin(self, agent: str, child: str, tasks: int = 1) -> str:
        """A child of `agent` begins: the call that it belongs to, empty where none lacks one.

        `tasks`: how many its call has, where the child says so.
        """
        for (owner, name), call in self._calls.items():
            call.tasks = max(call.tasks, tasks) if owner == agent else call.tasks
            if owner == agent and len(call.children) < call.tasks:
                call.children.append(child)
                return self._task(name, len(call.children) - 1)
        self._waiting.setdefault(agent, []).append(child)
        return ""

    def knows(self, agent: str, call: str) -> bool:
        """Whether that call delegates."""
        return (agent, call) in self._calls

    def children(self, agent: str, delegation: str) -> list[str]:
        """The children of a delegation, in the order of its tasks."""
        for (owner, _), call in self._calls.items():
            if owner == agent and delegation and call.delegation == delegation:
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
        for number in range(asked.tasks):
            child = asked.children[number] if number < len(asked.children) else ""
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
        for child, result in zip(asked.children, results, strict=False):
            yield Kind.NOTICE_DELIVERED, {"child": child, "form": "tool_result", **result}

    @staticmethod
    def _task(call: str, number: int) -> str:
        """The call's id for one of its tasks: a call may have several."""
        return call if number == 0 else f"{call}/{number}"
