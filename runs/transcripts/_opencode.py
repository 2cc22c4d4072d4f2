"""What OpenCode's exports, bus events and run output share: sessions, messages and parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fakes.spoken import digest
from runs.core.events import Kind
from runs.transcripts._lines import Lines
from runs.transcripts._steady import Order
from runs.transcripts._values import (
    TERMINAL,
    error_class,
    first_text,
    integer,
    length,
    mapping,
    marker,
    number,
    status,
    text,
)

SPAWN_TOOLS = frozenset({"task", "subagent"})
_RESULT = re.compile(r"<task_result>\n?(.*?)\n?</task_result>", re.S)
_TASK = re.compile(r"\s*<task id=\"([\w-]+)\" state=\"([\w-]+)\"")
_ROLE = re.compile(r"\(@([\w-]+) subagent\)")
_CHILD = re.compile(r"task_id:\s*([\w-]+)")


@dataclass(slots=True)
class Part:
    """A tool part as far as it has been seen."""

    status: str = ""
    asked: bool = False
    background: bool = False
    child: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """What a text of the tool that spawns says of a sub-agent; empty where it does not."""

    child: str
    state: str
    result: str | None

    @property
    def size(self) -> int:
        """The length of its result."""
        return len((self.result or "").strip())

    @property
    def digest(self) -> str:
        """Its result's, empty without one."""
        return digest(self.result) if self.result is not None else ""


def _read(words: str) -> Word:
    tagged, inner = _TASK.match(words), _RESULT.search(words)
    child, state = (tagged[1], tagged[2]) if tagged else ("", "")
    return Word(child, state, inner[1] if inner else None)


