"""omnigent's session streams: ``GET /v1/sessions/ID/stream``, of the parent and of its children.

A line is an event, or a recorder's ``{t, kind: "sse", session, data}``. Which
session an event belongs to stands in it, or in the wrapper; child sessions are
agents. The stream is the authority, snapshots are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._omnigent import Sessions, error_kind
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
from runs.transcripts._values import TERMINAL, length, mapping, moment, number, status, text

STATUS = {
    "starting": "starting", "launching": "starting", "running": "running", "waiting": "waiting",
    "idle": "idle", "failed": "failed", "blocked": "waiting", "ended": "ended", "stopped": "ended",
}  # fmt: skip
"""session.status words, and ours."""
RESTS = {"idle": "completed", "failed": "failed"}
"""How the last turn of a session that rests has ended."""


class Stream(Sessions):
    """All sessions of one recording."""

    sse = True
    order = Order(strict=False)

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self.root = ""
        self.parents: dict[str, str] = {}
        self.ended: dict[str, str] = {}
        """How each child ended that has no new run since."""
        self.worked: set[str] = set()
        self.unborn: dict[str, tuple[float | None, Mapping[str, Any]]] = {}
        """Children that were called ended before they had begun, with when and their row."""
        self.own: dict[str, tuple[float | None, str, Any]] = {}
        """The latest status of each session on its own stream, with when and its error."""
        self.turns: dict[str, str] = {}
        """The open turn of each session that has one."""

    def record(self, record: Mapping[str, Any]) -> None:
        """One event."""
        inner = mapping(record.get("data")) or mapping(record.get("v"))
        event = inner if "type" in inner else record
        self.at = number(record.get("t"))
        if self.at is None:
            self.at = moment(event.get("server_time") or record.get("timestamp"))
        self.native = text(event.get("type"), 80)
        session = text(event.get("conversation_id") or event.get("session_id")
                       or record.get("session")) or self.root  # fmt: skip
        if not self.root and session:
            self.root = session
            self.facts["session"] = session
            version = self.facts.get("version")
            self.add(Kind.SESSION_STARTED, session, session=session, version=version)
        handler = _HANDLERS.get(self.native)
        if handler is None:
            self.other(
                self.native or text(record.get("kind") or record.get("k"), 80), agent=session
            )
        else:
            handler(self, event, session or ROOT)

    # Sessions

    def _created(self, event: Mapping[str, Any], session: str) -> None:
        child = text(event.get("child_session_id"))
        parent = text(event.get("parent_session_id")) or session
        if not child or child in self.parents:
            self.other(self.native, agent=session)
            return
        self.parents[child] = parent
        self.add(Kind.AGENT_STARTED, child, parent=parent, background=True)

    def _child(self, event: Mapping[str, Any], session: str) -> None:
        """The runtime's row about a child: its status is the terminal that it stores."""
        row = mapping(event.get("child"))
        child = text(event.get("child_session_id") or row.get("id"))
        word = text(row.get("current_task_status"), 40)
        title = text(row.get("title")).replace(":", "/")
        if title:
            self.titles[title] = child
        if child not in self.parents:
            self._created({"child_session_id": child, "parent_session_id": session}, session)
        ours = status(word)
        if word == "in_progress":
            self.worked.add(child)
            self.unborn.pop(child, None)
        if ours in TERMINAL and child not in self.worked:
            # Its launch failed; the turn that follows all the same ends it once more.
            self.unborn[child] = (self.at, row)
            self.other(self.native, summary=word, agent=child)
        elif word in ("launching", "in_progress") and child in self.ended:
            del self.ended[child]
            self.said.pop(child, None)
            self.add(Kind.AGENT_RESUMED, child, by=session, reason=word)
        elif ours in TERMINAL and child not in self.ended:
            self._end(child, ours, word, row.get("last_task_error"))
        elif word == "launching":
            self.add(Kind.STATUS, child, status=STATUS[word], raw=word)
        else:
            self.other(self.native, summary=word, agent=child)

    def _end(self, child: str, ours: str, raw: str, error: Any) -> None:
        self.ended[child] = ours
        size = self.said.get(child)
        self.add(
            Kind.AGENT_ENDED,
            child,
            status=ours,
            raw=raw,
            error_class=error_kind(error) if ours == "failed" else None,
            text_length=size,
            has_result=None if size is None else size > 0,
            detail=text(mapping(error).get("message"), 300),
        )

    def finish(self) -> None:
        """Ends of children that no row on their parent's stream shows.

        One that never began has ended when its launch failed; one that rests by its own
        stream has ended there.
        """
        self.native = "session.child_session.updated"
        for child, (at, row) in self.unborn.items():
            word = text(row.get("current_task_status"), 40)
            self.at = at
            self._end(child, status(word), word, row.get("last_task_error"))
        self.native = "session.status"
        for child in self.parents.keys() - self.ended:
            self.at, word, error = self.own.get(child, (None, "", None))
            if word in RESTS:
                self._end(child, RESTS[word], word, error)

    def _status(self, event: Mapping[str, Any], session: str) -> None:
        """A word about a session; an error after a child's good end is none of its run: its
        runner has gone, say."""
        word = text(event.get("status"), 40)
        error = event.get("error")
        self.own[session] = (self.at, word, error)
        self.add(Kind.STATUS, session, status=STATUS.get(word, "running"), raw=word)
        if error and self.ended.get(session) == "completed":
            self.other(self.native, summary=text(mapping(error).get("code"), 80), agent=session)
        elif error:
            self.error(error, session)

    # Turns and items

    def _input(self, event: Mapping[str, Any], session: str) -> None:
        about = mapping(event.get("data"))
        data, self.native_id = mapping(about.get("data")), text(about.get("item_id"), 80)
        self.message_in(data.get("content"), session, queued=bool(self.turns.get(session)))

    def _progress(self, event: Mapping[str, Any], session: str) -> None:
        turn = text(mapping(event.get("response")).get("id"))
        self.turns[session] = turn
        self.add(Kind.TURN_STARTED, session, turn=turn)

    def _response(self, event: Mapping[str, Any], session: str) -> None:
        response = mapping(event.get("response"))
        raw = text(response.get("status"), 40) or self.native.rpartition(".")[2]
        error = response.get("error")
        ours = {"incomplete": "failed"}.get(raw, status(raw))
        self.turns.pop(session, None)
        self.add(
            Kind.TURN_ENDED, session, turn=text(response.get("id")), status=ours, raw=raw,
            error_class=error_kind(error) if error else None,
        )  # fmt: skip
        if error:
            self.error(error, session)
        elif session in self.woken:
            self.woken.discard(session)
            self.unread(session)  # a turn without a word and without a call read nothing

    def _item(self, event: Mapping[str, Any], session: str) -> None:
        self.item(mapping(event.get("item")), session)

    def _resource_event(self, event: Mapping[str, Any], session: str) -> None:
        about = mapping(event.get("resource"))
        name = text(about.get("id") or event.get("resource_id"))
        self.other(self.native, summary=name, agent=session)

    def _delta(self, event: Mapping[str, Any], session: str) -> None:
        self.woken.discard(session)
        self.add(Kind.DELTA, session, text_length=length(event.get("delta")), what="text")

    def _interrupted(self, event: Mapping[str, Any], session: str) -> None:
        self.add(Kind.ABORTED, session, reason="interrupted", target=session)

    def _asked(self, event: Mapping[str, Any], session: str) -> None:
        name = text(event.get("elicitation_id") or event.get("id"))
        self.add(Kind.QUESTION_ASKED, session, id=name, what="question")


