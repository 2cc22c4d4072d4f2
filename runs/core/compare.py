"""Two or more runs beside each other: what differs in sentences, and one clock for all of them.

Pure: documents (the JSON of ``reproduce``) and timelines in, sentences and one timeline out.
The first run is what the others are compared with. Agents are matched by their caller
(``parent``, ``child:1`` …), because every run gives them other ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs import words

Document = Mapping[str, Any]
NOTICEABLE = 0.25
"""Gaps and durations that differ by less than this share are called the same."""
APART = 10_000_000
"""Numbers of the events of one run in a common timeline: run × APART + number."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One aspect in which the runs differ: what each of them shows, and a sentence."""

    group: str
    """outcome, notices, terminals, findings, attempts, gaps, events"""
    what: str
    values: tuple[str, ...]
    sentence: str


def differences(documents: Sequence[Document], names: Sequence[str]) -> list[Difference]:
    """Every difference, the weightiest group first; nothing when the runs show the same.

    `names` are what the runs are called in sentences, in the order of `documents`.
    """
    found: list[Difference] = []
    for group, aspects in ASPECTS:
        rows = [aspects(document) for document in documents]
        for what in dict.fromkeys(key for row in rows for key in row):
            values = tuple(str(row.get(what, "–")) for row in rows)
            if group == "findings" and "broken" not in values:
                continue  # judged here and not judged there: no difference in what happened
            if len(set(values)) > 1 and not _alike([row.get(what) for row in rows]):
                found.append(Difference(group, what, values, sentence(what, values, names)))
    return found


def sentence(what: str, values: Sequence[str], names: Sequence[str]) -> str:
    """``The parent was told about child:1: “idle” in A and B, nothing in C.``"""
    holders: dict[str, list[str]] = {}
    for value, name in zip(values, names, strict=True):
        holders.setdefault(value, []).append(name)
    parts = [f"{value} in {_joined(who)}" for value, who in holders.items()]
    return f"{what}: {', '.join(parts)}."


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _alike(values: Sequence[Any]) -> bool:
    """Whether measured times differ by no more than noise; counts and words never are alike."""
    if not all(isinstance(value, Seconds) for value in values):
        return False
    times = [float(value.value) for value in values]
    low, high = min(times), max(times)
    return high - low <= max(0.05, NOTICEABLE * high)


@dataclass(frozen=True, slots=True)
class Seconds:
    """A measured time, which is never the same twice."""

    value: float

    def __str__(self) -> str:
        return f"{self.value:.2f} s"


def _outcome(document: Document) -> dict[str, Any]:
    found: dict[str, Any] = {
        "Outcome": document.get("outcome") or "none",
        "Diagnosis": words.diagnosis(str(document.get("diagnosis") or ""))[0] or "none",
        "Exit code": _word(document.get("exit_code")),
    }
    if isinstance(document.get("duration"), int | float):
        found["Duration"] = Seconds(float(document["duration"]))
    return found


def _notices(document: Document) -> dict[str, Any]:
    found = {}
    for row in _children(document):
        told = row.get("told") or {}
        word = f"“{told.get('status')}”" if told.get("status") else "nothing"
        times = int(told.get("times") or 1) if told else 1
        found[f"The parent was told about {role_of(row)}"] = (
            f"{word} {times} times" if times > 1 else word
        )
    return found


def _terminals(document: Document) -> dict[str, Any]:
    found = {}
    for row in document.get("agents") or []:
        who = role_of(row)
        for view, word in (row.get("terminal") or {}).items():
            if word != "none":  # a view that says nothing and one that is not there are the same
                found[f"Terminal of {who} in {view}"] = word
        found[f"True end of {who}"] = row.get("true_end") or "unknown"
    return found


def _findings(document: Document) -> dict[str, Any]:
    roles = {row.get("id"): role_of(row) for row in document.get("agents") or []}
    found: dict[str, Any] = {}
    for row in document.get("findings") or []:
        key = f"{row.get('law')} for {roles.get(row.get('agent'), 'the run')}"
        if found.get(key) != "broken":
            found[key] = row.get("verdict")
    return found


def _attempts(document: Document) -> dict[str, Any]:
    counts = Counter(str(row.get("caller")) for row in document.get("attempts") or [])
    found: dict[str, Any] = {f"Attempts of {caller}": n for caller, n in counts.items()}
    faults = Counter(str(row["fault"]) for row in document.get("attempts") or [] if row["fault"])
    found |= {f"Fault {name} fired": f"{n}×" for name, n in faults.items()}
    reported = (document.get("retry") or {}).get("reported") or {}
    found["Retries that it reports"] = _word(reported.get("retries"))
    return found


