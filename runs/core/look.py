"""What a bisection or a baseline looks for in a run: one question with a yes, a no, or neither.

``law:L2`` (broken), ``law:L2=holds``, ``outcome:completed``, ``diagnosis:notice_lost``,
or comparisons over the run joined by ``and``: ``attempts.child > 6 and exit_code = 0``.
Pure: the run comes in as the JSON of ``reproduce``. A run that failed for reasons of
ours or of the environment answers neither.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.core.diagnosis import LABELS
from runs.core.judge import laws
from runs.core.outcome import OUTCOMES, is_environment

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "==": operator.eq,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_TERM = re.compile(r"\s*([a-z][a-z_.]*)\s*(>=|<=|!=|==|=|>|<)\s*(\"[^\"]*\"|[^\s\"]+)\s*")


class LookError(ValueError):
    """A question that cannot be read; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class Look:
    """One question, as text and read."""

    text: str
    terms: tuple[tuple[str, str, Any], ...]

    def shows(self, run: Mapping[str, Any]) -> bool | None:
        """Whether the run (the JSON of ``reproduce``) shows it; None when it cannot say."""
        if not valid(run):
            return None
        answers = [_answer(term, run) for term in self.terms]
        if False in answers:
            return False
        return None if None in answers else True


def valid(run: Mapping[str, Any]) -> bool:
    """Whether the run says anything about its agent."""
    return run.get("status") == "ended" and not is_environment(str(run.get("outcome") or ""))


def look_for(text: str) -> Look:
    """Read a question; LookError when it is none."""
    text = text.strip()
    kind, colon, rest = text.partition(":")
    if colon and kind == "law":
        law, _, verdict = rest.partition("=")
        if law not in laws() or verdict not in ("", *VERDICTS):
            raise LookError(
                f"{text!r}: write law:L2 or law:L2=holds ({', '.join(VERDICTS)}), "
                f"with one of: {', '.join(laws())}."
            )
        return Look(text, ((f"law.{law}", "=", verdict or "broken"),))
    if colon and kind in NAMES:
        return Look(text, (_named(kind, "=", rest),))
    terms = []
    for part in re.split(r"\band\b", text):
        found = _TERM.fullmatch(part)
        if found is None or not _known(found[1]):
            raise LookError(
                f"{part.strip()!r} is no comparison. Write law:L2, outcome:completed, or "
                f"attempts.child > 6 with one of: {', '.join(PATHS)}."
            )
        terms.append(_named(found[1], found[2], _value(found[3])))
    return Look(text, tuple(terms))


VERDICTS = ("broken", "holds", "unknown")
NAMES: Mapping[str, Sequence[str]] = {"outcome": OUTCOMES, "diagnosis": LABELS}
"""What has a closed list of values."""


def _named(path: str, sign: str, value: Any) -> tuple[str, str, Any]:
    """A comparison; LookError where no run can ever have that value."""
    known = NAMES.get(path)
    if known and value not in known:
        raise LookError(f"{value!r} is no {path}. There are: {', '.join(known)}.")
    return path, sign, value


def _attempts(prefix: str) -> Callable[[Mapping[str, Any]], Any]:
    def count(run: Mapping[str, Any]) -> int:
        rows = run.get("attempts", [])
        return sum(str(row["caller"]).partition(":")[0] == prefix for row in rows)

    return count


def _gap(choose: Callable[[list[float]], float]) -> Callable[[Mapping[str, Any]], Any]:
    def gap(run: Mapping[str, Any]) -> float | None:
        gaps = run.get("retry", {}).get("measured", {}).get("gaps") or []
        return choose(gaps) if gaps else None

    return gap


def _child(key: str, inner: str) -> Callable[[Mapping[str, Any]], Any]:
    def read(run: Mapping[str, Any]) -> str:
        children = [row for row in run.get("agents", []) if row.get("parent")]
        value = (children[0].get(key) if children else None) or {}
        return str(value.get(inner) or "none")

    return read


PATHS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "attempts.parent": _attempts("parent"),
    "attempts.child": _attempts("child"),
    "attempts.grandchild": _attempts("grandchild"),
    "attempts.utility": _attempts("utility"),
    "gaps.min": _gap(min),
    "gaps.max": _gap(max),
    "gaps.total": _gap(sum),
    "reported.retries": lambda run: run.get("retry", {}).get("reported", {}).get("retries"),
    "reported.sleep": lambda run: run.get("retry", {}).get("reported", {}).get("sleep"),
    "terminal.stdout": _child("terminal", "stdout"),
    "terminal.session": _child("terminal", "session"),
    "told": _child("told", "status"),
    "exit_code": lambda run: run.get("exit_code"),
    "duration": lambda run: run.get("duration"),
    "outcome": lambda run: run.get("outcome"),
    "diagnosis": lambda run: run.get("diagnosis"),
}


def _known(path: str) -> bool:
    return path in PATHS


def _answer(term: tuple[str, str, Any], run: Mapping[str, Any]) -> bool | None:
    path, sign, wanted = term
    if path.startswith("law."):
        return _law(path.removeprefix("law."), wanted, run)
    found = PATHS[path](run)
    if found is None:
        return None
    if isinstance(wanted, float) != isinstance(found, int | float):
        return False if sign in ("=", "==") else None
    return OPERATORS[sign](found, wanted)


def _law(law: str, wanted: str, run: Mapping[str, Any]) -> bool | None:
    verdicts = {row["verdict"] for row in run.get("findings", []) if row["law"] == law}
    if wanted == "broken":
        return "broken" in verdicts if verdicts - {"unknown"} else None
    return wanted in verdicts and "broken" not in verdicts if verdicts else None


def _value(text: str) -> Any:
    text = text.strip('"')
    try:
        return float(text)
    except ValueError:
        return text
