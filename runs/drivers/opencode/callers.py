"""Who asks: newer versions name the session of each request, and its parent's session."""

from __future__ import annotations

import re

from fakes.dialect import ModelRequest
from fakes.targeting import UTILITY, Identity

SESSION = ("x-session-id", "x-opencode-session", "x-session-affinity")
"""Headers that may hold the session, the surest first."""
PARENT = "x-parent-session-id"
_ID = re.compile(r"ses_[0-9A-Za-z]{8,64}")


class Sessions:
    """The rule of one run: remembers how deep each session is."""

    def __init__(self) -> None:
        self._depths: dict[str, int] = {}

    def __call__(self, request: ModelRequest) -> Identity | None:
        """The identity; None where the request does not name its session and parent."""
        session = next((value for name in SESSION if (value := _id(request, name))), "")
        parent = _id(request, PARENT)
        if not session:
            return None
        if not request.tools:
            return UTILITY  # titles and summaries
        if not parent:
            # Versions that name no parent leave it to the markers who this is.
            return None
        depth = self._depths.get(parent, 0) + 1
        self._depths[session] = depth
        return Identity(depth, session, parent)


def _id(request: ModelRequest, name: str) -> str:
    value = request.headers.get(name, "")
    return value if _ID.fullmatch(value) else ""
