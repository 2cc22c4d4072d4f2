"""What a press on the drawing does to a scenario: break one attempt of one call, or mend it.

Works on the tree of the TOML (tables and lists), which need not be valid elsewhere.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FIRST_FAULT = "sse-cut"
"""What a press does until another fault is chosen."""
PRESSED = re.compile(r"(parent|utility|(?:child|grandchild)(?::\d{1,6})?)/(\d{1,6})/(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Spot:
    """One box of the drawing. `call` 0: the caller has only one, which needs no number."""

    caller: str
    call: int
    attempt: int

    @classmethod
    def read(cls, text: str) -> Spot | None:
        """From ``child:2/1/3`` (caller, call, attempt); None when it is none."""
        found = PRESSED.fullmatch(text)
        return cls(found[1], int(found[2]), int(found[3])) if found else None


def break_here(tree: Mapping[str, Any], spot: Spot) -> tuple[dict[str, Any], int]:
    """Aim a fault at this attempt. Gives the new tree and the fault's position.

    A fault that already hits the attempt before is stretched over this one.
    """
    new: dict[str, Any] = copy.deepcopy(dict(tree))
    faults = _faults(new)
    for number, fault in enumerate(faults):
        reach = _reach(fault, spot)
        if reach and reach[1] == spot.attempt - 1:
            fault["on"]["attempt"] = _spec(reach[0], spot.attempt)
            return new, number
    on: dict[str, Any] = {"caller": spot.caller, "attempt": spot.attempt}
    if spot.call:
        on["turn"] = spot.call
    like = next((f for f in reversed(faults) if f.get("fault")), {"fault": FIRST_FAULT})
    settings = {key: value for key, value in like.items() if key != "on"}
    faults.append({**settings, "on": on})
    return new, len(faults) - 1


def mend_here(tree: Mapping[str, Any], spot: Spot, number: int) -> dict[str, Any]:
    """Take this attempt, and those after it, out of the fault at `number`."""
    new: dict[str, Any] = copy.deepcopy(dict(tree))
    faults = _faults(new)
    if not 0 <= number < len(faults):
        return new
    on = faults[number].get("on")
    first = _range(on.get("attempt", "all"))[0] if isinstance(on, dict) else 1
    if spot.attempt <= first or not isinstance(on, dict):
        del faults[number]
    else:
        on["attempt"] = _spec(first, spot.attempt - 1)
    if not faults:
        del new["faults"]
    return new


def _faults(tree: dict[str, Any]) -> list[Any]:
    given = tree.get("faults")
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        tree["faults"] = []
    faults: list[Any] = tree.setdefault("faults", [])
    return faults


def _reach(fault: Mapping[str, Any], spot: Spot) -> tuple[int, int] | None:
    """First and last attempt of a fault that is aimed at just this call; None: at another."""
    on = fault.get("on")
    if not isinstance(on, dict) or on.get("caller") != spot.caller:
        return None
    if on.get("turn", 0) != spot.call or on.get("share", 1) != 1:
        return None
    return _range(on.get("attempt", "all"))


def _range(attempt: Any) -> tuple[int, int]:
    """``3``, ``1-3``, ``2-``, ``all`` as numbers; an open end is 0."""
    found = re.fullmatch(r"(\d{1,6})(?:-(\d{0,6}))?", str(attempt))
    if not found:
        return 1, 0
    first = int(found[1])
    return first, first if found[2] is None else int(found[2] or 0)


def _spec(first: int, last: int) -> Any:
    return first if first == last else f"{first}-{last}"
