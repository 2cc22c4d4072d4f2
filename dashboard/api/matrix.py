"""`/api/matrix`: the cells, what changed between neighbouring versions, what is missing."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse
from ninja import Field, Router, Schema

from dashboard import gridcopies, grids

router = Router(tags=["matrix"])


class MatrixOut(Schema):
    """A view of the matrix; counters are by value, most frequent first."""

    agents: dict[str, list[str]] = Field(description="versions by agent, oldest first")
    scenarios: list[str]
    cells: list[dict[str, Any]] = Field(
        description="{agent, version, scenario, n, valid, imported, outcomes, diagnoses, broken, "
        "attempts[min, median, max], gaps, slept, told, terminals, exits, runs}"
    )
    changes: list[dict[str, Any]] = Field(
        description="{agent, scenario, before, after, words} between neighbouring versions"
    )
    missing: list[dict[str, Any]]
    problems: list[str]


@router.get("", response=MatrixOut, summary="The matrix", operation_id="matrix")
def matrix(
    request: HttpRequest,
    agent: str = "",
    versions: str = "",
    scenario: str = "",
    only: str = "",
    repeat: int = 1,
) -> Any:
    """As `/matrix/` shows it. `agent` and `scenario` are names with commas, `versions` ranges."""
    view = grids.grid_of(grids.Asked.read(request.GET))
    return JsonResponse(gridcopies.document(view))  # whole and fast: no second validation
