"""Events and what a page says of them, for the Python and the JavaScript that say it."""

from __future__ import annotations

from typing import Any

CASES: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "request.received",
        {"caller": "child:1", "call": 1, "attempt": 3, "bytes": 22220, "model": "m"},
        "child:1, call 1, attempt 3, 21.7 KiB, m",
        "",
    ),
    (
        "request.ended",
        {"attempt": 1, "complete": False, "closed": "ended", "status": 200, "events": 1},
        "attempt 1, ended early, HTTP 200, 1 event",
        "bad",
    ),
    (
        "request.ended",
        {"complete": False, "closed": "ended", "status": 500},
        "error 500, HTTP 500",
        "bad",
    ),
    ("request.ended", {"attempt": 2, "complete": True, "bytes": 0}, "attempt 2, complete, 0 B", ""),
    (
        "notice.delivered",
        {"child": "c", "raw": "idle", "form": "notification", "has_result": False},
        "told “idle” of c, notification, no result",
        "",
    ),
    ("notice.queued", {"child": "c"}, "of c", ""),
    (
        "session.status",
        {"status": "retrying", "raw": "retrying", "attempt": 2, "of": 6, "inferred": True},
        "retrying, attempt 2 of 6, inferred",
        "",
    ),
    ("session.status", {"status": "running", "raw": "busy"}, "running, “busy”", ""),
    ("model.retry", {"attempt": 2, "delay": 1.5}, "attempt 2, next in 1.50 s", "bad"),
    ("retry.claim", {"retries": 1, "sleep": 5.0}, "retried 1 time, 5.00 s in all", ""),
    ("spawn.answered", {"ok": False, "refusal": "depth"}, "refused (depth)", "bad"),
    ("spawn.answered", {"ok": False}, "refused", "bad"),
    ("spawn.answered", {"child": "{status}[x]"}, "accepted, {status}[x]", ""),
    ("tool.ended", {"tool": "t", "ok": True}, "t, ok", ""),
    ("agent.ended", {"status": "failed", "detail": "x"}, "failed, x", "bad"),
    (
        "process.sample",
        {"rss": 1 << 20, "cpu": 99.6, "processes": 2},
        "1.0 MiB, 100 % processor, 2 processes",
        "",
    ),
    ("damage", {"what": "cut line", "repaired": True}, "cut line, repaired", "unknown"),
    ("model.retry", {"delay": {}, "attempt": ["x"]}, "", "bad"),
    ("request.received", {"bytes": "many"}, "many", ""),
    (
        "process.runtime",
        {"node": "v24", "payload": "", "more": {"a": 1}, "own": False},
        "node v24, own no",
        "",
    ),
    ("guard.fired", {"guard": "timeout", "limit": 180.0}, "timeout, limit 180", "bad"),
]
"""Kind, data, words, tone."""
