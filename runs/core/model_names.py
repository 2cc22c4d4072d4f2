"""Names of models: which of them say nothing, and which may mean the same one."""

from __future__ import annotations

import re

from runs.core.events import Event

UNSAID = frozenset({"", "inherit", "default", "auto", "<synthetic>"})
"""Words in the place of a model's name that name none."""
_OPTION = re.compile(r"\[\w+\]$")
"""What an agent may add to a model's name for itself: the size of its window."""
_SUFFIX = re.compile(r"[-@:]?(\d[\d.-]*|latest|preview)")
"""What may follow a model's name without making it another one: a date or `latest`."""


def says_model(event: Event) -> bool:
    """Whether a record names a model."""
    return str(event.get("model") or "").lower() not in UNSAID


def same_model(one: str, other: str) -> bool:
    """Whether two names may mean one model: an alias, a vendor's prefix or a date added."""
    plain = (_OPTION.sub("", name.lower().rsplit("/", 1)[-1]) for name in (one, other))
    short, long = sorted(plain, key=len)
    if short == long:
        return True
    if long.startswith(short):
        return _SUFFIX.fullmatch(long[len(short) :]) is not None
    return short.isalpha() and short in long.split("-")
