"""A conversation in short words, to compare what a model is asked with what is stored of it.

``user 3f09c2…`` and ``assistant 51aa07…`` are the digest of a text, ``call ID`` and
``output ID`` a tool's call and what came back. The same thing has the same word wherever
it is told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from fakes.dialect import Turn

MOST: Final = 400
"""Words of a conversation; of a longer one none are told."""


def digest(text: str) -> str:
    """A text in a few characters, free of the space around it; empty for an empty text."""
    bare = text.strip().encode("utf-8", "surrogatepass")
    return hashlib.sha256(bare).hexdigest()[:12] if bare else ""


def spoken(turns: Iterable[Turn]) -> list[str]:
    """The words of what a request tells of its conversation, in order, without instructions."""
    words: list[str] = []
    for turn in turns:
        if turn.role == "tool":
            words.append(f"output {turn.call_id}")
        elif turn.role in ("user", "assistant") and digest(turn.text):
            words.append(f"{turn.role} {digest(turn.text)}")
        words += [f"call {call.id}" for call in turn.tool_calls]
    return words if len(words) <= MOST else []
