"""An omnigent session as its server has stored it: one document of its own REST answers.

``{read_at, session, items, children}`` of ``GET /v1/sessions/ID`` with ``/items`` and
``/child_sessions``. Times are whole seconds. A snapshot is no authority for ``waiting`` or
``running``: only the end that is stored of a sub-agent is taken from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._documents import Document
from runs.transcripts._omnigent import Sessions, error_kind
from runs.transcripts._sniff import document
from runs.transcripts._values import items, mapping, moment, text

ENDS = {"idle": "completed", "failed": "failed"}
"""The words of a stored session that say how a sub-agent's last turn ended."""


class Export(Document, Sessions):
    """One session. Places are pointers such as ``items.data[2]``."""

    def document(self, data: Any) -> None:
        """The whole document."""
        about, rows = mapping(mapping(data).get("session")), _rows(data, "children")
        agent = text(about.get("id"))
        for row in rows:
            title = text(mapping(row).get("title")).replace(":", "/")
            self.titles[title] = text(mapping(row).get("id"))
        self.native, self.pointer = "session", "session"
        self.at = moment(about.get("created_at"))
        self._begin(about, agent)
        acted = max(
            (place for place, one in enumerate(_rows(data, "items")) if _acts(one)), default=-1
        )
        for place, one in enumerate(_rows(data, "items")):
            item = mapping(one)
            self.native, self.pointer = f"item/{text(item.get('type'), 80)}", f"items.data[{place}]"
            self.at, self.native_id, self._added = moment(item.get("created_at")), "", 0
            if item.get("type") == "message" and item.get("role") == "user":
                self.native_id = text(item.get("id"), 80)
                # A message that nothing follows is stored, and nobody has taken it up.
                self.message_in(item.get("content"), agent, taken=place < acted)
            elif item.get("type") == "error":
                self.error(item, agent)
            else:
                self.item(item, agent)
        # What is stored stood there at the latest when it was read; an answer, when its second
        # was over.
        last, self.at = self.at, moment(mapping(data).get("read_at"))
        self.at = self.at or moment(about.get("updated_at"))
        if self.at is not None and last is not None and self.said.get(agent):
            self.at = min(self.at, last + 1)
        self.native, self.native_id, self.pointer = "session", "", "session.status"
        self._end(about, agent)

    def _begin(self, about: Mapping[str, Any], agent: str) -> None:
        parent, model = text(about.get("parent_session_id")), text(about.get("llm_model"))
        self.facts["session"] = agent
        if not parent:
            self.add(Kind.SESSION_STARTED, agent, session=agent, model=model or None)
            return
        title = text(about.get("title"))
        self.add(
            Kind.AGENT_STARTED, agent, parent=parent, background=True, model=model or None,
            role=text(about.get("sub_agent_name")), name=title.partition(":")[2] or title,
        )  # fmt: skip

    def _end(self, about: Mapping[str, Any], agent: str) -> None:
        word = text(about.get("status"), 40)
        size, error = self.said.get(agent), about.get("last_task_error")
        if not about.get("parent_session_id") or word not in ENDS:
            self.other("session.status", summary=word, agent=agent)
            return
        failed = ENDS[word] == "failed"
        self.add(
            Kind.AGENT_ENDED, agent, status=ENDS[word], raw=word,
            error_class=error_kind(error) if failed else None, text_length=size,
            has_result=None if size is None else size > 0,
            detail=text(mapping(error).get("message"), 300),
        )  # fmt: skip


def _acts(item: Any) -> bool:
    """Whether an item is something that the agent said or did."""
    about = mapping(item)
    kind, role = about.get("type"), about.get("role")
    return kind == "function_call" or (kind == "message" and role == "assistant")


def _rows(data: Any, key: str) -> Any:
    return items(mapping(mapping(data).get(key)).get("data"))


class OmnigentExport(Format):
    """Stored sessions."""

    name = "omnigent-export"
    title = "omnigent stored session"
    source = "session"
    agent = "omnigent"
    whole = True

    def sniff(self, head: bytes, name: str) -> float:
        """By a session with its items."""
        found = mapping(document(head))
        about = mapping(found.get("session"))
        listed = mapping(found.get("items")).get("object") == "list"
        return 0.9 if listed and "runner_id" in about and "agent_id" in about else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one document."""
        return Export(file, self.source)


READER = OmnigentExport()
