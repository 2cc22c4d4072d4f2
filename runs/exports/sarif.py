"""SARIF 2.1.0: a result a finding, its evidence as places in files."""

from __future__ import annotations

import json
import re
from typing import IO, Any
from urllib.parse import quote

from runs import catalogue
from runs.export import Export
from runs.material import Material

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_KINDS = {"broken": "fail", "holds": "pass", "unknown": "open"}
_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d{1,9})")


class Sarif(Export):
    """For code-scanning pages and editors."""

    name = "sarif"
    title = "SARIF 2.1.0: findings with places in files"
    suffix = "sarif"
    media = "application/sarif+json"

    def write(self, material: Material, out: IO[bytes]) -> None:
        """One run of one tool."""
        opinions = {(one["law"], one["agent"]): one for one in material.opinions}
        document = {
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {"driver": {"name": "Lifeline", "rules": [*map(_rule, _laws())]}},
                    "invocations": [
                        {
                            "executionSuccessful": not material.document.get("error"),
                            "properties": {"permalink": material.run["permalink"]},
                        }
                    ],
                    "results": [
                        _result(row, opinions.get((row["law"], row["agent"])))
                        for row in material.document["findings"]
                    ],
                    "columnKind": "utf16CodeUnits",
                    "properties": {
                        "title": material.title,
                        "diagnosis": material.document["diagnosis"],
                        "outcome": material.document["outcome"],
                    },
                }
            ],
        }
        out.write(json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "replace"))


def _laws() -> list[Any]:
    return list(catalogue.laws().values())


def _rule(law: Any) -> dict[str, Any]:
    return {
        "id": law.id,
        "name": law.name,
        "shortDescription": {"text": law.sentence},
        "fullDescription": {"text": law.why},
        "help": {"text": law.detected},
    }


def _result(row: dict[str, Any], opinion: dict[str, Any] | None) -> dict[str, Any]:
    broken = row["verdict"] == "broken"
    found: dict[str, Any] = {
        "ruleId": row["law"],
        "kind": _KINDS.get(row["verdict"], "open"),
        "level": "error" if broken else "none",
        "message": {"text": f"{row['agent']}: {row['reason']}"},
        "locations": [_location(one["ref"], row["agent"]) for one in row["evidence"][:20]],
        "properties": {"because": row["because"], "label": row["label"]},
    }
    if opinion and opinion["word"] != "confirmed":
        words = ": ".join(filter(None, (opinion["word"], opinion["note"])))
        found["suppressions"] = [{"kind": "external", "justification": words}]
    return found


def _location(ref: str, agent: str) -> dict[str, Any]:
    match = _PLACE.fullmatch(ref)
    file, _, pointer = ref.partition("#")
    place: dict[str, Any] = {
        "artifactLocation": {"uri": quote(match["file"] if match else file, safe="/+")}
    }
    if match and int(match["line"]):
        place["region"] = {"startLine": int(match["line"])}
    name = f"{agent} {pointer}" if pointer else agent
    return {"physicalLocation": place, "logicalLocations": [{"name": name or "root"}]}


EXPORT = Sarif()
