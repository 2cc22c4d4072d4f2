"""Joins the files of a case: calls with children, ends that nobody wrote, mirrored records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from runs.core.events import ROOT, Draft, Event, Kind, Sighting, number, sighted
from runs.transcripts._clocks import Timed, align
from runs.transcripts._nameless import settle
from runs.transcripts._paths import Paths
from runs.transcripts._reading import ReadFile
from runs.transcripts._values import ELSEWHERE, TERMINAL

_KEPT_APART = frozenset({Kind.DAMAGE, Kind.OTHER})
_SECOND = frozenset({"hooks", "trace", "exit"})
"""Views that repeat what others say first; of records at one moment theirs come last."""


def join(files: Sequence[ReadFile]) -> list[Event]:
    """All events of a case on one clock, in order, numbered from 1."""
    rows = align(files)
    settle(rows, files)
    _put_session_first(rows, files)
    _complete_children(rows, files)
    _believe_answers(rows)
    _end_silent_children(rows)
    flat = [(at, draft) for row in rows for at, draft in row]
    order = sorted(
        range(len(flat)),
        key=lambda place: (_time(flat, place), flat[place][1].source in _SECOND, place),
    )
    events: list[Event] = []
    first: dict[tuple[str, str], tuple[int, str]] = {}
    for place in order:
        at, draft = flat[place]
        key = (draft.native_id, draft.kind.value)
        if draft.native_id and draft.kind not in _KEPT_APART:
            known = first.get(key)
            if known is not None and known[1] != draft.file and _same(events[known[0]], draft):
                twin = Sighting(draft.source, draft.file, draft.line, draft.pointer)
                seen = events[known[0]]
                more = seen.get("status") == "unknown" and draft.data.get("status") != "unknown"
                seen = replace(seen, data=draft.data) if more else seen
                events[known[0]] = sighted(seen, twin)
                continue
            first.setdefault(key, (len(events), draft.file))
        events.append(number(draft, len(events) + 1, at))
    return events


def _same(event: Event, draft: Draft) -> bool:
    """Whether a record with the same id in another file says the same of an end, if it shows it."""
    words = {event.get("status"), draft.data.get("status")}
    return len(words - {"unknown"}) <= 1


def _time(flat: Sequence[Timed], place: int) -> float:
    at = flat[place][0]
    return 0.0 if at is None else at


def _complete_children(rows: list[list[Timed]], files: Sequence[ReadFile]) -> None:
    """Fill in which call a sub-agent belongs to, and which sub-agent a call made."""
    notes = {
        str(file.facts.get("child")): file.facts
        for file in files
        if file.facts.get("child") and file.facts.get("call")
    }
    child_of = {str(note["call"]): child for child, note in notes.items()}
    paths = Paths()
    for at, draft in _all(rows):
        if draft.kind is Kind.AGENT_STARTED:
            paths.add(draft, at)
        call = str(draft.data.get("call") or "")
        if not call:
            continue
        if draft.kind is Kind.AGENT_STARTED:
            child_of.setdefault(call, draft.agent)
        elif draft.kind is Kind.SPAWN_ANSWERED and draft.data.get("child"):
            child_of.setdefault(call, str(draft.data["child"]))
    for at, draft in _all(rows):
        if draft.kind is Kind.SPAWN_ANSWERED:
            paths.answer(draft, at)
    begun = {draft.agent for _, draft in _all(rows) if draft.kind is Kind.AGENT_STARTED}
    for row in rows:
        row[:] = [(at, _if_known(draft, begun)) for at, draft in row]
        for place, (at, draft) in enumerate(row):
            changed = _by_path(_with_child(draft, child_of, notes), paths, at)
            if changed is not draft:
                row[place] = (at, changed)


def _if_known(draft: Draft, begun: set[str]) -> Draft:
    """More work for an agent whose start is in no file is but a message to it."""
    if draft.data.get("reason") != ELSEWHERE or draft.agent in begun:
        return draft
    return replace(draft, kind=Kind.USER_MESSAGE, data={"from": draft.data.get("by")})


def _with_child(draft: Draft, child_of: dict[str, str], notes: dict[str, Any]) -> Draft:
    data = draft.data
    if draft.kind is Kind.AGENT_STARTED and draft.agent in notes and not data.get("call"):
        note = notes[draft.agent]
        more = {key: note.get(key) for key in ("call", "role", "name", "background")}
        return replace(
            draft, data={**data, **{k: v for k, v in more.items() if v not in (None, "")}}
        )
    if draft.kind in (Kind.NOTICE_DELIVERED, Kind.SPAWN_ANSWERED) and not data.get("child"):
        child = child_of.get(str(data.get("call") or ""))
        if child:
            accepted = {"ok": True, "refusal": None} if draft.kind is Kind.SPAWN_ANSWERED else {}
            return replace(draft, data={**data, "child": child, **accepted})
    if draft.kind is Kind.AGENT_ENDED and not draft.agent:
        return replace(draft, agent=child_of.get(str(data.get("call") or ""), ""))
    return draft


def _by_path(draft: Draft, paths: Paths, at: float | None) -> Draft:
    """A sub-agent that is named by its path in the tree gets the id that its own file has."""
    if draft.kind is Kind.AGENT_RESUMED:
        by = str(draft.data.get("by") or "")
        return replace(draft, agent=paths.of(draft.agent, by, at) or draft.agent)
    begins = draft.kind is Kind.SPAWN_ANSWERED
    child = paths.of(str(draft.data.get("child") or ""), draft.agent, at, begins)
    if child:
        return replace(draft, data={**draft.data, "child": child})
    target = paths.of(str(draft.data.get("target") or ""), draft.agent, at)
    if draft.kind is Kind.CANCEL_REQUESTED and target:
        return replace(draft, data={**draft.data, "target": target})
    return draft


def _put_session_first(rows: list[list[Timed]], files: Sequence[ReadFile]) -> None:
    """Of a connection with several sessions, that is the root's whose own log is here."""
    own = {str(file.facts.get("session") or "") for file in files if not file.facts.get("beside")}
    for row, file in zip(rows, files, strict=True):
        beside = set(file.facts.get("beside") or ())
        known, first = beside & own, str(file.facts.get("session") or "")
        if len(known) != 1 or first in own:
            continue
        names = {known.pop(): ROOT, ROOT: first}
        for place, (at, draft) in enumerate(row):
            target = draft.data.get("target")
            data = {**draft.data, "target": names[target]} if target in names else draft.data
            row[place] = (at, replace(draft, agent=names.get(draft.agent, draft.agent), data=data))


