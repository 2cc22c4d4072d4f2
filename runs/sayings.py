"""What an event says in one line beside its kind, and in what tone: as data.

The pages read it here, the scripts read `TABLE` as JSON (`events-words.js`), so that a page says
the same with JavaScript and without. A kind has parts; a part whose value is missing is left out:

``{key}`` the value; ``{one,other}`` the first that is there; ``{key|how}`` as a duration
(``seconds``), bytes (``size``), the end of an exchange (``closed``), a whole number (``round``),
a count (``count time`` or ``count process processes``); ``{raw|unless status}`` not where both are
the same; ``[…]`` may be missing within a part; ``?key``, ``!key``, ``~key`` before a part: only
where the value is true, is False, is not False.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runs import words

SAYS: dict[str, tuple[str, ...]] = {
    "session.started": ("{version}", "{model}", "{platform}"),
    "session.status": (
        *("{status}", "“{raw|unless status}”", "attempt {attempt}[ of {of}]"),
        *("?inferred inferred", "{reason}"),
    ),
    "spawn.requested": ("{name}", "{role}", "?background background", "{model}"),
    "spawn.answered": ("!ok refused[ ({refusal})]", "~ok accepted", "{child}"),
    "agent.started": ("{name}", "?background background", "{role}", "{model}", "under {parent}"),
    "agent.ended": ("{status}", "“{raw|unless status}”", "{error_class}", "{detail}"),
    "notice.queued": ("[{status} ]of {child}", "“{raw}”"),
    "notice.delivered": ("told “{raw,status}” of {child}", "{form}", "!has_result no result"),
    "message.user": ("from {from}", "{text_length|count character}"),
    "message.agent": ("{text_length|count character}", "?final final", "{finish}", "{error}"),
    "message.delta": ("{what}", "{text_length|count character}"),
    "tool.started": ("{tool}", "?background background"),
    "tool.ended": ("{tool}", "!ok failed", "?ok ok", "?denied denied"),
    "item.left-open": ("{what}", "never ended"),
    "model.ended": ("!ok failed", "?ok ok", "{http_status}", "{error_class}", "{finish}"),
    "model.retry": ("attempt {attempt}[ of {of}]", "next in {delay|seconds}", "{reason}"),
    "retry.claim": ("retried {retries|count time}", "{sleep|seconds} in all"),
    "error": ("{error_class}", "{http_status}", "{code}", "{raw,detail}"),
    "request.received": (
        *("{caller}", "call {call}", "attempt {attempt}[ of {of}]", "{bytes|size}", "{model}"),
    ),
    "response.started": ("attempt {attempt}", "HTTP {status}"),
    "fault.fired": (
        *("✂ {fault}", "{mark}", "attempt {attempt}", "after {events|count event}"),
        "{bytes|size}",
    ),
    "request.ended": (
        *("attempt {attempt}", "?complete complete", "!complete {closed|closed}", "HTTP {status}"),
        *("{duration|seconds}", "{bytes|size}", "{events|count event}"),
    ),
    "process.sample": (
        *("{rss|size}", "{cpu|round} % processor", "{processes|count process processes}"),
    ),
    "process.exited": ("signal {signal}", "exit code {code}"),
    "process.part": ("{part}", "{status}", "{version}", "signal {signal}", "code {code}"),
    "run.phase": ("{phase}",),
    "guard.fired": ("{guard}", "limit {limit}"),
    "network.attempt": ("{host,address}", "{port}", "{what}"),
    "damage": ("{what}", "?repaired repaired", "{detail}"),
    "other": ("{type}", "{summary}"),
}
LOUD = {
    **dict.fromkeys(("fault.fired", "error", "guard.fired", "watchdog.fired"), "bad"),
    **dict.fromkeys(("network.attempt", "model.retry"), "bad"),
    "damage": "unknown",
}
"""Kinds that always have a tone; the others have one where they tell of a failure."""
BAD_ENDS = ("failed", "cancelled", "interrupted", "stopped")
TABLE = {
    "says": SAYS,
    "loud": LOUD,
    "badEnds": BAD_ENDS,
    "closed": {**words.CLOSED, "ended": "ended early"},
}

_HOLE = re.compile(r"\{([a-z_,]+)(?:\|([a-z]+)((?: [a-z_]+)*))?\}")
_MAYBE = re.compile(r"\[([^\]]*)\]")


def sentence(kind: str, data: Mapping[str, Any]) -> str:
    """What an event says; of an unknown kind every plain value with its key."""
    if kind in SAYS:
        found = [_part(part, data) for part in SAYS[kind]]
    else:
        found = [f"{key} {plain}" for key, value in data.items() if (plain := _plain(value))]
    return ", ".join(part for part in found if part)


def tone(kind: str, data: Mapping[str, Any]) -> str:
    """`bad`, `unknown` or nothing."""
    if kind == "request.ended" and not data.get("complete"):
        return "bad"
    if data.get("ok") is False or (kind == "agent.ended" and data.get("status") in BAD_ENDS):
        return "bad"
    return LOUD.get(kind, "")


def _part(part: str, data: Mapping[str, Any]) -> str:
    if part[0] in "?!~":
        sign, (key, _, part) = part[0], part[1:].partition(" ")
        value = data.get(key)
        if not {"?": bool(value), "!": value is False, "~": value is not False}[sign]:
            return ""
    pieces = _MAYBE.split(part)
    filled = [_filled(piece, data) for piece in pieces]
    if any(text is None for text in filled[::2]):
        return ""
    return "".join(text or "" for text in filled)


def _filled(text: str, data: Mapping[str, Any]) -> str | None:
    """The text with its values; None where one is missing."""
    pieces = _HOLE.split(text)
    made = pieces[0]
    for keys, how, rest, after in zip(*(pieces[n::4] for n in (1, 2, 3, 4)), strict=True):
        value = next((data[key] for key in keys.split(",") if _plain(data.get(key))), None)
        shown = _shown(value, how or "", (rest or "").split(), data)
        if not shown:
            return None
        made += shown + after
    return made


def _shown(value: Any, how: str, rest: list[str], data: Mapping[str, Any]) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if how == "unless":
        return "" if value == data.get(rest[0]) else _plain(value)
    if how == "closed":
        return words.closed(str(value), None, data.get("status")) if value else ""
    if not how or not number:
        return _plain(value)
    if how == "count":
        return words.plural(int(value), *rest)
    if how == "seconds":
        return words.seconds(float(value))
    return words.size(int(value)) if how == "size" else f"{value:.0f}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else ""