_HANDLERS = {
    "session.created": Stream._created,
    "session.child_session.updated": Stream._child,
    "session.status": Stream._status,
    "session.input.consumed": Stream._input,
    "session.interrupted": Stream._interrupted,
    "session.elicitation.created": Stream._asked,
    "session.resource.created": Stream._resource_event,
    "session.resource.deleted": Stream._resource_event,
    "response.in_progress": Stream._progress,
    "response.completed": Stream._response,
    "response.failed": Stream._response,
    "response.incomplete": Stream._response,
    "response.output_item.done": Stream._item,
    "response.output_text.delta": Stream._delta,
}


class Omnigent(Format):
    """Recorded streams."""

    name = "omnigent-stream"
    title = "omnigent session stream"
    source = "session"
    agent = "omnigent"
    clock = "relative"

    def sniff(self, head: bytes, name: str) -> float:
        """By session.status with a plain word, and response events."""
        found = records(head)
        events = []
        for one in found:
            inner = mapping(one.get("data")) or mapping(one.get("v"))
            events.append(inner if "type" in inner else one)
        mine = [one for one in events if text(one.get("type"), 80) in _HANDLERS]
        sure = any(
            one.get("type") == "session.status" and isinstance(one.get("status"), str)
            or str(one.get("type")).startswith(("session.child", "session.input"))
            for one in mine
        )  # fmt: skip
        return 0.88 if sure and len(mine) * 4 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one recording."""
        return Stream(file)


READER = Omnigent()