class OpenCode(Lines):
    """Sessions are agents: their ids are the agents' ids."""

    order = Order(strict=False)

    def __init__(self, file: str, source: str) -> None:
        super().__init__(file, source)
        self.facts["agent"] = "opencode"
        self.parts: dict[str, Part] = {}
        self.children: set[str] = set()
        self.said: dict[str, int] = {}
        self.stopped: set[str] = set()
        """Sessions whose work somebody aborts: what their calls come back with is no failure."""

    def session(self, info: Mapping[str, Any]) -> None:
        """A session begins: the root's, or a sub-agent's with its parent."""
        name, parent = text(info.get("id")), text(info.get("parentID"))
        version, title = text(info.get("version")), text(info.get("title"))
        self.facts.setdefault("version", version)
        if not parent:
            self.facts.setdefault("session", name)
            self.add(
                Kind.SESSION_STARTED, name, version=version, session=name,
                cwd=text(info.get("directory"), 400),
            )  # fmt: skip
            return
        self.children.add(name)
        role = _ROLE.search(title)
        self.add(
            Kind.AGENT_STARTED,
            name,
            parent=parent,
            name=title,
            role=role[1] if role else text(info.get("agent")),
        )

    def error(self, agent: str, error: Any, **more: Any) -> bool:
        """An error object ``{name, data}``; whether it says that somebody aborted."""
        found = mapping(error)
        data = mapping(found.get("data"))
        name = text(found.get("name"), 80)
        code = integer(data.get("statusCode"))
        kind = error_class(name, code)
        if name == "APIError" and code is None:
            kind = "stream"
        retryable = data.get("isRetryable")
        self.add(
            Kind.ERROR,
            agent,
            error_class=kind,
            http_status=code,
            code=name,
            raw=name,
            retryable=retryable if isinstance(retryable, bool) else None,
            will_retry=False,
            detail=text(data.get("message"), 300),
            **more,
        )
        return kind == "aborted"

    def finished(
        self, agent: str, info: Mapping[str, Any], size: int | None, calls: int, words: str = ""
    ) -> None:
        """An assistant message that is complete; `words` are its text, where it is whole."""
        finish = text(info.get("finish"), 40)
        failed = bool(info.get("error"))
        self.add(
            Kind.AGENT_MESSAGE,
            agent,
            text_length=size,
            finish=finish,
            final=finish not in ("tool-calls", "") and not failed,
            tool_calls=calls,
            model=text(info.get("modelID")) or None,
            error=failed,
            empty=size == 0 and not calls and not failed,
            digest=digest(words),
        )
        if finish == "unknown" and not _spent(info) and not failed:
            # The stream ended without a reason and without usage: it was cut.
            self.add(
                Kind.ERROR, agent, error_class="stream", raw="finish unknown", will_retry=False
            )

    # Tool parts

    def tool(self, agent: str, part: Mapping[str, Any], pointer: str = "") -> None:
        """One sighting of a tool part; each change of its state is said once."""
        state = mapping(part.get("state"))
        word = text(state.get("status"), 40)
        known = self.parts.setdefault(text(part.get("id") or part.get("callID")), Part())
        call, tool = text(part.get("callID")), text(part.get("tool"))
        given, meta = mapping(state.get("input")), mapping(state.get("metadata"))
        known.background |= given.get("background") is True or meta.get("background") is True
        known.child = text(meta.get("sessionId")) or known.child
        if not known.status:
            self.moment_of(state, "start")
            self.add(Kind.TOOL_STARTED, agent, call=call, tool=tool)
        if tool in SPAWN_TOOLS and not known.asked and (given or word == "running"):
            known.asked = True
            self._spawn_asked(agent, call, given, state)
        if word == known.status or word not in ("completed", "error"):
            if known.status:
                self.other(self.native, summary=word, agent=agent)
            known.status = word or known.status or "pending"
            return
        known.status = word
        self.moment_of(state, "end")
        self.add(
            Kind.TOOL_ENDED, agent, call=call, tool=tool, ok=word == "completed",
            text_length=length(state.get("output")),
        )  # fmt: skip
        if tool in SPAWN_TOOLS:
            self._answered(agent, call, known, state, pointer)

    def moment_of(self, state: Mapping[str, Any], edge: str) -> None:
        """A document takes the time of a part's edge; a stream has its own time."""

    def _spawn_asked(
        self, agent: str, call: str, given: Mapping[str, Any], state: Mapping[str, Any]
    ) -> None:
        background = given.get("background")
        self.add(
            Kind.SPAWN_REQUESTED,
            agent,
            call=call,
            name=text(given.get("description")),
            role=text(given.get("subagent_type")),
            background=background if isinstance(background, bool) else None,
            prompt_length=length(given.get("prompt")),
            task=marker(given.get("prompt")) or None,
            child=text(mapping(state.get("metadata")).get("sessionId")) or None,
        )

    def _answered(
        self, agent: str, call: str, part: Part, state: Mapping[str, Any], pointer: str
    ) -> None:
        output, done = first_text(state.get("output")), part.status == "completed"
        word, named = _read(output), _CHILD.search(output[:300])
        child = part.child or word.child or (named[1] if named else "")
        bare = word.result is None
        launched = done and (
            status(word.state) == "running" if word.state else part.background and bare
        )
        # Without a result, and without what was asked, it may be a launch or an end.
        unclear = done and bare and not (word.state or part.asked)
        self.pointer = f"{pointer}.state.status" if pointer else ""
        self.add(
            Kind.SPAWN_ANSWERED,
            agent,
            call=call,
            ok=bool(child) or done,
            child=child,
            refusal=None if child or done else "error",
            background=None if unclear else launched,
            has_result=None if launched or unclear else word.size > 0,
        )
        if child and not launched and not unclear:
            size = len(output) if bare and done else word.size
            word = replace(word, child=child, state=word.state or part.status)
            self._spawn_over(agent, call, word, size, state, pointer)

    def _spawn_over(
        self,
        agent: str,
        call: str,
        word: Word,
        size: int,
        state: Mapping[str, Any],
        pointer: str,
    ) -> None:
        ours, meta = status(word.state), mapping(state.get("metadata"))
        aborted = meta.get("interrupted") is True or meta.get("aborted") is True
        if state.get("status") == "error" and (aborted or self.stopped & {agent, word.child}):
            ours = "cancelled"
        if ours in TERMINAL:
            self.add(
                Kind.AGENT_ENDED, word.child, status=ours, raw=word.state, call=call,
                text_length=size, has_result=size > 0,
            )  # fmt: skip
        failed = ours != "completed"
        self.pointer = f"{pointer}.state.{'error' if failed else 'output'}" if pointer else ""
        self.add(
            Kind.NOTICE_DELIVERED,
            agent,
            child=word.child,
            status=ours,
            raw=word.state,
            call=call,
            form="tool_result",
            has_result=None if failed else size > 0,
            text_length=None if failed else size,
            error_passed=bool(state.get("error")) or size > 0 if failed else None,
            digest=word.digest,
        )

    def notice(self, agent: str, words: str) -> bool:
        """A text that tells of a background task; whether it was one."""
        word = _read(words)
        if not word.child:
            return False
        bare = word.result is None
        self.add(
            Kind.NOTICE_DELIVERED,
            agent,
            child=word.child,
            status=status(word.state),
            raw=word.state,
            form="notification",
            has_result=None if bare else word.size > 0,
            text_length=None if bare else word.size,
            digest=word.digest,
        )
        return True


def _spent(info: Mapping[str, Any]) -> bool:
    tokens = mapping(info.get("tokens"))
    return any((number(tokens.get(key)) or 0) > 0 for key in ("input", "output", "reasoning"))
