"""The evidence of a run of omnigent: the streams of its sessions, what is stored, its logs.

The streams are the live view (``stdout``); our client inside the seal prints them with its
own lines, ``client/…``. The stored view (``session``) is one document a session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.core.history import History
from runs.transcripts._values import integer, mapping, number, text
from runs.transcripts.omnigent import Stream

PLAN, MISSED, SLOW = "plan", "missed", "slow"
GIVEN_UP = 29.0
"""Seconds that a binding takes at least whose harness was given up, which is after thirty; and a
send whose session was."""


class LiveStream(Stream):
    """All streams of a run, with the lines of our client."""

    envelope = frozenset({"t", "kind"})

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.source = "stdout"
        self.killed = False
        self.asked: dict[str, float] = {}
        """When our client asked for what."""
        self.when = ""

    def record(self, record: Mapping[str, Any]) -> None:
        """An event, or a line of the client."""
        kind = text(record.get("kind"), 80)
        if not kind.startswith("client/"):
            super().record(record)
            return
        self.at, self.native = number(record.get("t")), kind
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, record)
        else:
            said = record.get("request") or record.get("error") or record.get("session")
            self.other(kind, summary=text(said, 300))

    def _plan(self, record: Mapping[str, Any]) -> None:
        """What this run is meant to go through."""
        self.when = text(record.get("when"), 40)
        planned = {key: text(record.get(key), 40) for key in ("setup", "deed", "when")}
        self.add(Kind.PHASE, "", phase=PLAN, detail=planned)

    def _settled(self, record: Mapping[str, Any]) -> None:
        """The parent's last word. One that still runs has not said how it ends, and our client
        gave it up; one that waits, waits for children, and what of those was told is judged."""
        word = text(record.get("status"), 40)
        self.add(Kind.RESULT, self.root, status=word, is_error=word == "failed")
        if word == "running":
            self.add(Kind.GUARD, "", guard="timeout", what="a parent that stays at work")
        if record.get("missed") is True:
            self.add(Kind.PHASE, "", phase=MISSED, detail=self.when)

    def _part(self, record: Mapping[str, Any]) -> None:
        """The server, or the runner; one that is online again takes its sessions up."""
        part, word = text(record.get("part"), 40), text(record.get("status"), 40)
        version = text(record.get("version"), 40)
        if version:
            self.facts["version"] = version
        self.add(
            Kind.PART, "", part=part, status=word, pid=integer(record.get("pid")),
            signal=integer(record.get("signal")), code=integer(record.get("code")),
            version=version or None,
        )  # fmt: skip
        if part == "runner" and word == "killed":
            self.killed = True
        elif part == "runner" and word == "online" and self.killed:
            self.add(Kind.SESSION_RESUMED, self.root, session=self.root)

    def _asks(self, record: Mapping[str, Any]) -> None:
        """Something that our client asks for."""
        request = text(record.get("request"), 300)
        self.asked[request] = self.at or 0.0
        self.other(self.native, summary=request)

    def _answered(self, record: Mapping[str, Any]) -> None:
        """How the server took what was asked: a message is accepted, and may have to queue.

        A session's harness is started when its runner is bound to it, and given up in silence.
        """
        request = text(record.get("request"), 300)
        took = (self.at or 0.0) - self.asked.get(request, self.at or 0.0)
        if request.startswith("PATCH") and took >= GIVEN_UP:
            self.add(Kind.PHASE, "", phase=SLOW, detail=self.root or request.rpartition("/")[2])
        body = mapping(record.get("body"))
        words = [text(record.get("request"), 120), text(record.get("status"))]
        words += ["queued"] if body.get("queued") is True else []
        taken = text(body.get("status"), 40)
        if taken in ("accepted", "buffered"):  # the runner itself; its stream shows no message
            self.add(Kind.USER_MESSAGE, self.root, queued=taken == "buffered")
            return
        self.other(self.native, summary=" ".join(words))

    def _stopped(self, record: Mapping[str, Any]) -> None:
        """The operator's own cancel."""
        target = text(record.get("session"))
        self.add(Kind.CANCEL_REQUESTED, target, target=target, by="user", raw="interrupt")


_HANDLERS = {
    "client/plan": LiveStream._plan,
    "client/settled": LiveStream._settled,
    "client/part": LiveStream._part,
    "client/asked": LiveStream._asks,
    "client/answered": LiveStream._answered,
    "client/interrupted": LiveStream._stopped,
}


def missed(history: History) -> str:
    """The moment that never came at which something was to be done to the run, else empty."""
    over = [one for one in history.of(Kind.PHASE) if one.get("phase") == MISSED]
    return str(over[0].get("detail") or "") if over else ""


def too_slow(history: History) -> str:
    """The session whose harness did not come up although nothing is wrong with it, or the call
    for one that was given up, else empty.

    A harness that does not serve within half a minute fails its turn before that begins; so
    does one that cannot be set up. Which of the two it is, only the plan of the run tells. The
    one at the top is given up without a word when it is bound, and has no inbox then.
    """
    plans = [one for one in history.of(Kind.PHASE) if one.get("phase") == PLAN]
    if not plans or mapping(plans[0].get("detail")).get("setup") != "whole":
        return ""
    slow = [one for one in history.of(Kind.PHASE) if one.get("phase") == SLOW]
    if slow:
        return str(slow[0].get("detail"))
    sent = {one.get("call"): one for one in reversed(history.of(Kind.SPAWN_REQUESTED))}
    for answer in history.of(Kind.SPAWN_ANSWERED):
        asked = sent.get(answer.get("call"))
        took = history.time(answer) - history.time(asked) if asked is not None else 0.0
        if answer.get("ok") is False and took >= GIVEN_UP:
            return str(answer.get("call"))
    begun = {one.agent for one in history.of(Kind.TURN_STARTED)}
    last = {one.agent: one.get("status") for one in history.of(Kind.STATUS)}
    return next((who for who, word in last.items() if word == "failed" and who not in begun), "")
