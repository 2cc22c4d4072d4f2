"""HAR 1.2 of what the provider received and sent; our own facts under keys with underscore."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from http import HTTPStatus
from typing import IO, Any

from runs.export import Export
from runs.material import Material

BODY_LIMIT = 1 << 20
UNKNOWN_PATH = "/not-recorded/responses"
"""Where a log does not say it; the ending is what readers tell model calls by."""


class Har(Export):
    """For browsers' network panels and proxies."""

    name = "har"
    title = "HAR 1.2 of the provider's traffic"
    suffix = "har"
    media = "application/json"

    def write(self, material: Material, out: IO[bytes]) -> None:
        """An entry an exchange; one that never ended has no response status."""
        received: dict[str, dict[str, Any]] = {}
        entries: list[dict[str, Any]] = []
        for event in material.events():
            name = str(event["data"].get("request") or event["seq"])
            if event["kind"] == "request.received":
                received[name] = event
            elif event["kind"] == "request.ended":
                entries.append(_entry(material, received.pop(name, None), event))
        entries += [_entry(material, event, None) for event in received.values()]
        log = {
            "version": "1.2",
            "creator": {"name": "Lifeline", "version": "1"},
            "entries": sorted(entries, key=lambda entry: str(entry["startedDateTime"])),
            "comment": material.title,
        }
        document = {"log": log}
        out.write(json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "replace"))


def _entry(
    material: Material, received: dict[str, Any] | None, ended: dict[str, Any] | None
) -> dict[str, Any]:
    asked = received["data"] if received else {}
    told = ended["data"] if ended else {}
    start = _start(received, ended)
    end = (ended or {}).get("t")
    whole = max(0.0, ((end if end is not None else start) - start) * 1000)
    first = told.get("first_byte")
    wait = min(whole, max(0.0, float(first) * 1000)) if isinstance(first, int | float) else 0.0
    return {
        "startedDateTime": datetime.fromtimestamp(material.epoch + start, UTC).isoformat(),
        "time": whole,
        "request": _request(material, asked),
        "response": _response(material, told, stream=bool(asked.get("stream"))),
        "cache": {},
        "timings": {"send": 0, "wait": wait, "receive": whole - wait},
        "_caller": asked.get("caller") or told.get("caller"),
        "_call": asked.get("call") or told.get("call"),
        "_attempt": asked.get("attempt") or told.get("attempt"),
        "_fault": told.get("fault"),
        "_closed": told.get("closed", "open"),
        "_complete": bool(told.get("complete")),
    }


def _request(material: Material, asked: dict[str, Any]) -> dict[str, Any]:
    return {
        "method": "POST",
        "url": f"http://127.0.0.1{asked.get('path') or UNKNOWN_PATH}",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": [
            {"name": str(name), "value": str(value)}
            for name, value in (asked.get("headers") or {}).items()
        ],
        "queryString": [],
        "postData": {
            "mimeType": "application/json",
            "text": _body(material, asked.get("body"))
            or json.dumps({"model": asked.get("model"), "stream": asked.get("stream")}),
        },
        "headersSize": -1,
        "bodySize": int(asked.get("bytes") or 0),
    }


def _response(material: Material, told: dict[str, Any], *, stream: bool) -> dict[str, Any]:
    status, answer = int(told.get("status") or 0), _body(material, told.get("response"))
    return {
        "status": status,
        "statusText": _phrase(status),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": [],
        "content": {
            "size": int(told.get("bytes") or 0),
            "mimeType": "text/event-stream" if stream else "application/json",
            **({"text": answer} if answer else {}),
        },
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": int(told.get("bytes") or 0),
    }


def _body(material: Material, name: Any) -> str:
    kept = material.body(str(name)) if name else None
    return kept[:BODY_LIMIT].decode("utf-8", "replace") if kept else ""


def _start(received: dict[str, Any] | None, ended: dict[str, Any] | None) -> float:
    for event in (received, ended):
        if event is not None and event.get("t") is not None:
            return float(event["t"])
    return 0.0


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


EXPORT = Har()
