"""The evidence of a run of OpenCode: what its server says live, and what it has stored.

The bus is the live view (``stdout``): each session tells of itself. The stored view
(``session``) is one document a session, written when the run is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from runs.core.events import Draft, Kind
from runs.transcripts._opencode_bus import Bus
from runs.transcripts._values import integer, items, length, mapping, moment, text
from runs.transcripts.opencode_export import Export


class LiveBus(Bus):
    """The bus as our client inside the seal prints it, with the client's own lines."""

    envelope = frozenset({"time", "type", "payload"})

    def __init__(self, file: str) -> None:
        super().__init__(file, "stdout")
        self._answer: tuple[str, dict[str, Any]] | None = None

    def record(self, record: Mapping[str, Any]) -> None:
        """An event, or a line of the client."""
        if "payload" in record:
            super().record(record)
            return
        self.at = self._when(record, {}, {})
        asked = text(record.get("request"), 200)
        if self.native == "client/answered" and asked.endswith("/message"):
            self._answered_prompt(record)
        elif self.native == "client/interrupted":
            target = text(record.get("session"))
            self.add(Kind.CANCEL_REQUESTED, target, target=target, by="user", raw="abort")
            return
        elif self.native == "client/limit":
            name, value = text(record.get("name"), 80), integer(record.get("value"))
            self.add(Kind.LIMIT, name=name, value=value)
            return
        elif self.native == "client/settled" and self._answer is not None:
            agent, word = self._answer
            self.add(Kind.RESULT, agent, **word)
            return
        said = asked or text(record.get("line") or record.get("error"), 300)
        self.other(self.native, summary=said)

    def _when(
        self, record: Mapping[str, Any], event: Mapping[str, Any], properties: Mapping[str, Any]
    ) -> float | None:
        """When it happened, by the event's id; the bus delivers it up to seconds later.

        Older versions give events no id: then when it came.
        """
        came = moment(record.get("time"))
        said = self._time_in(text(event.get("id"), 80), moment(properties.get("time")))
        if came is None or said is None:
            return came if said is None else said
        return min(said, came)

    def _answered_prompt(self, record: Mapping[str, Any]) -> None:
        """The answer to the operator's prompt: the last word as soon as nothing runs any more.

        Sub-agents in the background go on after it, and the parent with them.
        """
        body = mapping(record.get("body"))
        info = mapping(body.get("info"))
        failed = bool(info.get("error")) or not info or record.get("status") != 200
        said = [one for one in items(body.get("parts")) if mapping(one).get("type") == "text"]
        word = {
            "status": "error" if failed else text(info.get("finish"), 40) or "answered",
            "is_error": failed,
            "text_length": sum(length(mapping(one).get("text")) for one in said),
        }
        self._answer = (text(info.get("sessionID")), word)


class LiveExport(Export):
    """A stored session. A sub-agent's own last message is its stored end: there is no record."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")

    def end(self) -> Iterable[Draft]:
        """The whole document, then the end of a sub-agent that its last message says."""
        drafts = list(super().end())
        begun = next((one for one in drafts if one.kind is Kind.AGENT_STARTED), None)
        if begun is None:
            return drafts
        mine = [one for one in drafts if one.agent == begun.agent]
        last = next(
            (one for one in reversed(mine) if one.kind in (Kind.AGENT_MESSAGE, Kind.USER_MESSAGE)),
            None,
        )
        if last is None or last.kind is Kind.USER_MESSAGE:
            return drafts
        failed = next((one for one in reversed(mine) if one.kind is Kind.ERROR), None)
        said = bool(last.data.get("error"))
        # After an answer without a reason some versions ask again and again: no end by itself.
        if said or (last.data.get("final") and last.data.get("finish") != "unknown"):
            drafts.append(replace(last, kind=Kind.AGENT_ENDED, data=_end(last, said, failed)))
        return drafts


def _end(last: Draft, failed: bool, error: Draft | None) -> dict[str, Any]:
    kind = str(error.data.get("error_class") or "") if failed and error is not None else ""
    ours = ("cancelled" if kind == "aborted" else "failed") if failed else "completed"
    size = last.data.get("text_length")
    return {
        "status": ours,
        "raw": last.native,
        "error_class": kind or None,
        "text_length": size,
        "has_result": None if size is None else size > 0,
        "detail": "inferred from the last record",
    }
