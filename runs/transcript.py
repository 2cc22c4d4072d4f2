"""Reads what people attach: recognises formats, joins files into one case.

Readers are one-file plug-ins in ``transcripts/``; drivers use the same readers
on the live sources of a run. Nothing that a file holds is trusted.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import runs.transcripts
from fakes.registry import members
from runs.core.events import Draft, Event, Kind
from runs.core.history import History
from runs.transcripts._base import Clock, Format, Reader
from runs.transcripts._intake import Attached, Limits, Unreadable, gather
from runs.transcripts._join import join
from runs.transcripts._keeping import Room
from runs.transcripts._missing import missing
from runs.transcripts._reading import Progress, ReadFile, read
from runs.transcripts._unpack import is_lost

_DO = (
    "Attach session logs, JSON output, hook payloads, a trace or a request log; "
    "the page /import/ lists what is recognised."
)

__all__ = [
    "Attached",
    "Case",
    "Clock",
    "Format",
    "Limits",
    "ReadFile",
    "Reader",
    "Unreadable",
    "formats",
    "named",
    "read_case",
    "read_files",
]


@cache
def formats() -> dict[str, Format]:
    """All formats by name."""
    return {item.name: item for item in members(runs.transcripts, "READER").values()}


def named(name: str) -> Format:
    """The format of that name; KeyError when there is none."""
    return formats()[name]


@dataclass(frozen=True, slots=True)
class Case:
    """Several files, read as one case.

    `formats`: one row a file (path, format, lines, events, other, damage); `damage`:
    one row a damaged line; `missing`: what is not there and what therefore cannot
    be judged; `facts`: agent, version, session … as the files say.
    """

    events: tuple[Event, ...]
    history: History
    formats: list[dict[str, Any]]
    damage: list[dict[str, Any]]
    missing: list[str]
    facts: dict[str, Any]
    left_out: list[tuple[str, str]] = field(default_factory=list)


def read_case(
    paths: Iterable[str | Path],
    *,
    complete: bool | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Case:
    """Read files, folders and archives as one case.

    `complete`: False says that things happened after the files' end; None lets
    the files say it. Raises :class:`runs.transcript.Unreadable` with the file's name
    and what to do, when there is nothing to read or a limit is passed.
    """
    limits = limits or Limits()
    with tempfile.TemporaryDirectory(prefix="lifeline-import-") as folder, _no_collecting():
        intake = gather([Path(path) for path in paths], Path(folder), limits)
        files = read_files(intake.files, limits=limits, progress=progress)
        return case_of(files, complete=complete, left_out=intake.left_out)


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Hundreds of thousands of events are kept: looking for garbage among them costs a third."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def read_files(
    attached: Iterable[Attached],
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> list[ReadFile]:
    """Read each file by the format that recognises it; an export of ours replaces its raw files."""
    room = Room()
    found = [read(file, formats(), limits or Limits(), progress, room=room) for file in attached]
    exports = [file for file in found if file.format and file.format.name == "lifeline-events"]
    if exports:
        for file in found:
            if file not in exports:
                file.drafts.clear()
    return found


def case_of(
    files: list[ReadFile],
    *,
    complete: bool | None = None,
    left_out: Iterable[tuple[str, str]] = (),
) -> Case:
    """Join read files. Raises :class:`Unreadable` when no file says anything."""
    known = [file for file in files if file.format is not None]
    if not any(file.drafts for file in known):
        raise Unreadable(f"{_nothing_in(files)}{_left(left_out)}", _DO)
    events = join(known)
    left_out = list(left_out)
    if complete is None and any(is_lost(why) for _, why in left_out):
        complete = False
    history = History(events, complete=complete)
    facts = _facts(known)
    return Case(
        events=tuple(events),
        history=history,
        formats=[file.row() for file in files],
        damage=[_damage_row(draft) for file in known for draft in file.drafts
                if draft.kind is Kind.DAMAGE],
        missing=missing(history, known),
        facts=facts,
        left_out=left_out,
    )  # fmt: skip


def _nothing_in(files: list[ReadFile]) -> str:
    """A sentence on files that say nothing."""
    if not files:
        return "There is no file in it."
    names = ", ".join(file.name[:120] for file in files[:3]) + (" …" if len(files) > 3 else "")
    if not any(file.size for file in files):
        return f"{names} {'is' if len(files) == 1 else 'are'} empty."
    return f"No known format in {names}."


def _left(left_out: Iterable[tuple[str, str]]) -> str:
    """A sentence on the first three that were left out; nothing where there are none."""
    rows = list(left_out)
    said = ", ".join(f"{name[:80]!r} ({reason})" for name, reason in rows[:3])
    return f" Left out: {said}{' …' if len(rows) > 3 else ''}." if rows else ""


def _facts(files: list[ReadFile]) -> dict[str, Any]:
    """What the files say of themselves; the first that says something is believed."""
    found: dict[str, Any] = {}
    for file in files:
        if file.format is not None and file.format.agent:
            found.setdefault("agent", file.format.agent)
        for key in ("agent", "version", "session", "model", "cwd", "platform", "title"):
            if file.facts.get(key):
                found.setdefault(key, file.facts[key])
    return found


def _damage_row(draft: Draft) -> dict[str, Any]:
    return {
        "file": draft.file,
        "line": draft.line,
        "what": draft.data.get("what"),
        "repaired": bool(draft.data.get("repaired")),
        "detail": str(draft.data.get("detail") or ""),
        "lost": str(draft.data.get("lost") or ""),
    }
