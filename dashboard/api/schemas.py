"""The shapes that the API takes and gives."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Field, Schema

from runs.checking import LIMIT


class StartIn(Schema):
    """What to run: a scenario by name, or the TOML text of one."""

    agent: str = Field(description="AGENT or AGENT@VERSION, as copilot@1.0.81", max_length=100)
    version: str = Field("", description="instead of @VERSION; empty: the newest", max_length=64)
    scenario: str = Field("", description="name of a scenario", max_length=80)
    toml: str = Field(
        "",
        description="instead of a name: a scenario's TOML, whole. Without its `confirm` the answer "
        "is 428, which shows it as it would run, and nothing is made",
        max_length=LIMIT,
    )
    confirm: str = Field(
        "", description="the `confirm` of that answer: I have read this very text", max_length=64
    )
    sets: dict[str, str | int | float | bool] = Field(
        default_factory=dict, description="--set pairs, as {'faults.0.attempt': 'first 3'}"
    )
    repeat: int = Field(1, ge=1, le=100)
    expect: str = Field("", max_length=80)

    model_config = {"extra": "forbid"}


class AgainIn(Schema):
    """The same on another version, if one is given."""

    version: str = Field("", max_length=64)

    model_config = {"extra": "forbid"}


class RunRow(Schema):
    """A run in a list."""

    permalink: str
    kind: str
    agent: str
    version: str
    scenario: str
    status: str
    phase: str
    outcome: str
    public_outcome: str
    diagnosis: str
    broken: list[str]
    exit_code: int | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    event_count: int
    batch: str
    tags: list[str]
    keep: bool

    @staticmethod
    def resolve_broken(run: Any) -> list[str]:
        """The broken laws as a list."""
        return run.broken.split() if isinstance(run.broken, str) else run.broken


class StartOut(Schema):
    """The runs that were made, queued."""

    runs: list[RunRow]


class ConfirmOut(Schema):
    """A scenario that was given as text, whole, to be read before it runs."""

    error: dict[str, str]
    toml: str = Field(description="all of it, `sets` applied")
    script: str = Field(description="what the model does, in a sentence")
    faults: list[str] = Field(description="what is broken, and where")
    confirm: str = Field(description="send this along to run exactly this text")


class RunsOut(Schema):
    """A page of runs, newest first; `next` is the address of the older ones."""

    runs: list[RunRow]
    next: str | None
    problems: list[str] = Field(description="parts of the filter that were not understood")
    searched: str = Field(description="how far a search in transcripts got")


class EventOut(Schema):
    """An event. `t` is seconds since the run's start."""

    seq: int
    t: float | None
    kind: str
    agent: str
    source: str
    file: str
    line: int | None
    pointer: str
    native: str
    data: dict[str, Any]


class EventsOut(Schema):
    """Events above `after`; `next` is the `after` of the next page, null when there is none now."""

    events: list[EventOut]
    next: int | None
    open: bool = Field(description="more may still come")


class Document(Schema):
    """The JSON of `reproduce`, with what the page knows beyond it."""

    permalink: str
    agent: str
    version: str
    scenario: str
    status: str
    outcome: str | None
    public_outcome: str | None
    diagnosis: str | None
    exit_code: int | None
    agents: list[dict[str, Any]]
    attempts: list[dict[str, Any]]
    retry: dict[str, Any]
    findings: list[dict[str, Any]]

    model_config = {"extra": "allow"}


class ErrorOut(Schema):
    """Trouble: `{"what", "do"}` under `error`."""

    error: dict[str, str]
