"""Compact schemas of the formats: what their specifications require, in our own words."""

from __future__ import annotations

from typing import Any


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **optional},
    }


def _list(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
_MESSAGE = _object({"text": {"type": "string", "minLength": 1}})

SARIF = _object(
    {
        "version": {"const": "2.1.0"},
        "runs": _list(
            _object(
                {
                    "tool": _object(
                        {
                            "driver": _object(
                                {
                                    "name": TEXT,
                                    "rules": _list(_object({"id": TEXT}), uniqueItems=True),
                                }
                            )
                        }
                    ),
                    "results": _list(
                        _object(
                            {
                                "message": _MESSAGE,
                                "ruleId": TEXT,
                                "kind": {"enum": ["fail", "pass", "open"]},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                            },
                            locations=_list(
                                _object(
                                    {
                                        "physicalLocation": _object(
                                            {
                                                "artifactLocation": _object(
                                                    {"uri": {"pattern": "^[!-~]+$"}}
                                                )
                                            },
                                            region=_object({"startLine": {"minimum": 1}}),
                                        )
                                    }
                                )
                            ),
                            suppressions=_list(_object({"kind": {"enum": ["external"]}})),
                        )
                    ),
                }
            )
        ),
    }
)

OTLP = _object(
    {
        "resourceSpans": _list(
            _object(
                {
                    "resource": _object({"attributes": {"$ref": "#/$defs/attributes"}}),
                    "scopeSpans": _list(
                        _object(
                            {
                                "spans": _list(
                                    _object(
                                        {
                                            "traceId": {"pattern": "^[0-9a-f]{32}$"},
                                            "spanId": {"pattern": "^[0-9a-f]{16}$"},
                                            "name": TEXT,
                                            "kind": {"enum": [1, 2, 3, 4, 5]},
                                            "startTimeUnixNano": {"pattern": "^[0-9]{19}$"},
                                            "endTimeUnixNano": {"pattern": "^[0-9]{19}$"},
                                            "attributes": {"$ref": "#/$defs/attributes"},
                                            "status": _object({"code": {"enum": [0, 1, 2]}}),
                                        },
                                        parentSpanId={"pattern": "^[0-9a-f]{16}$"},
                                    ),
                                    minItems=1,
                                )
                            }
                        )
                    ),
                }
            )
        )
    }
) | {
    "$defs": {
        "attributes": _list(
            _object(
                {
                    "key": TEXT,
                    "value": {"type": "object", "minProperties": 1, "maxProperties": 1},
                }
            )
        )
    }
}

_STAMP = {"ts": {"type": "number", "minimum": 0}, "pid": WHOLE, "name": TEXT}
CHROME = _object(
    {
        "traceEvents": _list(
            {
                "oneOf": [
                    _object({"ph": {"const": "X"}, "dur": {"minimum": 0}, "tid": WHOLE, **_STAMP}),
                    _object({"ph": {"const": "i"}, "s": {"const": "t"}, "tid": WHOLE, **_STAMP}),
                    _object({"ph": {"const": "C"}, "args": {"type": "object"}, **_STAMP}),
                    _object({"ph": {"const": "M"}, "name": TEXT, "args": {"type": "object"}}),
                ]
            },
            minItems=1,
        )
    }
)

_PAIRS = _list(_object({"name": TEXT, "value": TEXT}))
HAR = _object(
    {
        "log": _object(
            {
                "version": {"const": "1.2"},
                "creator": _object({"name": TEXT, "version": TEXT}),
                "entries": _list(
                    _object(
                        {
                            "startedDateTime": {"pattern": r"^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$"},
                            "time": {"type": "number", "minimum": 0},
                            "request": _object(
                                {
                                    "method": TEXT,
                                    "url": {"pattern": "^http://"},
                                    "httpVersion": TEXT,
                                    "cookies": _PAIRS,
                                    "headers": _PAIRS,
                                    "queryString": _PAIRS,
                                    "headersSize": WHOLE,
                                    "bodySize": WHOLE,
                                }
                            ),
                            "response": _object(
                                {
                                    "status": WHOLE,
                                    "statusText": TEXT,
                                    "httpVersion": TEXT,
                                    "cookies": _PAIRS,
                                    "headers": _PAIRS,
                                    "content": _object({"size": WHOLE, "mimeType": TEXT}),
                                    "redirectURL": TEXT,
                                    "headersSize": WHOLE,
                                    "bodySize": WHOLE,
                                }
                            ),
                            "cache": {"type": "object"},
                            "timings": _object({"send": NUMBER, "wait": NUMBER, "receive": NUMBER}),
                        }
                    ),
                    minItems=1,
                ),
            }
        )
    }
)
