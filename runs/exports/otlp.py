"""OTLP JSON: a span an agent and a span a try of a model call, in the GenAI conventions."""

from __future__ import annotations

import hashlib
import json
from typing import IO, Any

from runs.export import Export
from runs.material import Material

OK, ERROR = 1, 2
CLIENT, INTERNAL = 3, 1


class Otlp(Export):
    """For trace viewers."""

    name = "otlp"
    title = "OTLP JSON: agents and model calls as spans"
    suffix = "otlp.json"
    media = "application/json"

    def write(self, material: Material, out: IO[bytes]) -> None:
        """One resource, one scope."""
        spans = [_agent(material, row) for row in material.document["agents"]]
        spans += [_attempt(material, row) for row in material.document["attempts"]]
        document = {
            "resourceSpans": [
                {
                    "resource": {
                        "attributes": _attributes(
                            {
                                "service.name": material.run["agent"],
                                "service.version": material.run["version"],
                                "lifeline.scenario": material.run["scenario"],
                                "lifeline.diagnosis": material.document["diagnosis"],
                                "lifeline.permalink": material.run["permalink"],
                            }
                        )
                    },
                    "scopeSpans": [{"scope": {"name": "lifeline"}, "spans": spans}],
                }
            ]
        }
        out.write(json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "replace"))


def _id(length: int, *parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:length]


def _nano(material: Material, t: float | None) -> str:
    return str(int(material.epoch) * 10**9 + int((material.epoch % 1 + (t or 0.0)) * 1e9))


def _agent(material: Material, row: dict[str, Any]) -> dict[str, Any]:
    link, end = material.run["permalink"], row.get("ended")
    failed = row["true_end"] not in ("completed", "open", "unknown", "")
    parent = row.get("parent")
    return {
        "traceId": _id(32, link),
        "spanId": _id(16, link, "agent", row["id"]),
        **({"parentSpanId": _id(16, link, "agent", parent)} if parent else {}),
        "name": f"invoke_agent {row.get('name') or row['id']}",
        "kind": INTERNAL,
        "startTimeUnixNano": _nano(material, row.get("started")),
        "endTimeUnixNano": _nano(
            material, end if end is not None else material.document.get("duration")
        ),
        "attributes": _attributes(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.id": row["id"],
                "gen_ai.agent.name": row.get("name") or row["id"],
                "gen_ai.conversation.id": link,
                "lifeline.true_end": row["true_end"],
                "lifeline.open": end is None,
                "lifeline.told": (row.get("told") or {}).get("status"),
            }
        ),
        "status": {"code": ERROR if failed else OK},
    }


def _attempt(material: Material, row: dict[str, Any]) -> dict[str, Any]:
    link = material.run["permalink"]
    return {
        "traceId": _id(32, link),
        "spanId": _id(16, link, "attempt", row["caller"], row["call"], row["n"], row["seq"]),
        **({"parentSpanId": _id(16, link, "agent", row["agent"])} if row.get("agent") else {}),
        "name": f"chat {row.get('model') or 'model'}",
        "kind": CLIENT,
        "startTimeUnixNano": _nano(material, row["start"]),
        "endTimeUnixNano": _nano(
            material,
            row["end"] if row.get("end") is not None else material.document.get("duration"),
        ),
        "attributes": _attributes(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": row.get("model"),
                "http.response.status_code": row.get("http_status"),
                "http.request.resend_count": row["n"] - 1,
                "lifeline.caller": row["caller"],
                "lifeline.call": row["call"],
                "lifeline.fault": row.get("fault"),
                "lifeline.closed": row["closed"],
            }
        ),
        "status": {"code": OK if row["complete"] else ERROR},
    }


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": _value(value)} for key, value in values.items() if value is not None
    ]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}


EXPORT = Otlp()
