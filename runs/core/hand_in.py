"""Tools by which an agent hands in its answer: no message need follow them."""

from __future__ import annotations

import re

_HANDS_IN = re.compile(
    "complet|finish|final|yield|submit|answer|results?$|report|return|done|structured", re.I
)
_ONLY_TELLS = re.compile("^(get|read|view|fetch|list|show|find|check|search|run)_|_?intent$", re.I)


def hands_in(tool: str) -> bool:
    """Whether a tool by its name hands in an answer, and neither reads nor announces."""
    return bool(_HANDS_IN.search(tool)) and not _ONLY_TELLS.search(tool)
