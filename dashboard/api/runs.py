"""`/api/runs`: start, list, read, follow, cancel, run again."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, JsonResponse
from ninja import Router, Status
from pydantic import Field

from dashboard import pictures, rows
from dashboard.api import given
from dashboard.api.schemas import (
    AgainIn,
    ConfirmOut,
    Document,
    ErrorOut,
    EventsOut,
    RunRow,
    RunsOut,
    StartIn,
    StartOut,
)
from dashboard.views.run import find
from runs import report, saved, start, store
from runs.errors import UnknownName
from runs.scenario import Scenario, ScenarioError, nearest

router = Router(tags=["runs"])
Trouble = {400: ErrorOut, 404: ErrorOut, 409: ErrorOut, 422: ErrorOut}
LIMIT = 2000


@router.post(
    "",
    response={201: StartOut, **Trouble, 428: ConfirmOut},
    summary="Start runs",
    operation_id="start",
)
def start_runs(request: HttpRequest, body: StartIn) -> Any:
    """Make one run, or `repeat` of them, and queue them."""
    agent, version = start.split_agent(body.agent)
    if version and body.version and version != body.version:
        raise UnknownName(f"{body.agent} and version {body.version} differ.", "Give it once.")
    if bool(body.scenario) == bool(body.toml):
        raise ScenarioError("Give a scenario's name (scenario) or its text (toml), one of the two.")
    if body.toml:
        scenario = given.confirmed(body.toml, body.sets, body.confirm)
    else:
        scenario, _ = _known_scenario(body.scenario).with_sets(body.sets)
    made = start.create(
        agent,
        version or body.version,
        scenario.name,
        given=scenario,
        repeat=body.repeat,
        expect=body.expect,
    )
    return Status(201, {"runs": made})


def _known_scenario(name: str) -> Scenario:
    """A scenario by name, never a path: files are read on the command line only."""
    known = saved.known()
    if name not in known:
        raise UnknownName(f"There is no scenario {name!r}.", nearest(name, known))
    return known[name]


@router.get("", response=RunsOut, summary="List runs", operation_id="list")
def list_runs(request: HttpRequest, q: str = "", before: int | None = None) -> Any:
    """Newest first, 50 a page. `q` is the filter of the page: `agent:copilot law:L3 after:2d`."""
    page = rows.page(q[:500].replace("\x00", ""), before)
    return {
        "runs": [row.run for row in page.rows],
        "next": f"/api/runs{page.older}" if page.older else None,
        "problems": page.problems,
        "searched": page.searched,
    }


@router.get(
    "/{permalink}", response={200: Document, **Trouble}, summary="Read a run", operation_id="read"
)
def read_run(request: HttpRequest, permalink: str) -> Any:
    """The JSON of `reproduce`."""
    return JsonResponse(report.document(find(permalink)))  # whole: also the keys not listed here


@router.get(
    "/{permalink}/events",
    response={200: EventsOut, **Trouble},
    summary="Events after a number",
    operation_id="events",
)
def events(
    request: HttpRequest,
    permalink: str,
    after: Annotated[int, Field(ge=0)] = 0,
    limit: Annotated[int, Field(ge=1, le=LIMIT)] = store.PAGE,
) -> Any:
    """A page; its cost does not grow with the run's length. The WebSocket gives the same live."""
    run = find(permalink)
    found = store.page(run, after, limit)
    more = len(found) == limit
    return {
        "events": found,
        "next": found[-1]["seq"] if more else None,
        "open": run.is_open,
    }


@router.get(
    "/{permalink}/timeline",
    response={200: dict[str, Any], **Trouble},
    summary="The timeline",
    operation_id="timeline",
)
def timeline(request: HttpRequest, permalink: str) -> Any:
    """Lanes with bars, marks and gaps, and the process samples. Times in seconds since start."""
    return pictures.timeline_of(find(permalink).pk)


@router.post(
    "/{permalink}/cancel",
    response={200: RunRow, **Trouble},
    summary="Cancel a run",
    operation_id="cancel",
)
def cancel(request: HttpRequest, permalink: str) -> Any:
    """Ask for the end of an open run; one that has ended stays as it is."""
    run = find(permalink)
    start.cancel(run)
    return find(permalink)


@router.post(
    "/{permalink}/again",
    response={201: RunRow, **Trouble},
    summary="Run it again",
    operation_id="again",
)
def again(request: HttpRequest, permalink: str, body: AgainIn | None = None) -> Any:
    """The same scenario and options once more, on this or another version."""
    return Status(201, start.again(find(permalink), (body.version if body else "") or None))
