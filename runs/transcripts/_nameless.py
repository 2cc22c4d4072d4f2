"""Files that lost the record of whose they are: which agent's they must be, and what that makes
of their turns.

A reader says so in its facts: `startless` is the name that it gave the agent for want of a
better one, `unnamed` the same where the file's name does not tell it either; `above` and `path`
are what the rest of the file says of its place in the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from runs.core.events import Draft, Kind
from runs.transcripts._clocks import Timed
from runs.transcripts._reading import ReadFile


def settle(rows: list[list[Timed]], files: Sequence[ReadFile]) -> None:
    """Name the agents of such files; the turns of one that is a sub-agent's are its runs."""
    unnamed = [file for file in files if file.facts.get("unnamed")]
    for row, file in zip(rows, files, strict=True):
        name = str(file.facts.get("startless") or "")
        if not name:
            continue
        if file in unnamed:
            found = _whose(rows, name, file.facts, alone=len(unnamed) == 1)
            _rename(rows, name, found)
            name = found
        spawned = _spawned(rows)
        start = spawned.get(name) or _at(spawned, file.facts.get("path"))
        if start is None and file.facts.get("above"):
            first = next((one for _, one in row if one.kind is not Kind.DAMAGE), None)
            about = {"parent": file.facts["above"], "path": file.facts.get("path")}
            start = None if first is None else _made(first, Kind.AGENT_STARTED, about)
        if start is not None:
            begun = any(one.kind is Kind.AGENT_STARTED and one.agent == name for one in _all(rows))
            row[:] = _runs(row, name, None if begun else start)


def _whose(rows: Iterable[list[Timed]], name: str, facts: Any, alone: bool) -> str:
    """The agent that has no file, where only one can be meant; else the file's `name`."""
    spawned = _spawned(rows)
    seen = {one.agent for one in _all(rows) if one.source == "session"}
    if facts.get("path"):
        meant = _at(spawned, facts["path"])
        return meant.agent if meant is not None else name
    starts = [one for one in _all(rows) if one.kind is Kind.AGENT_STARTED]
    parents = {str(one.data.get("parent") or "") for one in starts} - seen - {""}
    if alone and len(parents) == 1 and not facts.get("above"):
        return parents.pop()
    worked = {one.agent for one in _all(rows) if one.kind in _WORK}
    children = [
        child
        for child, start in spawned.items()
        if child not in worked and start.data.get("parent") != name
    ]
    return children[0] if alone and len(children) == 1 and not parents else name


_WORK = frozenset({Kind.TURN_STARTED, Kind.TURN_ENDED, Kind.AGENT_ENDED, Kind.AGENT_MESSAGE})


def _spawned(rows: Iterable[list[Timed]]) -> dict[str, Draft]:
    """Sub-agents that records name, each with its start, or what its spawner was answered."""
    found: dict[str, Draft] = {}
    for draft in _all(rows):
        child = str(draft.data.get("child") or "")
        if draft.kind is Kind.AGENT_STARTED:
            found[draft.agent] = draft
        elif draft.kind is Kind.SPAWN_ANSWERED and draft.data.get("ok") and child:
            path = child if child.startswith("/") else None
            about = {"parent": draft.agent, "call": draft.data.get("call"), "path": path}
            start = _made(replace(draft, agent=child), Kind.AGENT_STARTED, about)
            found.setdefault(child, start)
    return found


def _at(spawned: Mapping[str, Draft], path: Any) -> Draft | None:
    """The start of the one sub-agent with that path."""
    found = [start for start in spawned.values() if path and start.data.get("path") == path]
    return found[0] if len(found) == 1 else None


def _rename(rows: list[list[Timed]], old: str, new: str) -> None:
    for row in rows if new != old else ():
        for place, (at, draft) in enumerate(row):
            data = {key: new if value == old else value for key, value in draft.data.items()}
            agent = new if draft.agent == old else draft.agent
            if agent != draft.agent or data != draft.data:
                row[place] = (at, replace(draft, agent=agent, data=data))


def _runs(row: list[Timed], agent: str, start: Draft | None) -> list[Timed]:
    """The file's records with this start before the agent's first; the end of a turn ends a run."""
    found: list[Timed] = []
    size, over = 0, False
    for at, draft in row:
        mine = draft.agent == agent
        if mine and start is not None and draft.kind not in (Kind.DAMAGE, Kind.OTHER):
            about = {key: value for key, value in start.data.items() if value}
            found.append((at, replace(start, agent=agent, data=about)))
            start = None
        if mine and draft.kind is Kind.AGENT_MESSAGE:
            size = int(draft.data.get("text_length") or 0)
        elif mine and draft.kind is Kind.TURN_STARTED and over:
            found.append((at, _made(draft, Kind.AGENT_RESUMED, {"reason": "new turn"})))
            size, over = 0, False
        elif mine and draft.kind is Kind.TURN_ENDED:
            keys = ("status", "raw", "error_class")
            data = {key: draft.data.get(key) for key in keys}
            data |= {"text_length": size, "has_result": size > 0}
            draft, over = _made(draft, Kind.AGENT_ENDED, data), True
        found.append((at, draft))
    return found


def _made(draft: Draft, kind: Kind, data: dict[str, Any]) -> Draft:
    return replace(draft, kind=kind, data=data, native_id="")


def _all(rows: Iterable[list[Timed]]) -> Iterable[Draft]:
    for row in rows:
        for _, draft in row:
            yield draft
