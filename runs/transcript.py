"""Reads what people attach: recognises formats, joins files into one case.

Readers are one-file plug-ins in ``transcripts/``; drivers use the same readers
on the live sources of a run.
"""

from __future__ import annotations

from functools import cache

import runs.transcripts
from fakes.registry import members
from runs.transcripts._base import Clock, Format, Reader

__all__ = ["Clock", "Format", "Reader", "formats", "named"]


@cache
def formats() -> dict[str, Format]:
    """All formats by name."""
    return {item.name: item for item in members(runs.transcripts, "READER").values()}


def named(name: str) -> Format:
    """The format of that name; KeyError when there is none."""
    return formats()[name]
