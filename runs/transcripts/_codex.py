"""What Codex's rollouts, exec output and app-server traffic share: words and spawn tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fakes.spoken import digest
from runs.core.events import Kind
from runs.transcripts._lines import Lines
from runs.transcripts._steady import Order
from runs.transcripts._values import error_class, integer, length, mapping, status, text

SPAWN = frozenset({"spawn_agent", "spawnAgent"})
WAIT = frozenset({"wait", "wait_agent", "waitAgent"})
STOP = frozenset({"close_agent", "closeAgent", "interrupt_agent", "interruptAgent", "interrupt"})
WAKE = frozenset(
    {"send_input", "sendInput", "resume_agent", "resumeAgent", "followup_task", "followupTask",
     "assign_task", "assignTask"}
)  # fmt: skip
TERMINAL = frozenset({"completed", "failed", "interrupted", "stopped", "cancelled"})
_TRY = re.compile(r"(\d+)/(\d+)")


def parsed(value: Any) -> Mapping[str, Any]:
    """An object, or the object in a text."""
    if isinstance(value, str) and value[:1] == "{" and len(value) < 4_000_000:
        try:
            return mapping(json.loads(value))
        except (ValueError, RecursionError):
            return {}
    return mapping(value)


def told(state: Any) -> tuple[str, str, int | None]:
    """Our status, the raw word and the length of the message of one agent's state.

    A state is a word, ``{"status": word, "message": text}`` or ``{word: text}``.
    """
    if isinstance(state, str):
        return status(state), text(state, 40), None
    found = mapping(state)
    if isinstance(found.get("status"), str):
        return status(found["status"]), text(found["status"], 40), length(found.get("message"))
    for word, message in found.items():
        return status(word), text(word, 40), length(message)
    return "unknown", "", None


_MANY = r"(?:sub-?agents?|agents?|threads?|slots?|concurren\w*)"
_MOST = r"(?:(?<!usage )(?<!rate )limit|too many|max(?:imum)?|no free|capacity)"
_FULL = re.compile(
    rf"max_\w*threads|\b{_MANY}\b[^.:]{{0,40}}\b{_MOST}\b|\b{_MOST}\b[^.:]{{0,40}}\b{_MANY}\b"
)
"""A refusal because as many run as may; there are other limits."""


def refusal(message: str) -> str:
    """Which of the agent's own refusals a spawn was answered with; `error` without a word."""
    words = message[:400].lower()
    if "depth" in words:
        return "depth"
    if _FULL.search(words):
        return "limit"
    return "other" if words.strip() else "error"


def mark_of(state: Any) -> str:
    """The digest of the text that came with one agent's state (see :func:`told`)."""
    found = mapping(state)
    said = found.get("message") if "status" in found else next(iter(found.values()), None)
    return digest(said) if isinstance(said, str) else ""


def failure(error: Any) -> tuple[str, int | None]:
    """Class and HTTP status of an error object, by its codex_error_info."""
    found = mapping(error)
    info = found.get("codexErrorInfo", found.get("codex_error_info"))
    code = None
    word = info if isinstance(info, str) else ""
    if isinstance(info, dict) and info:
        word = next(iter(info))
        inner = mapping(info[word])
        code = integer(inner.get("httpStatusCode", inner.get("http_status_code")))
    kind = error_class(word, code)
    # "other" is the word for a stream that broke once too often; no status came with it.
    return ("stream" if kind == "other" and code is None else kind), code


class Codex(Lines):
    """The state that all three views need: which threads there are, and which have ended."""

    order = Order(strict=False)

    def __init__(self, file: str, source: str) -> None:
        super().__init__(file, source)
        self.facts["agent"] = "codex"
        self.root = ""
        self.started: set[str] = set()
        self.ended: set[str] = set()
        self.said: dict[str, int] = {}

    def begin(self, child: str, parent: str, **more: Any) -> None:
        """A sub-agent's thread; said once in this file."""
        if child and child not in self.started:
            self.started.add(child)
            self.add(Kind.AGENT_STARTED, child, parent=parent, **more)

    def wake(self, thread: str, by: str, call: str = "", reason: str = "message") -> None:
        """A thread that ended gets work again."""
        if thread in self.ended:
            self.ended.discard(thread)
            self.said.pop(thread, None)
            self.add(Kind.AGENT_RESUMED, thread, by=by, call=call, reason=reason)

    def end_turn(self, thread: str, ours: str, raw: str, error: Any, **more: Any) -> None:
        """A turn's end: of a sub-agent it ends the run, of the root only the turn."""
        kind, code = failure(error) if error else ("", None)
        if error:
            self.add(
                Kind.ERROR,
                thread,
                error_class=kind,
                http_status=code,
                raw=raw,
                will_retry=False,
                detail=text(mapping(error).get("message"), 300),
            )
        if thread not in self.started:
            self.add(
                Kind.TURN_ENDED, thread, status=ours, raw=raw, error_class=kind or None, **more
            )
            return
        self.ended.add(thread)
        size = more.get("text_length", self.said.get(thread))
        self.add(
            Kind.AGENT_ENDED,
            thread,
            status=ours,
            raw=raw,
            error_class=kind or None,
            http_status=code,
            text_length=size,
            has_result=None if size is None else size > 0,
            duration=more.get("duration"),
        )

    def retry(self, thread: str, message: Any, error: Any) -> None:
        """An error that the agent will try again after, ``Reconnecting... 1/2``."""
        found = _TRY.search(message[:200]) if isinstance(message, str) else None
        kind, code = failure(error)
        self.add(
            Kind.MODEL_RETRY,
            thread,
            attempt=int(found[1][:9]) if found else None,
            of=int(found[2][:9]) if found else None,
            reason=kind,
            http_status=code,
        )

    def notify(
        self, agent: str, child: str, state: Any, form: str, call: str = "", worded: bool = False
    ) -> None:
        """`agent` learns the state of one sub-agent; `worded`: in no more than words."""
        ours, raw, size = told(state)
        self.add(
            Kind.NOTICE_DELIVERED,
            agent,
            child=child,
            status=ours,
            raw=raw,
            form=form,
            call=call,
            text_length=size,
            has_result=None if size is None or ours == "running" else size > 0,
            error_passed=(size or 0) > 0 if ours == "failed" else None,
            digest=mark_of(state),
            **({"worded": True} if worded else {}),
        )
