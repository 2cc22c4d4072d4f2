"""What omnigent's streams and its stored sessions have in common: items, wakes, the inbox.

A child's end goes into its parent's inbox and wakes the parent with a message of the
runtime; the result is there to be read. Whoever is woken and reads nothing got no result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fakes.spoken import digest
from runs.core.events import Kind
from runs.transcripts._lines import Lines
from runs.transcripts._values import error_class, first_text, length, mapping, status, text

SPAWN, INBOX, CANCEL = "sys_session_send", "sys_read_inbox", "sys_cancel_task"
NOTHING = "Inbox is empty"
"""How the answer of an inbox begins that has nothing in it; other words may be a result."""
RUNTIME = "[System: "
"""How the runtime's own words begin, among the messages of people."""
_WAKE = re.compile(r"\[System: sub-agent ([^\s\]]+) finished \((\w+)\)")
_RESULT = re.compile(
    r"\[System: sub-agent task ([\w-]+) (\w+) —(?:[^\]]*?(returned|error): ?)?([^\]]*)"
)
_EMPTY = re.compile(r"produced no output$")
"""How the runtime's own word ends where there is no result: none of a sub-agent's is in it."""
_CHILD = re.compile(r'"conversation_id": ?"([\w-]{1,80})"')
_MARKER = re.compile(r"LIFELINE-TASK-(\d{1,4}(?:\.\d{1,4}){0,15})")


