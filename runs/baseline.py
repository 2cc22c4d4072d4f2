"""A baseline: the known state by agent, versions and scenario, as TOML; differences both ways.

[[expect]]
agent = "copilot"
versions = ">=1.0.73,<1.0.85"     # or "1.0.81", or "*"
scenario = "sse-cut"
diagnosis = "cut_stream_false_completion"   # or a list: of a race any of these
broken = ["L2", "L3"]             # these and no others, where it is given
outcome = "model-request-failed"  # or a list
link = "https://…"                # where it is known
"""

from __future__ import annotations

import operator
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from runs.core.diagnosis import LABELS
from runs.core.judge import laws
from runs.core.matrix import GOOD
from runs.core.outcome import OUTCOMES, is_environment
from runs.errors import HarnessError
from runs.scenario import nearest
from runs.versions import key

COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    **{">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt},
    **{"<": operator.lt, "": operator.eq},
}
KNOWN: Mapping[str, Sequence[str]] = {
    "diagnosis": LABELS,
    "outcome": OUTCOMES,
    "broken": list(laws()),
}
KEYS = ("agent", "versions", "scenario", "diagnosis", "broken", "outcome", "link", "note")


def load(path: str) -> list[dict[str, Any]]:
    """The entries of a baseline file; HarnessError names what is wrong in it."""
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HarnessError(f"The baseline {path} cannot be read: {error}.") from None
    entries = given.get("expect", [])
    if set(given) - {"expect"} or not isinstance(entries, list):
        raise HarnessError(f"{path} holds [[expect]] tables and nothing else.")
    for number, entry in enumerate(entries):
        _check(f"{path}: expect.{number}", entry)
    return entries


def _check(where: str, entry: Any) -> None:
    if not isinstance(entry, dict):
        raise HarnessError(f"{where} is no table.")
    for name in entry:
        if name not in KEYS:
            raise HarnessError(f"{where}.{name}. {nearest(name, KEYS)}")
    for name in ("agent", "scenario"):
        if not isinstance(entry.get(name), str):
            raise HarnessError(f"{where} needs {name!r}.")
    _conditions(str(entry.get("versions", "*")))
    for name, known in KNOWN.items():
        for word in sorted(_allowed(entry.get(name, []))):
            if word not in known:
                raise HarnessError(f"{where}.{name}: {word!r}. {nearest(word, known)}")


def _allowed(given: Any) -> set[str]:
    """One word or a list of them."""
    return {str(word) for word in (given if isinstance(given, list) else [given])}


def matches(condition: str, version: str) -> bool:
    """Whether a version meets ``>=1.0.73,<1.0.85``, ``1.0.81`` or ``*``."""
    return all(COMPARE[sign](key(version), key(bound)) for sign, bound in _conditions(condition))


def _conditions(text: str) -> list[tuple[str, str]]:
    """Signs and versions; HarnessError for a part that is none."""
    found = []
    for part in text.replace(" ", "").split(","):
        sign = next((sign for sign in COMPARE if part.startswith(sign)), "")
        bound = part.removeprefix(sign)
        if bound == "*" and not sign:
            continue
        if not bound or not bound[0].isdigit():
            raise HarnessError(f"{text!r} is no condition on versions.", "Write >=1.0.73.")
        found.append((sign, bound))
    return found


def compare(
    entries: Sequence[Mapping[str, Any]], cells: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Where the cells of a sweep differ from what is expected of them, in words.

    A cell that no entry names is expected to be healthy or to have failed and reported.
    """
    return [
        {"agent": cell["agent"], "version": cell["version"], "scenario": cell["scenario"], **found}
        for cell in cells
        for found in _differences(_entry(entries, cell), cell)
    ]


def _entry(
    entries: Sequence[Mapping[str, Any]], cell: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    for entry in entries:
        same = (entry["agent"], entry["scenario"]) == (cell["agent"], cell["scenario"])
        if same and matches(str(entry.get("versions", "*")), cell["version"]):
            return entry
    return None


def _differences(entry: Mapping[str, Any] | None, cell: Mapping[str, Any]) -> list[dict[str, Any]]:
    where = f"{cell['agent']}@{cell['version']} {cell['scenario']}"
    if not cell["valid"]:
        return [{"words": f"{where}: no run could be judged ({', '.join(cell['outcomes'])})."}]
    seen = {
        "diagnosis": [name for name in cell["diagnoses"] if name != "environment"],
        "outcome": [name for name in cell["outcomes"] if not is_environment(name)],
    }
    if entry is None:
        bad = [name for name in seen["diagnosis"] if name not in GOOD]
        return [{"words": f"{where}: {', '.join(bad)}, and nothing is expected."}] if bad else []
    found = []
    for name, words in seen.items():
        allowed = _allowed(entry.get(name, words))
        if not set(words) <= allowed:
            expected = " or ".join(sorted(allowed))
            found.append({"words": f"{where}: {name} {', '.join(words)}, expected {expected}."})
    if "broken" in entry and set(cell["broken"]) != set(entry["broken"]):
        laws = " ".join(cell["broken"]) or "none"
        wanted = " ".join(entry["broken"]) or "none"
        found.append({"words": f"{where}: broken {laws}, expected {wanted}."})
    return found


def junit(
    cells: Sequence[Mapping[str, Any]],
    differences: Sequence[Mapping[str, Any]],
    unanswered: Sequence[Mapping[str, Any]] = (),
) -> str:
    """JUnit XML: a test case a cell, failed where reality differs from the baseline.

    `unanswered` cells (of :func:`runs.sweeps.unanswered`) are errors.
    """
    places = dict.fromkeys(_place(row) for row in (*cells, *unanswered))
    suite = ElementTree.Element("testsuite", name="lifeline", tests=str(len(places)))
    counts = {"failures": 0, "errors": 0}
    for agent, version, scenario in places:
        name = f"{version} {scenario}"
        case = ElementTree.SubElement(suite, "testcase", classname=agent, name=name)
        for tag, rows in (("failure", differences), ("error", unanswered)):
            mine = [row["words"] for row in rows if _place(row) == (agent, version, scenario)]
            if mine:
                counts[f"{tag}s"] += 1
                ElementTree.SubElement(case, tag, message=mine[0]).text = "\n".join(mine)
    for name, count in counts.items():
        suite.set(name, str(count))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _place(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["agent"], row["version"], row["scenario"]
