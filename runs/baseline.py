"""A baseline: the known state by agent, versions and scenario, as TOML; differences both ways.

[[expect]]
agent = "copilot"
versions = ">=1.0.73,<1.0.85"     # or "1.0.81", or "*"
scenario = "sse-cut"
diagnosis = "cut_stream_false_completion"
broken = ["L2", "L3"]             # these and no others, where it is given
outcome = "model-request-failed"
link = "https://…"                # where it is known
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from runs.errors import HarnessError
from runs.scenario import nearest
from runs.versions import key

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
        for name in entry:
            if name not in KEYS:
                raise HarnessError(f"{path}: expect.{number}.{name}. {nearest(name, KEYS)}")
        for name in ("agent", "scenario"):
            if not isinstance(entry.get(name), str):
                raise HarnessError(f"{path}: expect.{number} needs {name!r}.")
        matches(str(entry.get("versions", "*")), "0")
    return entries


def matches(condition: str, version: str) -> bool:
    """Whether a version meets ``>=1.0.73,<1.0.85``, ``1.0.81`` or ``*``."""
    for part in condition.replace(" ", "").split(","):
        sign = next((s for s in (">=", "<=", ">", "<", "==") if part.startswith(s)), "")
        bound = part.removeprefix(sign)
        if bound == "*":
            continue
        if not bound or not bound[0].isdigit():
            raise HarnessError(f"{condition!r} is no condition on versions.", "Write >=1.0.73.")
        left, right = key(version), key(bound)
        if not {
            ">=": left >= right,
            "<=": left <= right,
            ">": left > right,
            "<": left < right,
            "==": left == right,
            "": left == right,
        }[sign]:
            return False
    return True


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
    if entry is None:
        bad = [d for d in cell["diagnoses"] if d not in ("healthy", "failed_and_reported")]
        return [{"words": f"{where}: {', '.join(bad)}, and nothing is expected."}] if bad else []
    found = []
    for name, counts in (("diagnosis", "diagnoses"), ("outcome", "outcomes")):
        if name in entry and set(cell[counts]) != {entry[name]}:
            seen = ", ".join(cell[counts]) or "no run"
            found.append({"words": f"{where}: {name} {seen}, expected {entry[name]}."})
    if "broken" in entry and set(cell["broken"]) != set(entry["broken"]):
        seen = " ".join(cell["broken"]) or "none"
        wanted = " ".join(entry["broken"]) or "none"
        found.append({"words": f"{where}: broken {seen}, expected {wanted}."})
    return found


def junit(cells: Sequence[Mapping[str, Any]], differences: Sequence[Mapping[str, Any]]) -> str:
    """JUnit XML: a test case a cell, failed where reality differs from the baseline."""
    suite = ElementTree.Element("testsuite", name="lifeline", tests=str(len(cells)))
    failed = 0
    for cell in cells:
        name = f"{cell['version']} {cell['scenario']}"
        case = ElementTree.SubElement(suite, "testcase", classname=cell["agent"], name=name)
        mine = [
            row["words"]
            for row in differences
            if all(row[k] == cell[k] for k in ("agent", "version", "scenario"))
        ]
        if mine:
            failed += 1
            ElementTree.SubElement(case, "failure", message=mine[0]).text = "\n".join(mine)
    suite.set("failures", str(failed))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
