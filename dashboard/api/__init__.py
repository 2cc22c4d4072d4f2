"""The API: everything the pages do, as JSON; described at ``/api/openapi.json``."""

from __future__ import annotations

from dashboard.api.base import api
from dashboard.api.runs import router

api.add_router("/runs", router)

__all__ = ["api"]
