"""Rollout files while they grow: what one calls by a path in the tree, another one has named.

A parent's file knows its sub-agents by paths (``/root/x``), their own files have
the ids; one file's reader waits for what another one says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from runs.core.events import Draft, Kind
from runs.transcripts.codex_rollout import Rollout

_NAMES = ("child", "target", "from", "by")


class LiveRollout(Rollout):
    """One file; `paths` is shared by all files of the run: thread by path in the tree."""

    def __init__(self, file: str, paths: dict[str, str]) -> None:
        super().__init__(file)
        self._known = paths
        self._nameless: list[Draft] = []

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """Drafts of one line, and of earlier ones whose names are known now."""
        return self._named([*super().feed(line, number, offset)], last=False)

    def end(self) -> Iterable[Draft]:
        """All that is left, names known or not."""
        return self._named([*super().end()], last=True)

    def _named(self, drafts: list[Draft], last: bool) -> list[Draft]:
        for draft in drafts:
            if draft.kind is Kind.AGENT_STARTED and draft.data.get("path"):
                self._known.setdefault(str(draft.data["path"]), draft.agent)
        held, self._nameless = self._nameless, []
        ready = []
        for draft in (*held, *drafts):
            found = self._with_ids(draft)
            if found is None and not last:
                self._nameless.append(draft)
            else:
                ready.append(found or draft)
        return ready

    def _with_ids(self, draft: Draft) -> Draft | None:
        """The draft with ids instead of paths; None while one of them is unknown."""
        names = {
            key: str(draft.data[key])
            for key in _NAMES
            if str(draft.data.get(key) or "").startswith("/root/")
        }
        if not names and not draft.agent.startswith("/root/"):
            return draft
        if any(name not in self._known for name in (*names.values(), *_path(draft.agent))):
            return None
        data = {**draft.data, **{key: self._known[name] for key, name in names.items()}}
        agent = self._known.get(draft.agent, draft.agent)
        return replace(draft, data=data, agent=agent)


def _path(agent: str) -> tuple[str, ...]:
    return (agent,) if agent.startswith("/root/") else ()
