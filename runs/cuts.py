"""Where our readers cut a value off: what it ends with there may be the beginning of a secret.

A key is told by its shape, and its beginning has none yet. So the last run of letters without
a blank before a cut is no word that may leave.
"""

from __future__ import annotations

import re

CUT = 8
"""Letters of a secret's beginning that are one where a text ends with them."""
LIMITS = frozenset({40, 60, 64, 80, 120, 160, 200, 300, 400, 1000, 2000, 4000})
"""Lengths at which texts are cut off."""
_SHORT = frozenset(
    {
        *("raw", "reason", "summary", "status", "name", "role", "background", "model"),
        *("answer", "how", "tool", "text", "message", "refusal", "platform", "node", "payload"),
        *("finish", "native", "type"),
    }
)
"""Keys of which readers keep no more than a word or a line."""
_LEAST = {
    **dict.fromkeys(_SHORT, 40),
    "version": 60,
    **dict.fromkeys(("fault", "code", "native_id"), 80),
}
_LEAST_ELSEWHERE = 200
"""Ids, folders and whatever else is kept: nothing of it is cut before."""
_RUN = re.compile(r"(?:⟨[^⟩]{0,40}⟩|\S)+")
_SIGNS = re.compile(r"(?:⟨[^⟩]{0,40}⟩|[^\w⟨])*")
_KIND = re.compile(r"(?=.{,59}$)[A-Za-z]+(?:[./_-][A-Za-z]+)+")
"""A kind of record, which may be as long as a word that was cut."""
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_cut(key: str, value: str) -> bool:
    """Whether a reader cut off the value of this key: it is exactly as long as one may be.

    A digest is so by nature, and so may a sentence of ours be that gives a reason.
    """
    least = _LEAST.get(key, _LEAST_ELSEWHERE)
    lengths = [len(value)]
    if key in ("native", "type", "raw"):  # ``item/`` is ours and the rest is cut, or each part is
        first, _, rest = value.partition(" " if key == "raw" else "/")
        lengths += [len(rest)] if key == "raw" else [len(first), len(rest)]
        if key != "raw" and _KIND.fullmatch(value):
            return False
    if not any(length in LIMITS and length >= least for length in lengths):
        return False
    return not (_DIGEST.fullmatch(value) or (key == "reason" and value.endswith(".")))


def last_run(text: str) -> str:
    """The letters without a blank at the end, if there are any beside signs; else nothing."""
    runs = [(match.end(), match.group()) for match in _RUN.finditer(text)]
    if not runs or runs[-1][0] < len(text) or _SIGNS.fullmatch(runs[-1][1]):
        return ""
    return runs[-1][1]


def telling(rest: str, name: str) -> bool:
    """Whether a beginning can be nothing else: a plain word is one, and starts many a text."""
    return " " in rest[:-CUT] if name == "text" else not (rest.isalpha() and rest[1:].islower())
