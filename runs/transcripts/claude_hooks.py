"""Hook payloads of Claude Code (and of agents that copy its hooks), one object a line.

Starts and stops of sub-agents, and what the runtime itself lists as running. A
hook log cannot show what the parent was told, nor model calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._values import error_class, items, length, mapping, moment, text

SPAWN_TOOLS = frozenset({"Agent", "Task"})
_AGENT_TASKS = frozenset({"subagent", "agent", "local_agent", "teammate"})
_GO_ON = frozenset({"resume", "clear", "compact"})
"""How a session begins that goes on with the one before."""
_TIMES = ("received_at", "timestamp", "time", "ts")


class Hooks(Lines):
    """One log of payloads."""

    envelope = frozenset({"hook_event_name"})

    def __init__(self, file: str) -> None:
        super().__init__(file, "hooks")
        self.facts["agent"] = "claude"
        self._open: set[str] = set()
        self._calls: dict[str, tuple[str, bool | None]] = {}
        self._asks: dict[tuple[str, str], str] = {}
        self._root = ROOT
        self._tops: dict[str, str] = {}

    def record(self, record: Mapping[str, Any]) -> None:
        """One payload, perhaps wrapped by the listener that received it."""
        inner = mapping(record.get("payload")) or mapping(record.get("body"))
        payload = inner if "hook_event_name" in inner else record
        times = (moment(record.get(key)) for key in _TIMES)
        self.at = next((at for at in times if at is not None), None)
        self.native = text(payload.get("hook_event_name"), 80)
        self._root = self._top(payload)
        agent = text(payload.get("agent_id")) or self._root
        handler = _HANDLERS.get(self.native)
        if handler is None:
            self.other(self.native, agent=agent)
        else:
            handler(self, payload, agent)

    def _top(self, payload: Mapping[str, Any]) -> str:
        """The one at the top of a payload's session: of several that a listener hears, those
        after the first stand beside it, unless they go on with it under a new name."""
        session = text(payload.get("session_id"))
        self.facts.setdefault("session", session)
        if session not in self._tops and len(self._tops) < 10_000:
            goes_on = payload.get("source") in _GO_ON and self.native == "SessionStart"
            first = not session or session == self.facts["session"] or goes_on
            self._tops[session] = ROOT if first else session
            if not first:
                self.facts.setdefault("beside", []).append(session)
                if self.native != "SessionStart":
                    self.add(Kind.SESSION_STARTED, session, session=session)
        return self._tops.get(session, ROOT)

    def _session_start(self, payload: Mapping[str, Any], agent: str) -> None:
        kind = Kind.SESSION_RESUMED if payload.get("source") == "resume" else Kind.SESSION_STARTED
        self.add(kind, self._root, session=text(payload.get("session_id")))

    def _session_end(self, payload: Mapping[str, Any], agent: str) -> None:
        if self._root != ROOT:
            self.other(self.native, summary=text(payload.get("reason"), 80), agent=self._root)
            return
        self.add(Kind.SESSION_ENDED, ROOT, how=text(payload.get("reason"), 80))

    def _prompt(self, payload: Mapping[str, Any], agent: str) -> None:
        prompt = payload.get("prompt")
        if isinstance(prompt, str) and prompt.lstrip().startswith("<task-notification>"):
            self.other(self.native, summary="task-notification", agent=agent)
            return
        self.add(Kind.USER_MESSAGE, agent, text_length=length(prompt))

    def _start(self, payload: Mapping[str, Any], agent: str) -> None:
        self._open.add(agent)
        self.add(
            Kind.AGENT_STARTED,
            agent,
            parent=text(payload.get("parent_agent_id"))
            or (self._root if self._root != ROOT else ""),
            role=text(payload.get("agent_type")),
            run=text(payload.get("run_id")) or None,
        )

    def _stop(self, payload: Mapping[str, Any], agent: str) -> None:
        if payload.get("stop_hook_active") is True and agent not in self._open:
            # A hook made it go on; this is the same run stopping once more.
            self.other(self.native, summary="stopped again by a hook", agent=agent)
            self._registry(payload)
            return
        self._open.discard(agent)
        said = payload.get("last_assistant_message")
        self.add(
            Kind.AGENT_ENDED,
            agent,
            status="stopped",
            raw=self.native,
            text_length=length(said) if "last_assistant_message" in payload else None,
            run=text(payload.get("run_id")) or None,
        )
        self._registry(payload)

    def _failure(self, payload: Mapping[str, Any], agent: str) -> None:
        word = payload.get("error")
        found = error_class(word if isinstance(word, str) else mapping(word).get("type"))
        self.add(Kind.ERROR, agent, error_class=found, raw=text(word, 80), will_retry=False)
        if agent != self._root:
            self._open.discard(agent)
            self.add(Kind.AGENT_ENDED, agent, status="failed", raw=self.native, error_class=found)
        self._registry(payload)

    def _root_stop(self, payload: Mapping[str, Any], agent: str) -> None:
        self.add(Kind.TURN_ENDED, agent, raw=self.native)
        running = self._running(payload)
        if running is not None:
            self.add(Kind.STATUS, agent, status="idle", raw=self.native, open=running)
        self._registry(payload)

    def _notification(self, payload: Mapping[str, Any], agent: str) -> None:
        """Those that say that the session waits for its user are about the lifecycle."""
        kind = text(payload.get("notification_type"), 80)
        if kind == "idle_prompt":
            self.add(Kind.STATUS, agent, status="idle", raw=kind)
        elif kind == "permission_prompt" and self._asks:
            (whose, _), asked = next(reversed(self._asks.items()))
            self.add(Kind.QUESTION_SHOWN, whose, id=asked, to="user")
        else:
            self.other(self.native, summary=kind, agent=agent)

    def _registry(self, payload: Mapping[str, Any]) -> None:
        """What the runtime lists as running in the background, if it says so."""
        running = self._running(payload)
        if running is not None:
            tasks = len(items(payload.get("background_tasks")))
            self.add(
                Kind.REGISTRY,
                self._root,
                open=running,
                shells=tasks - len(running),
                what="background_tasks",
            )

    @staticmethod
    def _running(payload: Mapping[str, Any]) -> list[str] | None:
        """The sub-agents on that list; None where there is no list."""
        tasks = payload.get("background_tasks")
        if not isinstance(tasks, list):
            return None
        rows = [mapping(one) for one in items(tasks)]
        return [
            text(one.get("id") or one.get("agent_id"))
            for one in rows
            if text(one.get("type") or "subagent", 40) in _AGENT_TASKS
        ]

    def _tool_start(self, payload: Mapping[str, Any], agent: str) -> None:
        tool, call = text(payload.get("tool_name")), text(payload.get("tool_use_id"))
        given = mapping(payload.get("tool_input"))
        background = given.get("run_in_background")
        asked = background if isinstance(background, bool) else None
        self.add(Kind.TOOL_STARTED, agent, call=call, tool=tool)
        if tool in SPAWN_TOOLS:
            if len(self._calls) < 100_000:
                self._calls[call] = (agent, asked)
            self.add(
                Kind.SPAWN_REQUESTED,
                agent,
                call=call,
                name=text(given.get("description")),
                role=text(given.get("subagent_type")),
                background=asked,
                model=text(given.get("model")) or None,
                prompt_length=length(given.get("prompt")),
            )

    def _tool_end(self, payload: Mapping[str, Any], agent: str) -> None:
        tool, call = text(payload.get("tool_name")), text(payload.get("tool_use_id"))
        ok = self.native == "PostToolUse"
        self.add(Kind.TOOL_ENDED, agent, call=call, tool=tool, ok=ok)
        asked = self._asks.pop((agent, tool), None)
        if asked is not None:  # It ran: it was allowed to.
            self.add(Kind.QUESTION_ANSWERED, agent, id=asked, answer="granted")
        if tool not in SPAWN_TOOLS:
            return
        answer = mapping(payload.get("tool_response"))
        child = text(answer.get("agentId") or answer.get("agent_id"))
        word = text(answer.get("status"), 40)
        self.add(
            Kind.SPAWN_ANSWERED,
            agent,
            call=call,
            ok=ok or None,
            child=child,
            background=word == "async_launched" if word else self._calls.get(call, ("", None))[1],
            status=word or None,
        )

    def _asked(self, payload: Mapping[str, Any], agent: str) -> None:
        tool = text(payload.get("tool_name"))
        asked = _ask_id(payload) or f"ask-{self.line}"
        if len(self._asks) < 100_000:
            self._asks[agent, tool] = asked
        self.add(Kind.QUESTION_ASKED, agent, id=asked, what="permission", tool=tool)

    def _denied(self, payload: Mapping[str, Any], agent: str) -> None:
        self.add(
            Kind.QUESTION_ANSWERED,
            agent,
            id=_ask_id(payload) or self._asks.pop((agent, text(payload.get("tool_name"))), ""),
            answer="denied",
            by=text(payload.get("by")),
        )


def _ask_id(payload: Mapping[str, Any]) -> str:
    return text(payload.get("tool_use_id") or payload.get("request_id"))


_HANDLERS = {
    "SessionStart": Hooks._session_start,
    "SessionEnd": Hooks._session_end,
    "UserPromptSubmit": Hooks._prompt,
    "SubagentStart": Hooks._start,
    "SubagentStop": Hooks._stop,
    "StopFailure": Hooks._failure,
    "Stop": Hooks._root_stop,
    "Notification": Hooks._notification,
    "PreToolUse": Hooks._tool_start,
    "PostToolUse": Hooks._tool_end,
    "PostToolUseFailure": Hooks._tool_end,
    "PermissionRequest": Hooks._asked,
    "PermissionDenied": Hooks._denied,
}


class ClaudeHooks(Format):
    """What a command or HTTP hook was handed."""

    name = "claude-hook-payloads"
    title = "Claude Code hook payloads"
    source = "hooks"
    agent = "claude"

    def sniff(self, head: bytes, name: str) -> float:
        """By hook_event_name with a session id."""
        found = records(head)
        mine = [
            one
            for one in found
            if "hook_event_name" in one
            or "hook_event_name" in mapping(one.get("payload"))
            or "hook_event_name" in mapping(one.get("body"))
        ]
        if not mine or len(mine) * 2 < len(found):
            return 0.0
        words = {text(one.get("hook_event_name"), 80) for one in mine}
        return 0.6 if any(word.islower() and word for word in words) else 0.95

    def reader(self, file: str) -> Reader:
        """A reader of one log."""
        return Hooks(file)


READER = ClaudeHooks()
