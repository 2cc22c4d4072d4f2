"""A plain request log of a model provider: one object a request, times relative to the start.

The neutral shape is ``{t_ms, agent, model, attempt, status, fault, end_ms,
retry_after_s}``, closed by ``{t_ms, observer: "end_of_capture"}``. A log that
names roles (parent, subagent, grandchild) instead of agents is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
from runs.transcripts._values import integer, is_watchdog, moment, number, seconds, text

_HARMLESS = ("slow", "delay", "drip", "late", "latency")
"""Words of faults that end with a whole answer, where none of an end stands beside them."""
_CLOSED = (
    ("reset", "reset"),
    ("refused", "refused"),
    ("client", "client-gone"),
    ("aborted_by", "client-gone"),
    ("cut", "cut"),
    ("clos", "cut"),
    ("eof", "cut"),
    ("disconnect", "cut"),
    ("truncat", "cut"),
)
_CALLERS = {"parent": "parent", "root": "parent", "subagent": "child:1", "child": "child:1",
            "subagent-b": "child:2", "grandchild": "grandchild:1",
            "utility": "utility"}  # fmt: skip
_END = re.compile(r"(?:^|[\W_])end")
_ROLE = re.compile(r"parent|utility|subagent(-b)?|(grand)?child(:\d+)?")
_PLAIN_ACTIONS = frozenset({"tools", "text", "call", "ok"})


class ProviderSketch(Lines):
    """One log."""

    envelope = frozenset({"t_ms"})
    order = Order(jump=900.0, strict=False)  # Requests of several agents overlap.

    def __init__(self, file: str) -> None:
        super().__init__(file, "provider")

    def record(self, record: Mapping[str, Any]) -> None:
        """One exchange, or the end of the capture."""
        self.at = self._time(record, "t_ms", "start")
        observer = text(record.get("observer"), 80)
        if observer:
            self.native = observer
            if _END.search(observer):
                total = integer(record.get("requests_total"))
                self.add(Kind.CAPTURE_ENDED, requests=total)
            elif is_watchdog(observer):
                agent = text(record.get("target") or record.get("agent"))
                self.add(
                    Kind.WATCHDOG, agent, target=agent, action=text(record.get("action"), 40),
                    after=number(record.get("after_s")),
                )  # fmt: skip
            else:
                self.other(observer)
            return
        if self.at is None:
            self.other("request", summary="without a time")
            return
        self._exchange(record)

    def _time(self, record: Mapping[str, Any], milliseconds: str, plain: str) -> float | None:
        if milliseconds in record:
            return seconds(record[milliseconds])
        found = number(record.get(plain))
        return found if found is not None else moment(record.get("timestamp"))

    def _exchange(self, record: Mapping[str, Any]) -> None:
        agent, role = text(record.get("agent")), text(record.get("role"), 80)
        if _ROLE.fullmatch(agent):  # A place in the tree, not an id.
            agent, role = "", agent
        caller = agent or _CALLERS.get(role, role)
        index = integer(record.get("i"))
        common = {
            "caller": caller,
            "request": text(record.get("request"))
            or f"r{index if index is not None else self.line}",
            "call": integer(record.get("call")),
            "attempt": integer(record.get("attempt")),
            "model": text(record.get("model")),
        }
        self.native = "request"
        start = self.at
        self.add(Kind.REQUEST_RECEIVED, agent, **common, fault_aimed=None)
        ended = self._time(record, "end_ms", "end")
        fault = self._fault(record)
        status = integer(record.get("status"))
        if status is None and "action" in record and not fault:
            status = 200
        closed = _closed(fault, ended)
        self.at = ended if ended is not None else start
        if ended is None:
            return  # Still open: nothing is known of an end.
        self.add(
            Kind.REQUEST_ENDED,
            agent,
            **common,
            status=status,
            complete=_complete(status, fault),
            closed=closed,
            fault=fault or None,
            retry_after=number(record.get("retry_after_s")),
            bytes=integer(record.get("bytes_sent")) or 0,
            duration=None if start is None else ended - start,
        )

    def _fault(self, record: Mapping[str, Any]) -> str:
        fault = record.get("fault")
        if fault is None and "action" in record:
            action = text(record.get("action"), 80)
            return "" if action in _PLAIN_ACTIONS else action
        return text(fault, 80)


def _complete(status: int | None, fault: str) -> bool:
    if status is None or not 200 <= status < 300:
        return False
    word = fault.lower()
    broken = any(part in word for part, _ in _CLOSED)
    return not fault or (not broken and any(harmless in word for harmless in _HARMLESS))


def _closed(fault: str, ended: float | None) -> str:
    if ended is None:
        return "open"
    word = fault.lower()
    return next((name for part, name in _CLOSED if part in word), "ended")


class ProviderSketchFormat(Format):
    """Made by hand or by a proxy."""

    name = "provider-log-sketch"
    title = "Provider request log"
    source = "provider"
    clock = "relative"

    def sniff(self, head: bytes, name: str) -> float:
        """By t_ms with agent or observer, or by role, idx and start."""
        found = records(head)
        plain = [one for one in found if "t_ms" in one and ("observer" in one or "agent" in one)
                 and "dir" not in one and "msg" not in one]  # fmt: skip
        roles = [one for one in found if {"role", "idx", "start", "path"} <= one.keys()]
        mine = max(len(plain), len(roles))
        return 0.9 if mine and mine * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one log."""
        return ProviderSketch(file)


READER = ProviderSketchFormat()
