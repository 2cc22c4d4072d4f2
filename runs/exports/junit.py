"""JUnit XML: a case a law and agent.

Broken is a failure and unknown is skipped. A breach that a person called confirmed or by
design, in this run or an earlier one of the same agent and scenario, is an expected
failure: it is skipped as such, and when its law holds the case fails, because somebody
should know. The run's own expectation and our trouble are cases as well.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
from typing import IO, Any

from runs.export import Export
from runs.material import Material

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class JUnit(Export):
    """For continuous integration."""

    name = "junit"
    title = "JUnit XML: a case a law; for CI"
    suffix = "xml"
    media = "application/xml"

    def write(self, material: Material, out: IO[bytes]) -> None:
        """One suite."""
        document = material.document
        suite = xml.Element("testsuite", name=_clean(material.title))
        for row in _judged(document["findings"]):
            _case(suite, material, row)
        if document.get("expect"):
            case = _element(suite, f"expected {document['expect']}", material)
            if not document.get("met"):
                said = f"it was {document.get('outcome')}, {document.get('diagnosis')}"
                xml.SubElement(case, "failure", message=_clean(said), type="expectation")
        if document.get("error"):
            case = _element(suite, "the run itself", material)
            words = _clean(document["error"].get("what", ""))
            xml.SubElement(case, "error", message=words, type=str(document["status"]))
        counts = {
            "tests": len(suite),
            "failures": len(suite.findall("testcase/failure")),
            "errors": len(suite.findall("testcase/error")),
            "skipped": len(suite.findall("testcase/skipped")),
        }
        top = xml.Element("testsuites", name="Lifeline")
        for element in (suite, top):
            for name, count in counts.items():
                element.set(name, str(count))
            element.set("time", f"{document.get('duration') or 0:.3f}")
        suite.set("timestamp", (material.run["started_at"] or material.run["created_at"])[:19])
        top.append(suite)
        xml.ElementTree(top).write(out, encoding="utf-8", xml_declaration=True)


def _judged(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row a law and agent: the worst."""
    worst = {"broken": 0, "unknown": 1, "holds": 2}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in findings:
        key = (row["law"], row["agent"])
        if key not in found or worst[row["verdict"]] < worst[found[key]["verdict"]]:
            found[key] = row
    return list(found.values())


def _case(suite: xml.Element, material: Material, row: dict[str, Any]) -> None:
    case = _element(suite, f"{row['law']} {row['agent']}", material)
    own = [one["word"] for one in material.opinions if one["law"] == row["law"]
           and one["agent"] == row["agent"]]  # fmt: skip
    expected = own[0] if own else material.expected.get(row["law"], "")
    reason = _clean(row["reason"])
    if row["verdict"] == "unknown":
        xml.SubElement(case, "skipped", message=reason)
    elif row["verdict"] == "broken" and expected and expected != "withdrawn":
        xml.SubElement(case, "skipped", message=f"expected failure ({expected}): {reason}")
    elif row["verdict"] == "broken" and expected == "withdrawn":
        xml.SubElement(case, "skipped", message=f"withdrawn: {reason}")
    elif row["verdict"] == "broken":
        failure = xml.SubElement(case, "failure", message=reason, type=row["law"])
        failure.text = _clean("\n".join(one["ref"] for one in row["evidence"]))
    elif expected and expected != "withdrawn":
        words = f"expected to be broken ({expected}), but it holds: {reason}"
        xml.SubElement(case, "failure", message=words, type="unexpected-pass")


def _element(suite: xml.Element, name: str, material: Material) -> xml.Element:
    place = f"{material.run['agent']}.{material.run['scenario'] or 'import'}"
    return xml.SubElement(suite, "testcase", classname=_clean(place), name=_clean(name), time="0")


def _clean(text: object) -> str:
    return _NOT_XML.sub("\ufffd", str(text))


EXPORT = JUnit()
