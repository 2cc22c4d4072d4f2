"""Files that lost the record of whose they are: which agent's they must be, and what that makes
of their turns.

A reader says so in its facts: `startless` is the name that it gave the agent for want of a
better one, `unnamed` the same where the file's name does not tell it either; `above` and `path`
are what the rest of the file says of its place in the tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from runs.core.events import Draft, Kind
from runs.transcripts._clocks import Timed
from runs.transcripts._reading import ReadFile


def settle(rows: list[list[Timed]], files: Sequence[ReadFile]) -> None:
    """Name the agents of such files; the turns of one that is a sub-agent's are its runs."""
    names = [str(file.facts.get("startless") or "") for file in files]
    if not any(names):
        return
    unnamed = {
        name: file.facts
        for name, file in zip(names, files, strict=True)
        if name and file.facts.get("unnamed")
    }
    known = _Known(rows)
    alone = sum(bool(file.facts.get("unnamed")) for file in files) == 1
    meant = {name: _whose(known, name, facts, alone) for name, facts in unnamed.items()}
    if any(new != old for old, new in meant.items()):
        _rename(rows, meant)
        known = _Known(rows)
    for row, file, name in zip(rows, files, names, strict=True):
        if name:
            own = meant.get(name, name)
            start = known.spawned.get(own) or known.at(file.facts.get("path")) or _above(row, file)
            if start is not None:
                row[:] = _runs(row, own, None if own in known.begun else start)


def _above(row: Sequence[Timed], file: ReadFile) -> Draft | None:
    """A start made of what the rest of the file says of its place in the tree."""
    first = next((one for _, one in row if one.kind is not Kind.DAMAGE), None)
    if first is None or not file.facts.get("above"):
        return None
    about = {"parent": file.facts["above"], "path": file.facts.get("path")}
    return _made(first, Kind.AGENT_STARTED, about)


class _Known:
    """What the records of all files say of agents, read once.

    `spawned`: sub-agents that records name, each with its start, or what its spawner was
    answered. `begun`: those with a start. `seen`: those with a session's record of their own.
    `worked`: those that did something. `parents`: those that starts name as such.
    """

    def __init__(self, rows: Iterable[list[Timed]]) -> None:
        self.spawned: dict[str, Draft] = {}
        self.begun: set[str] = set()
        self.seen: set[str] = set()
        self.worked: set[str] = set()
        self.parents: set[str] = set()
        for row in rows:
            for _, draft in row:
                self._add(draft)
        self._by_path: dict[Any, list[Draft]] = defaultdict(list)
        for start in self.spawned.values():
            self._by_path[start.data.get("path")].append(start)

    def _add(self, draft: Draft) -> None:
        if draft.source == "session":
            self.seen.add(draft.agent)
        if draft.kind in _WORK:
            self.worked.add(draft.agent)
        child = str(draft.data.get("child") or "")
        if draft.kind is Kind.AGENT_STARTED:
            self.spawned[draft.agent] = draft
            self.begun.add(draft.agent)
            self.parents.add(str(draft.data.get("parent") or ""))
        elif draft.kind is Kind.SPAWN_ANSWERED and draft.data.get("ok") and child:
            path = child if child.startswith("/") else None
            about = {"parent": draft.agent, "call": draft.data.get("call"), "path": path}
            start = _made(replace(draft, agent=child), Kind.AGENT_STARTED, about)
            self.spawned.setdefault(child, start)

    def at(self, path: Any) -> Draft | None:
        """The start of the one sub-agent with that path."""
        found = self._by_path.get(path, []) if path else []
        return found[0] if len(found) == 1 else None


def _whose(known: _Known, name: str, facts: Mapping[str, Any], alone: bool) -> str:
    """The agent that has no file, where only one can be meant; else the file's `name`."""
    if facts.get("path"):
        meant = known.at(facts["path"])
        return meant.agent if meant is not None else name
    parents = known.parents - known.seen - {""}
    if alone and len(parents) == 1 and not facts.get("above"):
        return parents.pop()
    children = [
        child
        for child, start in known.spawned.items()
        if child not in known.worked and start.data.get("parent") != name
    ]
    return children[0] if alone and len(children) == 1 and not parents else name


_WORK = frozenset({Kind.TURN_STARTED, Kind.TURN_ENDED, Kind.AGENT_ENDED, Kind.AGENT_MESSAGE})


def _rename(rows: list[list[Timed]], meant: Mapping[str, str]) -> None:
    for row in rows:
        for place, (at, draft) in enumerate(row):
            data = {
                key: meant.get(value, value) if isinstance(value, str) else value
                for key, value in draft.data.items()
            }
            agent = meant.get(draft.agent, draft.agent)
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
