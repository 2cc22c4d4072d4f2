"""`/api/sweeps` and `/api/bisects`: start, read, pause, resume, cancel."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from dashboard.api.schemas import ErrorOut
from dashboard.views.sweeps import find, scenario_names
from runs import bisections, named, sweeps
from runs.errors import HarnessError

router = Router(tags=["sweeps"])
bisects = Router(tags=["sweeps"])
Trouble = {400: ErrorOut, 404: ErrorOut, 409: ErrorOut, 422: ErrorOut}
Given = str | int | float | bool


class SweepIn(Schema):
    """What to sweep, as on the command line."""

    agents: str = Field(description="copilot@1.0.60,1.0.81..1.0.102,codex", max_length=20_000)
    scenarios: str = Field(description="names with commas", max_length=8_000)
    repeat: int = Field(1, ge=1, le=100)
    sets: dict[str, Given] = Field(default_factory=dict)
    only_missing: bool = False

    model_config = {"extra": "forbid"}


class BisectIn(Schema):
    """Between which versions, and what to look for."""

    agent: str = Field(max_length=32)
    good: str = Field(max_length=64)
    bad: str = Field(max_length=64)
    scenario: str = Field("sse-cut", max_length=80)
    look: str = Field(description="law:L2, outcome:…, diagnosis:…, an expression", max_length=300)
    repeat: int = Field(1, ge=1, le=10)

    model_config = {"extra": "forbid"}


class SteerIn(Schema):
    """What to do with it."""

    do: Literal["pause", "resume", "cancel"]

    model_config = {"extra": "forbid"}


@router.post("", response={201: dict[str, Any], **Trouble}, operation_id="sweep")
def start_sweep(request: HttpRequest, body: SweepIn) -> Any:
    """Make a sweep and queue its runs in a fair order."""
    made = sweeps.create(
        named.binaries_of(body.agents),
        scenario_names(body.scenarios),
        repeat=body.repeat,
        sets=body.sets,
        only_missing=body.only_missing,
    )
    return _begun(made)


@router.get("/{permalink}", response={200: dict[str, Any], **Trouble}, operation_id="sweep_read")
def read_sweep(request: HttpRequest, permalink: str) -> Any:
    """The JSON of `sweep --json`, with its state and progress."""
    return sweeps.document(find(permalink, bisection=False))


@router.post("/{permalink}", response={200: dict[str, Any], **Trouble}, operation_id="sweep_steer")
def steer_sweep(request: HttpRequest, permalink: str, body: SteerIn) -> Any:
    """Pause, resume or cancel."""
    return _steer(permalink, body.do, bisection=False)


@bisects.post("", response={201: dict[str, Any], **Trouble}, operation_id="bisect")
def start_bisect(request: HttpRequest, body: BisectIn) -> Any:
    """Make a bisection; it asks for its own runs until it has an answer."""
    (name,) = scenario_names(body.scenario)[:1] or [""]
    try:
        made = bisections.create(
            body.agent, body.good, body.bad, name, body.look, repeat=body.repeat
        )
    except ValueError as error:
        raise HarnessError(str(error)) from None
    return _begun(made)


@bisects.get("/{permalink}", response={200: dict[str, Any], **Trouble}, operation_id="bisect_read")
def read_bisect(request: HttpRequest, permalink: str) -> Any:
    """The JSON of `bisect --json`."""
    return sweeps.document(find(permalink, bisection=True))


@bisects.post(
    "/{permalink}", response={200: dict[str, Any], **Trouble}, operation_id="bisect_steer"
)
def steer_bisect(request: HttpRequest, permalink: str, body: SteerIn) -> Any:
    """Pause, resume or cancel."""
    return _steer(permalink, body.do, bisection=True)


def _begun(made: Any) -> Any:
    sweeps.advance(made)
    sweeps.feed()
    made.refresh_from_db()
    return Status(201, sweeps.document(made))


def _steer(permalink: str, do: str, *, bisection: bool) -> Any:
    found = find(permalink, bisection)
    {"pause": sweeps.pause, "resume": sweeps.resume, "cancel": sweeps.cancel}[do](found)
    found.refresh_from_db()
    return sweeps.document(found)
