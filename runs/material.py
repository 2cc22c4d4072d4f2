"""What exports are made of: one run, redacted once, before any format sees it.

No exporter reads the database or the run's folder. It gets :class:`Material`, in which
every string has passed the redactor; so a new format cannot forget it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from runs import models, pictures, report, store, vocabulary
from runs import repeat as repeating
from runs.facts import tried_again
from runs.redact import Choice, Redactor
from runs.shaper import Shaper, strings


@dataclass(frozen=True, slots=True)
class Material:
    """One redacted run. Times in seconds since its start; `epoch` is that start."""

    run: dict[str, Any]
    document: dict[str, Any]
    scenario: dict[str, Any]
    intake: dict[str, Any]
    opinions: list[dict[str, Any]]
    expected: dict[str, str]
    """By law: what a person said of its breach in an earlier run of this agent and scenario."""
    timeline: dict[str, Any]
    events: Callable[[], Iterator[dict[str, Any]]]
    """Every stored event in order, each time anew."""
    files: Callable[[], Iterator[tuple[str, Iterator[bytes]]]]
    """Raw files and bodies; none below level ``full``."""
    evidence: Callable[[list[int]], dict[int, dict[str, Any]]]
    """The events with these numbers."""
    body: Callable[[str], bytes | None]
    """A kept request or answer by its name; none below level ``full``."""
    epoch: float
    address: str
    command: str
    repeat: repeating.Repeat | None
    """What repeats it, or is proposed to, for a script of its own."""
    level: str
    redactor: Redactor

    @property
    def title(self) -> str:
        """Agent, version and scenario in one line."""
        words = (self.run["agent"], self.run["version"], "·", self.run["scenario"] or "import")
        return " ".join(word for word in words if word)


def of(
    run: models.Run,
    choice: Choice,
    *,
    address: str = "",
    command: str = "",
    light: bool = False,
    unlinked: bool = False,
) -> Material:
    """The run's material; RedactionFailed when a detector crashes.

    `light`: without its events and with the attempts of one call alone, for what shows no
    more than that and the evidence (the page makes it each time it is opened). `unlinked`:
    without the permalink, which is this instance's own.
    """
    told = _told(run)
    keep = vocabulary.nobodys() | vocabulary.ids(told["document"])
    keep |= set() if unlinked else {run.permalink}
    redactor = Redactor(choice, _salt(run), keep, vocabulary.judged())
    shaper = Shaper(redactor)
    if light:
        told["document"]["attempts"] = tried_again(told["document"].get("attempts") or [])
    scenario = run.snapshot
    timeline = {} if light else json.loads(pictures.text_of(run))
    if not choice.whole:
        if unlinked:
            redactor.hide(run.permalink)
        for part in (told, timeline):
            shaper.learn(part)
        for text in (*strings(scenario), address, command):
            redactor.learn_ours(text)
        for event in () if light else _events(run):
            shaper.learn(event)
        redactor.learned()
    document = shaper.shape("", told.pop("document"))
    about, cleaned = shaper.shape("", told["run"]), shaper.clean(scenario)
    return Material(
        run=about,
        document=document,
        scenario=cleaned,
        intake=shaper.shape("", told["intake"]),
        opinions=shaper.shape("", told["opinions"]),
        expected=_expected(run),
        timeline=shaper.shape("", timeline),
        events=lambda: (shaper.shape("", event) for event in _events(run)),
        files=lambda: raw_files(run) if choice.whole else iter(()),
        evidence=lambda seqs: {
            event["seq"]: shaper.shape("", event) for event in _events(run, seqs)
        },
        body=lambda name: store.body(run, name) if choice.whole and name else None,
        epoch=run.started_at.timestamp() if run.started_at else run.created_at.timestamp(),
        address=redactor.text(address),
        command=redactor.text(command),
        repeat=repeating.told(run, about, cleaned),
        level=choice.level,
        redactor=redactor,
    )


def _salt(run: models.Run) -> bytes:
    return hashlib.sha256(f"{settings.SECRET_KEY}:{run.permalink}".encode()).digest()


def _told(run: models.Run) -> dict[str, Any]:
    opinions = models.Opinion.objects.filter(run=run).order_by("law", "agent")
    keys = ("law", "agent", "word", "note", "link")
    return {
        "run": {
            "permalink": run.permalink,
            "kind": run.kind,
            "agent": run.agent,
            "version": run.version,
            "reported_version": run.reported_version,
            "sha256": run.sha256,
            "scenario": run.scenario,
            "created_at": run.created_at.isoformat(),
            "started_at": run.started_at.isoformat() if run.started_at else None,
            "ended_at": run.ended_at.isoformat() if run.ended_at else None,
            "complete": run.summary.get("complete"),
            "executed": run.kind == models.Run.Kind.RUN
            or bool(run.summary.get("intake", {}).get("archive", {}).get("outcome")),
            "options": run.options,
            "sealed": run.sealed,
            "runtime": run.runtime,
            "notes": run.notes,
            "tags": run.tags,
        },
        "document": report.document(run),
        "intake": {k: v for k, v in run.summary.get("intake", {}).items() if k != "facts"},
        "opinions": [{key: getattr(row, key) for key in keys} for row in opinions],
    }


def _expected(run: models.Run) -> dict[str, str]:
    """Laws that people called broken before, for this agent and scenario."""
    if not run.scenario:
        return {}
    earlier = models.Opinion.objects.filter(
        run__agent=run.agent, run__scenario=run.scenario, run__pk__lte=run.pk
    ).order_by("at")
    found = dict(earlier.values_list("law", "word"))
    return {law: word for law, word in found.items() if word != models.Opinion.Word.WITHDRAWN}


def _events(run: models.Run, seqs: list[int] | None = None) -> Iterator[dict[str, Any]]:
    rows = models.Event.objects.filter(run=run).order_by("seq")
    if seqs is not None:
        rows = rows.filter(seq__in=seqs[:500])
    for row in rows.iterator(chunk_size=2000):
        yield {
            **store.event_dict(row),
            "native_id": row.native_id,
            "offset": row.offset,
            "length": row.length,
        }


def raw_files(run: models.Run) -> Iterator[tuple[str, Iterator[bytes]]]:
    """``sources/…`` (unpacked) and ``bodies/…`` of a run, in pieces; links are left out."""
    base = store.folder(run)
    for part in ("sources", "bodies"):
        folder = base / part
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file() and not path.is_symlink():
                name = path.relative_to(base).as_posix()
                yield name.removesuffix(".zst") if part == "sources" else name, _pieces(path)


def _pieces(path: Path) -> Iterator[bytes]:
    import zstandard

    with path.open("rb") as file:
        packed = path.suffix == ".zst"
        reader = zstandard.ZstdDecompressor().stream_reader(file) if packed else file
        while piece := reader.read(1 << 20):
            yield piece
