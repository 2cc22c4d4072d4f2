"""What an owner did, as records that can be kept, and the one word for how it came out.

A record is a mapping with ``what``: ``turn``, ``child``, ``attempt`` (each again whenever it
changed), ``stop``, ``phase``, ``snapshot`` (at the result: what others may see), or the
name of something that was wanted (``continue``, ``interrupt``, ``retire``, ``emit``, ``show``,
``close``, ``finalize`` …).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from runs.core import owning as o
from runs.core.continuation import Owner

Row = Mapping[str, Any]
FILE = "owner.jsonl"
"""The file of a run that holds an owner's records."""
OUTCOMES = (
    *("orphan_after_stop", "ambiguous_retired", "double_continuation"),
    *("dropped_child", "misbound", "waited_ok"),
)
"""In the order in which they are looked for."""


class Log:
    """Turns an owner's steps into records; what did not change is not said again."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._said: dict[tuple[str, Any], Row] = {}

    def after(self, heard: o.Heard, wants: Iterable[o.Want]) -> list[dict[str, Any]]:
        """The records of one step: what was heard of turns, what changed, what is wanted."""
        owner = self._owner
        rows: list[dict[str, Any]] = []
        if isinstance(heard, o.TurnStarted | o.TurnEnded) and heard.thread == owner.thread:
            begins = isinstance(heard, o.TurnStarted)
            rows.append({"what": "began" if begins else "ended", "turn": heard.turn})
        for turn in owner.turns.values():
            self._changed(rows, "turn", turn.id, asdict(turn))
        for child in owner.children.values():
            shown = asdict(child)
            shown.pop("turns")
            self._changed(rows, "child", child.id, shown)
        for attempt in owner.attempts:
            self._changed(rows, "attempt", attempt.number, asdict(attempt))
        if owner.stop_at is not None:
            self._changed(rows, "stop", "", {"at": owner.stop_at})
        self._changed(rows, "phase", "", {"phase": owner.phase.value})
        for want in wants:
            rows.append({**asdict(want), "what": type(want).__name__.lower()})
            if isinstance(want, o.Finalize):
                rows.append({**owner.snapshot(), "what": "snapshot"})
        return [{**row, "owner": owner.run} for row in rows]

    def _changed(self, rows: list[dict[str, Any]], what: str, key: Any, row: Row) -> None:
        if self._said.get((what, key)) != row:
            self._said[what, key] = dict(row)
            rows.append({"what": what, **row})


@dataclass(slots=True)
class Story:
    """The records of one owner, put together."""

    owner: str = ""
    turns: dict[str, Row] = field(default_factory=dict)
    children: dict[str, Row] = field(default_factory=dict)
    attempts: dict[int, Row] = field(default_factory=dict)
    stop_at: float | None = None
    phase: str = ""
    written: list[int] = field(default_factory=list)
    """The number of the attempt at each write of a continuation."""
    interrupted: list[str] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    """Turns of the thread that began, as was heard, and did not end."""
    retired: bool = False
    result: Row = field(default_factory=dict)
    results: int = 0
    outcome: str = ""


def tell(rows: Sequence[Row]) -> Story:
    """The story of an owner's records, with its outcome."""
    story = Story()
    for row in rows:
        story.owner = str(row.get("owner") or story.owner)
        if not _state(story, row):
            _deed(story, row)
    story.outcome = _outcome(story)
    return story


def _state(story: Story, row: Row) -> bool:
    """Take a record of what is; False where it is none."""
    what = row.get("what")
    if what == "turn":
        story.turns[str(row["id"])] = row
    elif what == "child":
        story.children[str(row["id"])] = row
    elif what == "attempt":
        story.attempts[int(row["number"])] = row
    elif what == "stop":
        story.stop_at = row.get("at")
    elif what == "phase":
        story.phase = str(row["phase"])
    else:
        return False
    return True


def _deed(story: Story, row: Row) -> None:
    """Take a record of what happened or was wanted."""
    what = row.get("what")
    if what == "began":
        if not story.running:  # while one runs no other can: that start is stale
            story.running.add(str(row["turn"]))
    elif what == "ended":
        story.running.discard(str(row["turn"]))
    elif what == "continue":
        story.written.append(int(row["number"]))
    elif what == "interrupt":
        story.interrupted.append(str(row["turn"]))
    elif what == "retire":
        story.retired = True
    elif what == "finalize":
        story.result, story.results = row, story.results + 1


def _outcome(story: Story) -> str:
    tests = {
        "orphan_after_stop": _orphan,
        "ambiguous_retired": lambda told: told.retired,
        "double_continuation": _double,
        "dropped_child": _dropped,
        "misbound": _misbound,
    }
    return next((name for name, test in tests.items() if test(story)), "waited_ok")


def _orphan(story: Story) -> bool:
    """A turn runs on behind the stop, and nobody interrupted it."""
    if story.stop_at is None:
        return False
    unsure = {turn["id"] for turn in story.turns.values() if turn["completed"] is not True}
    return bool((story.running | unsure) - set(story.interrupted))


def _double(story: Story) -> bool:
    """A continuation was written twice, or though the turn before it had read everything."""
    if len(story.written) > len(set(story.written)):
        return True
    return any(
        attempt["bytes_sent"] and not _owed(story, str(attempt["after"]))
        for attempt in story.attempts.values()
    )


def _owed(story: Story, after: str) -> bool:
    """Whether a child ended behind that turn."""
    turn = story.turns.get(after)
    if turn is None or turn["ended"] is None:
        return False
    ends = [child["ended"] for child in story.children.values()]
    return any(end is not None and end >= turn["ended"] for end in ends)


def _dropped(story: Story) -> bool:
    """It was released with a child still running, or with a result that no turn has read."""
    if not story.results or story.stop_at is not None or story.result.get("why") == "replaced":
        return False
    for child in story.children.values():
        ended = child["ended"]
        if ended is None:
            return True
        read = any(
            turn["started"] <= ended and (turn["ended"] is None or turn["ended"] >= ended)
            for turn in story.turns.values()
        ) or any(turn["started"] >= ended for turn in story.turns.values())
        if not read and not story.result.get("exit_code"):
            return True
    return False


def _misbound(story: Story) -> bool:
    """The result is a turn's that is not the last one, or of a turn older than its request."""
    turn = str(story.result.get("turn") or "")
    if turn and story.turns and turn != list(story.turns)[-1] and story.stop_at is None:
        return True
    return any(
        attempt["bound"] in story.turns
        and story.turns[attempt["bound"]]["started"] < attempt["decided"]
        for attempt in story.attempts.values()
    )
