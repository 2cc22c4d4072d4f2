"""Careful ways to read values that somebody else wrote: none of them raises."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from fakes.targeting import TASK_PATTERN

EMPTY: Mapping[str, Any] = {}
_WATCHDOG = re.compile(r"watch_?dog|stall|inactiv|idle_?timeout", re.I)
ELSEWHERE = "message to an agent of another file"
"""Why an agent may get work again of which the file that says so does not know the end."""
_EARLIEST, _LATEST = 0.0, 32503680000.0  # 1970 to 3000: anything else is no time


def moment(value: Any) -> float | None:
    """Epoch seconds of an ISO 8601 text or a number in s, ms, µs or ns; None if it is neither."""
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if not math.isfinite(number):
        return None
    for limit, scale in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
        if abs(number) >= limit:
            number /= scale
            break
    return number if _EARLIEST <= number <= _LATEST else None


def _parsed(text: str) -> float | None:
    if len(text) > 64:
        return None
    try:
        found = datetime.fromisoformat(text)
        seconds = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return moment(int(text)) if text.isascii() and text.isdigit() and len(text) < 21 else None
    return seconds if _EARLIEST <= seconds <= _LATEST else None


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else EMPTY


def items(value: Any) -> Sequence[Any]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else ()


def text(value: Any, limit: int = 200) -> str:
    """The value as a short text; objects and arrays give nothing."""
    if isinstance(value, str):
        return clean(value if len(value) <= limit else value[:limit])
    if value is None or isinstance(value, (dict, list)):
        return ""
    return str(value)[:limit] if not isinstance(value, int) or abs(value) < 1 << 64 else ""


def clean(value: str) -> str:
    """The text without NULs and lone surrogates, which no database takes."""
    if value.isascii():
        return value.replace("\0", "\ufffd") if "\0" in value else value
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def number(value: Any) -> float | None:
    """A finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def finite(value: Any) -> Any:
    """The value as JSON can hold it: numbers without an end (1e999) are None, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    return [finite(inner) for inner in value] if isinstance(value, list) else value


def integer(value: Any) -> int | None:
    """A whole number of sane size, else None."""
    found = number(value)
    return int(found) if found is not None and abs(found) < 1e15 else None


def seconds(milliseconds: Any) -> float | None:
    """Milliseconds as seconds."""
    found = number(milliseconds)
    return None if found is None else found / 1000


def is_watchdog(word: str) -> bool:
    """Whether a reason (a machine's word, not prose) says that a watchdog acted."""
    return _WATCHDOG.search(word[:80]) is not None


def length(value: Any) -> int:
    """How much text a content value holds: a text, a block with one, or a list of those."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(length(item) for item in value[:10_000] if isinstance(item, (str, dict)))
    if isinstance(value, dict):
        for key in ("text", "content", "output", "message"):
            if isinstance(value.get(key), (str, list)):
                inner = value[key]
                return len(inner) if isinstance(inner, str) else _flat(inner)
    return 0


def _flat(blocks: Sequence[Any]) -> int:
    total = 0
    for block in blocks[:10_000]:
        if isinstance(block, str):
            total += len(block)
        elif isinstance(block, dict) and isinstance(block.get("text"), str):
            total += len(block["text"])
    return total


def first_text(value: Any) -> str:
    """The first text of a content value (a text, or a list of blocks), else nothing."""
    if isinstance(value, str):
        return value
    for block in items(value):
        if isinstance(block, str):
            return block
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            return str(block["text"])
    return ""


def marker(prompt: Any) -> str:
    """The number in a task's marker, as the provider tells it of a request; empty without one."""
    found = TASK_PATTERN.search(text(prompt, 4000))
    return found[1] if found else ""


_STATUS = {
    **dict.fromkeys(
        ("completed", "complete", "success", "succeeded", "ok", "done", "finished"), "completed"
    ),
    **dict.fromkeys(
        ("failed", "failure", "error", "errored", "crashed", "timeout", "timed_out"), "failed"
    ),
    **dict.fromkeys(("cancelled", "canceled", "aborted"), "cancelled"),
    **dict.fromkeys(("interrupted",), "interrupted"),
    **dict.fromkeys(("stopped", "killed", "shutdown", "terminated", "closed", "stop"), "stopped"),
    **dict.fromkeys(("idle",), "idle"),
    **dict.fromkeys(
        (
            "running",
            "in_progress",
            "inprogress",
            "pending",
            "pendinginit",
            "pending_init",
            "active",
            "busy",
            "started",
            "async_launched",
            "queued",
        ),
        "running",
    ),
}


def status(word: Any) -> str:
    """Our word for an agent's word about a run: completed, failed, cancelled, interrupted,
    stopped, idle, running, or unknown."""
    return _STATUS.get(text(word, 40).lower().replace("-", "_").replace(" ", "_"), "unknown")


TERMINAL = frozenset({"completed", "failed", "cancelled", "interrupted", "stopped"})

_BY_CODE = {
    401: "auth",
    402: "limit",
    403: "auth",
    408: "timeout",
    413: "limit",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}
_BY_WORD = (
    ("rate_limit", "rate_limit"), ("ratelimit", "rate_limit"), ("too_many", "rate_limit"),
    ("quota", "limit"), ("usage_limit", "limit"), ("context_length", "limit"),
    ("context_window", "limit"), ("max_turns", "limit"), ("limit", "limit"),
    ("overload", "overloaded"), ("auth", "auth"), ("permission", "auth"), ("forbidden", "auth"),
    ("invalid_request", "bad_request"), ("bad_request", "bad_request"),
    ("not_found", "bad_request"), ("not_supported", "bad_request"), ("abort", "aborted"),
    ("cancel", "aborted"), ("interrupt", "aborted"), ("timeout", "timeout"),
    ("timed_out", "timeout"), ("refus", "refused"), ("stream", "stream"), ("connection", "stream"),
    ("disconnect", "stream"), ("network", "stream"), ("server", "server"), ("api_error", "server"),
    ("internal", "server"),
)  # fmt: skip


def error_class(word: Any = "", code: Any = None) -> str:
    """Our class of an error, from its HTTP status and its code word (never from its prose)."""
    found = integer(code)
    if found in _BY_CODE:
        return _BY_CODE[found]
    if found is not None and 400 <= found < 500:
        return "bad_request"
    if found is not None and found >= 500:
        return "server"
    name = _snake(text(word, 80))
    return next((kind for part, kind in _BY_WORD if part in name), "other")


@lru_cache(maxsize=512)
def _snake(word: str) -> str:
    """``MessageAbortedError`` and ``message-aborted`` as ``message_aborted_error``."""
    return "".join(
        f"_{letter.lower()}" if letter.isupper() and position else letter.lower()
        for position, letter in enumerate(word.replace("-", "_").replace(" ", "_"))
    ).replace("__", "_")
