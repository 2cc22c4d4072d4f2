"""One clock for all files of a case.

Epoch files share a clock; relative ones begin with the earliest epoch record, or with a restart;
files without times are laid beside what they have in common with timed ones. Lines that
merely stand out of order are sorted by their time (:mod:`runs.transcripts._steady`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from runs.core.events import Draft, Kind
from runs.transcripts._reading import ReadFile
from runs.transcripts._restarts import start_of

Timed = tuple[float | None, Draft]
"""Seconds since the start of the case (None: not known) and the draft."""


def align(files: Sequence[ReadFile]) -> list[list[Timed]]:
    """The drafts of each file with their times, the earliest record of the case at 0."""
    known = [file for file in files if not _relative(file)]
    marks = _marks(known)
    offsets = {
        file.name: _offset(file)
        or _by_marks(file, marks)
        or start_of(file.drafts, [one.drafts for one in known])
        for file in files
        if _relative(file)
    }
    epoch = [_first(file) for file in known]
    for file in files:
        first, offset = _first(file), offsets.get(file.name)
        if first is not None and offset is not None:
            epoch.append(first + offset)
    started = min((at for at in epoch if at is not None), default=0.0)
    rows: list[list[Timed]] = []
    for file in files:
        zero = started
        if _relative(file):
            offset = offsets[file.name]
            zero = 0.0 if offset is None else started - offset
        rows.append(
            [
                (None if draft.at is None else round(draft.at - zero, 6), draft)
                for draft in file.drafts
            ]
        )
    _lay_untimed(rows)
    return rows


def epoch(files: Sequence[ReadFile]) -> float | None:
    """Epoch seconds at which the case begins; None where no file has such times."""
    found = [_first(file) for file in files if not _relative(file)]
    known = [at for at in found if at is not None and at >= 1e8]
    return min(known, default=None)


def _mark(draft: Draft) -> tuple[str, str] | None:
    """The name of a moment that two files of one case may both record."""
    if draft.kind in (Kind.TURN_STARTED, Kind.TURN_ENDED) and draft.data.get("turn"):
        turn = str(draft.data["turn"])
        return (draft.kind.value, turn) if len(turn) > 8 else None
    if draft.kind in (Kind.SPAWN_ANSWERED, Kind.TOOL_STARTED) and draft.data.get("call"):
        return draft.kind.value, str(draft.data["call"])
    return None


def _marks(files: Sequence[ReadFile]) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for file in files:
        for draft in file.drafts:
            if draft.at is None:
                continue
            key = _mark(draft)
            if key is not None:
                found.setdefault(key, draft.at)
    return found


def _by_marks(file: ReadFile, marks: dict[tuple[str, str], float]) -> float | None:
    """Epoch seconds of a relative clock's zero, by the moments that it shares with epoch files."""
    gaps = []
    for draft in file.drafts:
        if draft.at is None:
            continue
        key = _mark(draft)
        if key is not None and key in marks:
            gaps.append(marks[key] - draft.at)
    return sorted(gaps)[len(gaps) // 2] if gaps else None


def _offset(file: ReadFile) -> float | None:
    """Epoch seconds of a relative clock's zero, where the file tells it by itself."""
    found = file.facts.get("clock_offset")
    return found if isinstance(found, float) else None


def _relative(file: ReadFile) -> bool:
    """Whether its times count from its own start (a time under 1e8 s is none since 1970)."""
    if file.format is None or file.format.clock != "relative":
        return False
    first = _first(file)
    return first is None or first < 1e8


def _first(file: ReadFile) -> float | None:
    """The earliest of the first times; one wild value later on does not count."""
    found: list[float] = []
    for draft in file.drafts:
        if draft.at is not None and draft.kind is not Kind.DAMAGE:
            found.append(draft.at)
            if len(found) == 20:
                break
    return min(found, default=None)


def _anchors(draft: Draft) -> list[tuple[str, str]]:
    """What an untimed record may have in common with a timed one about the same fact."""
    found = [("id", draft.native_id)] if draft.native_id else []
    if draft.kind in (Kind.AGENT_STARTED, Kind.AGENT_ENDED) and draft.agent:
        found.append((draft.kind.value, draft.agent))
    elif draft.kind in (Kind.SPAWN_REQUESTED, Kind.SPAWN_ANSWERED, Kind.TOOL_ENDED):
        call = draft.data.get("call")
        if call:
            found.append((draft.kind.value, str(call)))
    return found


def _keys(row: Sequence[Timed]) -> list[list[tuple[str, str]]]:
    """For each record what it may have in common; ends of an agent's turns by their number.

    Two files with as many of them show the same turns.
    """
    found = [_anchors(draft) for _, draft in row]
    ends: dict[str, list[int]] = defaultdict(list)
    for place, (_, draft) in enumerate(row):
        if draft.kind is Kind.TURN_ENDED:
            ends[draft.agent].append(place)
    for agent, places in ends.items():
        for which, place in enumerate(places, 1):
            found[place].append((f"turn {which} of {len(places)}", agent))
    return found


def _lay_untimed(rows: list[list[Timed]]) -> None:
    """Give untimed files of a case that has timed ones the times of what they share."""
    anchors: dict[tuple[str, str], float] = {}
    for row in rows:
        for (at, _), keys in zip(row, _keys(row), strict=True):
            if at is not None:
                for key in keys:
                    anchors.setdefault(key, at)
    if not anchors:
        return
    for row in rows:
        if any(at is None for at, _ in row):
            _lay(row, anchors)


def _lay(row: list[Timed], anchors: dict[tuple[str, str], float]) -> None:
    latest: float | None = None
    for place, ((at, draft), keys) in enumerate(zip(list(row), _keys(row), strict=True)):
        known = [at] if at is not None else [anchors.get(key) for key in keys]
        found = next((one for one in known if one is not None), None)
        if found is not None and (latest is None or found > latest):
            latest = found
        if at is None:
            row[place] = (latest, draft)