class Sessions(Lines):
    """A reader that hands items and messages of sessions on to here."""

    def __init__(self, file: str, source: str) -> None:
        super().__init__(file, source)
        self.facts["agent"] = "omnigent"
        self.titles: dict[str, str] = {}
        """Child ids by how a wake calls them."""
        self.said: dict[str, int] = {}
        self.calls: dict[str, str] = {}
        self.owed: dict[str, dict[str, str]] = {}
        """By parent: the children whose results wait to be read, with the word of the wake."""
        self.woken: set[str] = set()
        """Sessions that were woken and have done nothing since."""

    def message_in(
        self, content: Any, session: str, queued: bool | None = None, taken: bool = True
    ) -> None:
        """A message that reached the agent; the runtime's own word about a child is a wake, and
        waits where the agent has not `taken` it up."""
        words = first_text(content)
        found = _WAKE.match(words)
        if words.startswith(RUNTIME) and not found:
            self.other("message/runtime", summary=words[:80], agent=session)
            return
        if not found:
            self.add(
                Kind.USER_MESSAGE, session, text_length=len(words), queued=queued,
                digest=digest(words),
            )  # fmt: skip
            return
        child = self.titles.get(found[1], found[1])
        if not taken:
            ours = status(found[2])
            self.add(Kind.NOTICE_QUEUED, session, child=child, status=ours, raw=found[2])
            return
        self.owed.setdefault(session, {})[child] = found[2]
        self.woken.add(session)
        self.add(
            Kind.NOTICE_DELIVERED, session, child=child, status=status(found[2]), raw=found[2],
            form="wake", digest=digest(words),
        )  # fmt: skip

    def item(self, item: Mapping[str, Any], session: str) -> None:
        """One item of a conversation, as it is streamed or stored.

        A call has other ids in the two views; that by which its output is found is the same.
        """
        kind, call = text(item.get("type"), 80), text(item.get("call_id"))
        if kind in ("message", "function_call"):
            self.woken.discard(session)
        self.native_id = f"{call}/{kind}" if call else text(item.get("id"), 80)
        if kind == "message" and item.get("role") == "assistant":
            size = length(item.get("content"))
            self.said[session] = size
            mark = digest(first_text(item.get("content")))
            self.add(Kind.AGENT_MESSAGE, session, text_length=size, final=True, digest=mark)
        elif kind == "function_call" and call not in self.calls:
            self._call(item, call, session)
        elif kind == "function_call_output" and item.get("status") != "in_progress":
            self._output(item, call, session)
        elif kind == "resource_event":
            self._resource(item, session)
        else:
            self.other(f"item/{kind}", agent=session)

    def error(self, error: Any, session: str) -> None:
        """An error record of a session."""
        found = mapping(error)
        self.add(
            Kind.ERROR,
            session,
            error_class=error_kind(error),
            code=text(found.get("code"), 80),
            raw=text(found.get("code"), 80),
            will_retry=False,
            detail=text(found.get("message"), 300),
        )

    def _call(self, item: Mapping[str, Any], call: str, session: str) -> None:
        name, given = text(item.get("name"), 80), text(item.get("arguments"), 4000)
        self.calls[call] = name
        self.add(Kind.TOOL_STARTED, session, call=call, tool=name)
        target = _value(given, "task_id")
        if name == CANCEL and target:
            self.add(Kind.CANCEL_REQUESTED, session, target=target, by="parent", raw=name)
        elif name == SPAWN:
            marker = _MARKER.search(given)
            self.add(
                Kind.SPAWN_REQUESTED, session, call=call, background=True,
                role=_value(given, "agent"), name=_value(given, "title"),
                model=_value(given, "model") or None, task=marker[1] if marker else None,
            )  # fmt: skip

    def _output(self, item: Mapping[str, Any], call: str, session: str) -> None:
        name = self.calls.pop(call, "")
        words = first_text(item.get("output"))
        self.add(Kind.TOOL_ENDED, session, call=call, tool=name, text_length=len(words))
        if name == SPAWN:
            found = _CHILD.search(words)
            child = found[1] if found else ""
            self.add(
                Kind.SPAWN_ANSWERED, session, call=call, ok=bool(child), child=child,
                refusal=None if child else "error", background=True,
            )  # fmt: skip
        elif name == CANCEL:
            confirmed = re.search(r'"cancel(?:led|_confirmed)": ?true', words)
            self.other("cancel/answered", "confirmed" if confirmed else "not confirmed", session)
        elif name == INBOX:
            self._inbox(words, call, session)

    def _inbox(self, words: str, call: str, session: str) -> None:
        """What an agent read: results, or nothing although it was woken for something."""
        owed = self.owed.get(session, {})
        found = _RESULT.findall(words)
        for child, word, quoted, said in found:
            owed.pop(child, None)
            ours, got = status(word), bool(said) and not (not quoted and _EMPTY.search(said))
            self.add(
                Kind.NOTICE_DELIVERED, session, child=child, status=ours, raw=word, call=call,
                form="poll", text_length=len(said) if got else 0, has_result=got,
                error_passed=got if ours == "failed" else None,
            )  # fmt: skip
        if not found and (not words.strip() or words.startswith(NOTHING)):
            self.unread(session, call)

    def unread(self, session: str, call: str = "") -> None:
        """It was woken for results, and got none of them."""
        for child, word in self.owed.pop(session, {}).items():
            ours = status(word)
            self.add(
                Kind.NOTICE_DELIVERED, session, child=child, status=ours, raw="", call=call,
                form="poll", text_length=0, has_result=False,
                error_passed=False if ours == "failed" else None,
            )  # fmt: skip

    def _resource(self, item: Mapping[str, Any], session: str) -> None:
        """A durable record about something of a session's; the return of a child is queued word."""
        what, about = text(item.get("event_type"), 80), mapping(item.get("resource"))
        child, word = text(item.get("resource_id")), text(about.get("status"), 40)
        if what == "session.subagent.returned" and child:
            self.add(Kind.NOTICE_QUEUED, session, child=child, status=status(word), raw=word)
        else:
            self.other(f"resource/{what}", summary=child, agent=session)


def _value(given: str, key: str) -> str:
    """A short text in the JSON of a call's arguments, which may be cut."""
    found = re.search(rf'"{key}": ?"([^"\\]{{1,80}})"', given)
    return found[1] if found else ""


def error_kind(error: Any) -> str:
    """Its codes are names of exceptions and of its own parts; none tells the provider's status."""
    word = text(mapping(error).get("code"), 80)
    return "other" if word in ("RuntimeError", "runner_error") else error_class(word)
