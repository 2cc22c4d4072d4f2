"""The API: everything the pages do, as JSON; described at ``/api/openapi.json``."""

from __future__ import annotations

from dashboard.api import imports, matrix, sweeps
from dashboard.api.base import api
from dashboard.api.runs import router

api.add_router("/runs", router)
api.add_router("/imports", imports.router)
api.add_router("/matrix", matrix.router)
api.add_router("/sweeps", sweeps.router)
api.add_router("/bisects", sweeps.bisects)

__all__ = ["api"]