def _gaps(document: Document) -> dict[str, Any]:
    rows = document.get("attempts") or []
    found: dict[str, Any] = {}
    for row in rows:
        if isinstance(row.get("gap_before"), int | float):
            key = (
                f"Gap before attempt {row.get('n')} of {row.get('caller')}, call {row.get('call')}"
            )
            found[key] = Seconds(float(row["gap_before"]))
    slept = ((document.get("retry") or {}).get("reported") or {}).get("sleep")
    if isinstance(slept, int | float):
        found["Waiting that it reports"] = Seconds(float(slept))
    return found


def _events(document: Document) -> dict[str, Any]:
    kinds = document.get("event_kinds") or {}
    return {f"Events {kind}": count for kind, count in kinds.items()}


ASPECTS: tuple[tuple[str, Callable[[Document], dict[str, Any]]], ...] = (
    ("outcome", _outcome),
    ("notices", _notices),
    ("terminals", _terminals),
    ("findings", _findings),
    ("attempts", _attempts),
    ("gaps", _gaps),
    ("events", _events),
)
"""What is compared, the weightiest first. Each gives {aspect: value} of one document."""


def role_of(row: Mapping[str, Any]) -> str:
    """What an agent is called across runs: its caller, else ``root`` or its name."""
    caller = row.get("caller")
    if caller:
        return "the root" if caller == "parent" else str(caller)
    return str(row.get("name") or row.get("id")) if row.get("parent") else "the root"


def _children(document: Document) -> list[Mapping[str, Any]]:
    return [row for row in document.get("agents") or [] if row.get("parent")]


def _word(value: Any) -> str:
    return "none" if value is None else str(value)


# One clock


def spawn_of(document: Document) -> float | None:
    """When the run's first sub-agent started, in seconds since its start; None without one."""
    starts = [row["started"] for row in _children(document) if row.get("started") is not None]
    return min(starts) if starts else None


def aligned(
    timelines: Sequence[Mapping[str, Any]], names: Sequence[str], spawns: Sequence[float | None]
) -> dict[str, Any]:
    """One timeline of all of them, moved so that the spawns fall on one moment.

    Lanes that mean the same stand together, run by run. A number of an event is
    ``run × APART + number``; a process lane holds the samples of its run. `spawn` is where
    they meet; a run without one begins at 0. What never ended reaches to the end of its run.
    """
    meet = max((spawn for spawn in spawns if spawn is not None), default=0.0)
    shifts = [meet - spawn if spawn is not None else 0.0 for spawn in spawns]
    placed: list[tuple[int, int, dict[str, Any]]] = []
    order: dict[str, int] = {}
    every: list[list[float]] = []
    ends = [line.get("duration", 0) + shift for line, shift in zip(timelines, shifts, strict=True)]
    for number, (timeline, name) in enumerate(zip(timelines, names, strict=True)):
        samples = [[t + shifts[number], *rest] for t, *rest in timeline.get("samples", ())]
        every += samples
        for key, lane in _keyed(timeline.get("lanes", ())):
            place = order.setdefault(key, len(order))
            moved = _moved(lane, number, name, shifts[number])
            for bar in moved["bars"]:
                bar |= {"until": ends[number]} if bar["end"] is None else {}
            own = {"samples": samples} if lane["kind"] == "process" else {}
            placed.append((place, number, moved | own))
    return {
        "duration": max(ends, default=0.0),
        "ended": True,
        "spawn": meet,
        "lanes": [lane for _, _, lane in sorted(placed, key=lambda row: row[:2])],
        "samples": every,
    }


def _keyed(lanes: Iterable[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Each lane with what it means in any run: agents by depth and place, callers by name."""
    seen: Counter[str] = Counter()
    found = []
    for lane in lanes:
        key = f"{lane['kind']} {lane['depth'] if lane['kind'] == 'agent' else ''}"
        if lane["kind"] in ("caller", "part"):
            key = f"{lane['kind']} {lane['id']}"
        seen[key] += 1
        found.append((f"{key} {seen[key]}", lane))
    return found


def _moved(lane: Mapping[str, Any], number: int, name: str, shift: float) -> dict[str, Any]:
    prefix = f"{number}:"
    parent = lane.get("parent")
    return {
        **lane,
        "id": prefix + str(lane["id"]),
        "parent": prefix + str(parent) if parent is not None else None,
        "agent": prefix + str(lane.get("agent") or ""),
        "label": f"{name} {lane['label']}",
        "bars": [_shifted(bar, ("start", "end"), number, shift) for bar in lane["bars"]],
        "marks": [_shifted(mark, ("t",), number, shift) for mark in lane["marks"]],
        "gaps": [_shifted(gap, ("start", "end"), number, shift) for gap in lane["gaps"]],
    }


def _shifted(
    item: Mapping[str, Any], times: Sequence[str], number: int, shift: float
) -> dict[str, Any]:
    found = dict(item)
    for key in times:
        if found.get(key) is not None:
            found[key] = round(found[key] + shift, 6)
    for key in ("seq", "end_seq"):
        if found.get(key):
            found[key] = number * APART + int(found[key])
    return found
