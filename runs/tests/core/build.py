"""A history in a few lines: each method adds one fact at the current time.

``Told().spawn("A").at(5).fails("A").tells("A", "failed").shuts(6).history()``
"""

from __future__ import annotations

from typing import Any

from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.judge import Judgement, judge, laws
from runs.core.law import Thresholds


class Told:
    """Builds events in order; every method gives the builder back."""

    def __init__(self, source: str = "session", file: str = "events.jsonl") -> None:
        self.events: list[Event] = []
        self.now = 0.0
        self.source, self.file = source, file
        self.lines: dict[str, int] = {}
        self.requests = 0

    def at(self, seconds: float) -> Told:
        self.now = seconds
        return self

    def view(self, source: str, file: str) -> Told:
        self.source, self.file = source, file
        return self

    def add(self, kind: Kind, agent: str = "root", **data: Any) -> Told:
        place = (self.source, self.file)
        if kind.value.startswith(("request.", "response.", "fault.")):
            place = ("provider", "provider.jsonl")
        if kind.value.startswith("process."):
            place = ("exit", "exit.json")
        line = self.lines[place[1]] = self.lines.get(place[1], 0) + 1
        self.events.append(
            Event(
                seq=len(self.events) + 1,
                kind=kind,
                source=place[0],
                file=place[1],
                line=line,
                t=self.now,
                agent=agent,
                data=data,
            )
        )
        return self

    def begin(self, **data: Any) -> Told:
        return self.add(Kind.SESSION_STARTED, version="1.0.0", **data).add(Kind.TURN_STARTED)

    def spawn(self, child: str, parent: str = "root", background: bool = True, **more: Any) -> Told:
        call = f"call-{child}"
        self.add(Kind.SPAWN_REQUESTED, parent, call=call, name=child, background=background, **more)
        self.add(Kind.AGENT_STARTED, child, parent=parent, call=call, background=background, **more)
        return self.add(Kind.SPAWN_ANSWERED, parent, call=call, ok=True, child=child)

    def ends(self, agent: str, status: str = "completed", **data: Any) -> Told:
        return self.add(Kind.AGENT_ENDED, agent, status=status, **data)

    def says(self, agent: str, length: int = 12, **data: Any) -> Told:
        return self.add(Kind.AGENT_MESSAGE, agent, text_length=length, **data)

    def errs(self, agent: str, error_class: str = "stream", **data: Any) -> Told:
        return self.add(Kind.ERROR, agent, error_class=error_class, **data)

    def tells(
        self,
        child: str,
        status: str = "completed",
        to: str = "root",
        form: str = "notification",
        **data: Any,
    ) -> Told:
        return self.add(Kind.NOTICE_DELIVERED, to, child=child, status=status, form=form, **data)

    def tool(self, agent: str, call: str = "t1", lasting: float | None = 0.1) -> Told:
        self.add(Kind.TOOL_STARTED, agent, call=call, tool="view")
        if lasting is None:
            return self
        start = self.now
        self.at(start + lasting).add(Kind.TOOL_ENDED, agent, call=call, tool="view", ok=True)
        return self

    def request(
        self,
        caller: str,
        *,
        status: int = 200,
        complete: bool | None = None,
        lasting: float = 0.02,
        agent: str = "",
        call: int | None = None,
        attempt: int | None = None,
        closed: str | None = None,
        fault: str | None = None,
        retry_after: float | None = None,
        model: str = "m",
        error_class: str = "",
        **data: Any,
    ) -> Told:
        """One exchange with the provider, from now for `lasting` seconds."""
        self.requests += 1
        whole = (status < 400 and closed in (None, "ended")) if complete is None else complete
        common = {
            "caller": caller,
            "request": f"r{self.requests}",
            "model": model,
            "call": call,
            "attempt": attempt,
        }
        common = {key: value for key, value in common.items() if value is not None}
        start = self.now
        self.add(Kind.REQUEST_RECEIVED, agent, **common, **data)
        if closed == "open":
            return self
        self.at(start + lasting).add(
            Kind.REQUEST_ENDED,
            agent,
            **common,
            status=status,
            complete=whole,
            closed=closed or "ended",
            fault=fault,
            retry_after=retry_after,
            error_class=error_class,
        )
        return self

    def tries(self, caller: str, starts: list[float], **data: Any) -> Told:
        """Several attempts of one call; all but explicitly complete ones fail."""
        data.setdefault("complete", False)
        data.setdefault("closed", "cut")
        for number, start in enumerate(starts, 1):
            self.at(start).request(
                caller,
                call=data.get("call", 1),
                attempt=number,
                **{key: value for key, value in data.items() if key != "call"},
            )
        return self

    def shuts(self, at: float | None = None) -> Told:
        if at is not None:
            self.now = at
        return self.add(Kind.SESSION_ENDED, how="routine")

    def exits(self, code: int = 0, at: float | None = None) -> Told:
        if at is not None:
            self.now = at
        return self.add(Kind.PROCESS_EXITED, "", code=code)

    def history(self, **settings: Any) -> History:
        return History(self.events, **settings)


def ask(told: Told | History, law: str, agent: str | None = None, **thresholds: Any) -> Judgement:
    """Judge by one law alone."""
    history = told if isinstance(told, History) else told.history()
    limits = Thresholds.of(thresholds)
    found = judge(history, limits, only=[laws()[law]])
    if agent is None:
        return found
    return Judgement(tuple(one for one in found.findings if one.agent == agent), found.diagnosis)


def answers(told: Told | History, law: str, agent: str | None = None, **limits: Any) -> list[str]:
    """The law's verdicts as ``broken:label``, ``holds`` or ``unknown``, in order."""
    return [
        f"{one.verdict.value}:{one.label}" if one.label else one.verdict.value
        for one in ask(told, law, agent, **limits).findings
    ]