def _believe_answers(rows: list[list[Timed]]) -> None:
    """Word of a failure that is one by its words alone, and is the child's own answer, is none."""
    said = {
        (draft.agent, draft.data.get("digest"))
        for _, draft in _all(rows)
        if draft.kind is Kind.AGENT_MESSAGE and draft.data.get("digest")
    }
    for row in rows:
        for place, (at, draft) in enumerate(row):
            data = draft.data
            if data.get("worded") and (data.get("child"), data.get("digest")) in said:
                meant = {"status": "completed", "raw": "completed", "error_passed": None}
                row[place] = (at, replace(draft, data={**data, **meant}))


def _all(rows: Iterable[list[Timed]]) -> Iterable[Timed]:
    for row in rows:
        yield from row


def _end_silent_children(rows: list[list[Timed]]) -> None:
    """A sub-agent's own file that closes with a final answer, or with an error, has ended.

    Some agents write no record of the end: the answer of the call says it, or
    nothing at all does. What is inferred is marked so.
    """
    ended: dict[str, float] = {}
    told: dict[str, tuple[list[Timed], int]] = {}
    for row in rows:
        for place, (at, draft) in enumerate(row):
            if draft.kind is Kind.AGENT_ENDED:
                ended[draft.agent] = max(ended.get(draft.agent, at or 0.0), at or 0.0)
            elif draft.kind is Kind.NOTICE_DELIVERED and _says_end(draft):
                told[str(draft.data["child"])] = (row, place)
    for row in rows:
        last = _closing(row)
        if last is None:
            continue
        place, begun = last
        at, draft = row[place]
        known = ended.get(draft.agent)
        if known is not None and known >= begun or known is None and _waits(row[:place]):
            continue
        failed = bool(draft.data.get("error"))
        inferred = _inferred(draft, "failed" if failed else "completed")
        row.insert(place + 1, (at, inferred))
        ended[draft.agent] = at or 0.0
    for child, (row, place) in told.items():
        if child not in ended:
            at, draft = row[place]
            said = replace(draft, agent=child)
            row.insert(place, (at, _inferred(said, str(draft.data["status"]))))


def _waits(row: Sequence[Timed]) -> bool:
    """Whether a child of the agent's own runs in the background that it has no word of."""
    owed: set[str] = set()
    for _, draft in row:
        child = str(draft.data.get("child") or "")
        if draft.kind is Kind.SPAWN_ANSWERED and draft.data.get("background"):
            owed.add(child)
        elif draft.kind is Kind.NOTICE_DELIVERED:
            owed.discard(child)
    return bool(owed - {""})


def _says_end(draft: Draft) -> bool:
    return (
        draft.data.get("form") in ("tool_result", "poll")
        and draft.data.get("status") in TERMINAL
        and bool(draft.data.get("child"))
    )


def _closing(row: list[Timed]) -> tuple[int, float] | None:
    """Place of the final message of a sub-agent's own file, and when its last run began.

    None where the file is not one sub-agent's, or does not close so.
    """
    agents = {draft.agent for _, draft in row if draft.kind is Kind.AGENT_STARTED}
    if len(agents) != 1 or any(draft.kind is Kind.SESSION_STARTED for _, draft in row):
        return None
    agent = agents.pop()
    begun, found = float("-inf"), None
    for place, (at, draft) in enumerate(row):
        if draft.agent != agent:
            continue
        if draft.kind is Kind.USER_MESSAGE:
            begun, found = at or 0.0, None
        elif draft.kind is Kind.AGENT_MESSAGE:
            found = place if draft.data.get("final") and draft.source == "session" else None
        elif draft.kind in (Kind.TOOL_STARTED, Kind.MODEL_STARTED, Kind.ABORTED):
            found = None
    return None if found is None else (found, begun)


def _inferred(draft: Draft, status: str) -> Draft:
    return replace(
        draft,
        kind=Kind.AGENT_ENDED,
        native_id="",
        data={
            "status": status,
            "raw": draft.native,
            "call": draft.data.get("call"),
            "text_length": draft.data.get("text_length"),
            "has_result": bool(draft.data.get("text_length")),
            "detail": "inferred from the last record",
            "inferred": True,
        },
    )
