"""Foreign text made harmless: what an agent wrote must not act on a page, terminal or issue.

Pure functions. Nothing here decides what is shown; it only takes the power away
from characters that would hide, reorder or execute something.
"""

from __future__ import annotations

import re
from typing import Any

# Characters that change how others are read: bidi controls, zero-width and
# invisible ones, separators that break lines, tags, variation selectors, surrogates.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)
_LONGEST_FENCE = re.compile("`+")


def _shown(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"⟨U+{code:04X}⟩"


def visible(value: object) -> str:
    """The text with every control, bidi and invisible character replaced by a visible sign.

    Line feed and tab stay. The result still has to be escaped for HTML.
    """
    return _INVISIBLE.sub(_shown, str(value))


def visible_deep(value: Any) -> Any:
    """`visible` for every string inside lists and dictionaries, keys included."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key): visible_deep(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [visible_deep(item) for item in value]
    return value


def one_line(value: object, limit: int = 200) -> str:
    """Visible text on one line, cut with an ellipsis at `limit` characters."""
    flat = " ".join(visible(value).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def clipped(value: str, limit: int) -> tuple[str, int]:
    """The first `limit` characters and how many were left out."""
    return value[:limit], max(0, len(value) - limit)


def markdown(value: object, limit: int = 300) -> str:
    """Foreign text for a cell or sentence of an issue: one line, no mentions, links or markup."""
    text = one_line(value, limit)
    text = re.sub(r"([\\`*_{}\[\]()#+!|<>~&$])", r"\\\1", text)
    # A zero-width joiner would be invisible; a backslash does not stop a mention.
    text = text.replace("@", "@<!-- -->").replace("://", ":<!-- -->//")
    return re.sub(r"(?i)\b(www)\.", r"\1<!-- -->.", text)


def code_span(value: object, limit: int = 300) -> str:
    """Foreign text as inline code; mentions do not act inside code, backticks are outnumbered."""
    text = one_line(value, limit).replace("|", "∣")
    if not text:
        return "–"
    ticks = "`" * (max((len(run) for run in _LONGEST_FENCE.findall(text)), default=0) + 1)
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{edge}{text}{edge}{ticks}"


def code_block(value: str, language: str = "") -> str:
    """Text as a fenced block whose fence is longer than any inside."""
    text = visible(value)
    longest = max((len(run) for run in _LONGEST_FENCE.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
