"""Agents and their runs, as the events tell them.

A run of a sub-agent is not the agent: a follow-up or a resume begins a new run
under the same id, and a second terminal is then legal. An :class:`Agent` holds
its runs in order; a :class:`Run` holds where it began, every terminal record of
it (one file may say failed where another says completed) and what its parent
was told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runs.core.events import Event, Kind
from runs.core.spawning import Spawn, spawns

TERMINAL = frozenset({"completed", "failed", "cancelled", "interrupted", "stopped"})
"""Statuses of an agent that has ended."""
CLOCKS = 0.5
"""Seconds by which the clocks of two files may differ."""
PUSHED = frozenset({"notification", "wake", "activity"})
"""Forms of a notice that come by themselves; the others answer a question of the parent."""


@dataclass(slots=True)
class Run:
    """One run of one agent, from its start (None: the start is not in the log) to its end."""

    agent: str
    number: int
    start: Event | None = None
    key: str = ""
    starts: list[Event] = field(default_factory=list)
    """Every record of its start: one for each view that does not mirror another."""
    ends: list[Event] = field(default_factory=list)
    notices: list[Event] = field(default_factory=list)
    queued: list[Event] = field(default_factory=list)

    @property
    def end(self) -> Event | None:
        """The first terminal record, in whatever file it stands."""
        return self.ends[0] if self.ends else None

    @property
    def status(self) -> str:
        """The status of the first terminal record, empty while there is none."""
        return str(self.ends[0].get("status", "")) if self.ends else ""

    def ends_in(self, source: str) -> list[Event]:
        """The terminal records seen in one view (`stdout`, `session` …)."""
        return [event for event in self.ends if event.seen_in(source)]

    def terminal(self, source: str) -> str:
        """Terminal of one view: the status, `started-only`, or `none` where it says nothing."""
        ends = self.ends_in(source)
        if ends:
            failed = [event for event in ends if event.get("status") == "failed"]
            return str((failed or ends)[0].get("status", "completed"))
        if any(event.seen_in(source) for event in (self.start, *self.starts) if event):
            return "started-only"
        return "none"

    @property
    def told(self) -> Event | None:
        """The first notice that names an end (or idle), None while the parent was never told.

        One whose word is not to be seen counts only where no other came.
        """
        told = [event for event in self.notices if tells_end(event)]
        known = (event for event in told if event.get("status") != "unknown")
        return next(known, told[0] if told else None)

    @property
    def said_to_run(self) -> bool:
        """Whether the last that its parent heard of it is that it runs."""
        return bool(self.notices) and self.notices[-1].get("status") == "running"


@dataclass(slots=True)
class Agent:
    """One agent. `edge` is the event that names its parent, None where it is only assumed."""

    id: str
    parent: str | None = None
    edge: Event | None = None
    depth: int = 0
    role: str = ""
    name: str = ""
    background: bool | None = None
    model: str = ""
    spawn: Spawn | None = None
    runs: list[Run] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @property
    def first(self) -> Event | None:
        """The event that began its first run, else its first event."""
        if self.runs and self.runs[0].start is not None:
            return self.runs[0].start
        return self.events[0] if self.events else None


def tells_end(notice: Event) -> bool:
    """Whether a notice says that the child has ended (or is idle), not that it still runs."""
    return notice.get("status") in TERMINAL | {"idle", "unknown"}


def collect(events: Sequence[Event], times: Mapping[int, float]) -> dict[str, Agent]:
    """All agents that the events name, with runs, notices, spawn edges and parents.

    `events` are in order, `times` their seconds by number. Gives the agents by id in
    order of appearance; parents that no event names are left None (the history fills
    them in).
    """
    agents: dict[str, Agent] = {}
    for event in events:
        for name in _named(event):
            agents.setdefault(name, Agent(name))
        if event.agent:
            agents[event.agent].events.append(event)
        if event.kind is Kind.USER_MESSAGE:
            _message(agents, event, times)
        if event.agent:  # without an agent it says nothing about one
            _HANDLERS.get(event.kind, _nothing)(agents, event)
    _join_spawns(agents, events)
    return agents


def _named(event: Event) -> Iterable[str]:
    if event.agent:
        yield event.agent
    if event.kind in _ABOUT_CHILD and event.get("child"):
        yield str(event.get("child"))
    if event.kind is Kind.AGENT_STARTED and event.get("parent"):
        yield str(event.get("parent"))


def _nothing(agents: dict[str, Agent], event: Event) -> None:
    pass


def _started(agents: dict[str, Agent], event: Event) -> None:
    agent = agents[event.agent]
    run = agent.runs[-1] if agent.runs else None
    key = str(event.get("run") or "")
    same = run is not None and not _is_new_run(run, event, key)
    if run is None or not same:
        agent.runs.append(Run(agent.id, len(agent.runs) + 1, event, key))
    elif run.start is None:
        run.start = event
    agent.runs[-1].key = agent.runs[-1].key or key
    agent.runs[-1].starts.append(event)
    _describe(agent, event)


def _is_new_run(run: Run, event: Event, key: str) -> bool:
    if key and run.key:
        return key != run.key
    return any(end.file == event.file for end in run.ends)


def _describe(agent: Agent, event: Event) -> None:
    if event.get("parent") and agent.edge is None:
        agent.parent, agent.edge = str(event.get("parent")), event
    agent.role = agent.role or str(event.get("role") or "")
    agent.name = agent.name or str(event.get("name") or "")
    agent.model = agent.model or str(event.get("model") or "")
    if agent.background is None and event.get("background") is not None:
        agent.background = bool(event.get("background"))


def _resumed(agents: dict[str, Agent], event: Event) -> None:
    agent = agents[event.agent]
    key = str(event.get("run") or "")
    if not agent.runs or agent.runs[-1].ends:
        agent.runs.append(Run(agent.id, len(agent.runs) + 1, event, key))
    agent.runs[-1].key = agent.runs[-1].key or key


def _message(agents: dict[str, Agent], event: Event, times: Mapping[int, float]) -> None:
    """A message to an agent that has ended is a follow-up: it begins a new run.

    In another file than the terminal's it has to be later by more than clocks differ.
    """
    agent = agents.get(event.agent)
    if agent is None or not agent.runs or not agent.runs[-1].ends:
        return
    ends = agent.runs[-1].ends
    last = max(times[end.seq] for end in ends)
    if any(end.file == event.file for end in ends) or times[event.seq] > last + CLOCKS:
        agent.runs.append(Run(agent.id, len(agent.runs) + 1, event, ""))


def _ended(agents: dict[str, Agent], event: Event) -> None:
    agent = agents[event.agent]
    _run_of(agent, event).ends.append(event)


def _run_of(agent: Agent, event: Event) -> Run:
    """The run that a record belongs to: by its run id, else the latest."""
    key = event.get("run")
    if key is not None:
        for run in agent.runs:
            if run.key == str(key):
                return run
        if agent.runs and agent.runs[-1].key:  # its start stands further down
            agent.runs.append(Run(agent.id, len(agent.runs) + 1, None, str(key)))
    if not agent.runs:
        agent.runs.append(Run(agent.id, 1))
    return agent.runs[-1]


def _noticed(agents: dict[str, Agent], event: Event) -> None:
    child = agents.get(str(event.get("child") or ""))
    if child is None:
        return
    run = _run_of(child, event)
    if event.get("run") is None and tells_end(event):
        run = _untold(child, run, event)
    (run.queued if event.kind is Kind.NOTICE_QUEUED else run.notices).append(event)


def _untold(agent: Agent, run: Run, notice: Event) -> Run:
    """Word of an end that comes while a new run is open is about the one before, if that
    still waits for its word: a follow-up may overtake it. So is word that holds its answer."""
    if run.number < 2:
        return run
    before = agent.runs[run.number - 2]
    told = before.queued if notice.kind is Kind.NOTICE_QUEUED else before.notices
    if any(tells_end(note) for note in told):
        return run
    return before if not run.ends or _said_before(agent, run, notice) else run


def _said_before(agent: Agent, run: Run, notice: Event) -> bool:
    """Whether the words that a notice holds are the agent's own from before that run, alone."""
    mark, begun, found = notice.get("digest"), False, set()
    for event in agent.events:
        begun = begun or (run.start is not None and event.seq == run.start.seq)
        if event.kind is Kind.AGENT_MESSAGE and mark and event.get("digest") == mark:
            found.add(begun)
    return found == {False}


_ABOUT_CHILD = (
    Kind.SPAWN_ANSWERED,
    Kind.SPAWN_REQUESTED,
    Kind.NOTICE_QUEUED,
    Kind.NOTICE_DELIVERED,
)
_HANDLERS = {
    Kind.AGENT_STARTED: _started,
    Kind.AGENT_RESUMED: _resumed,
    Kind.AGENT_ENDED: _ended,
    Kind.NOTICE_QUEUED: _noticed,
    Kind.NOTICE_DELIVERED: _noticed,
}


def _join_spawns(agents: dict[str, Agent], events: Sequence[Event]) -> None:
    """Give each agent its spawn: by the child's id, by the call id, else by path or name."""
    for spawn in spawns(events):
        child = agents.get(spawn.child) or _child_of(agents, spawn)
        if child is None or child.spawn is not None:
            continue
        spawn.child, child.spawn = child.id, spawn
        for event in (spawn.asked, spawn.answered):
            if event is not None:
                if child.edge is None and child.id != spawn.parent:
                    child.parent, child.edge = spawn.parent, event
                _describe_by_spawn(child, event)


def _child_of(agents: dict[str, Agent], spawn: Spawn) -> Agent | None:
    for agent in agents.values():
        start = agent.runs[0].start if agent.runs else None
        if start is not None and spawn.call and str(start.get("call") or "") == spawn.call:
            return agent
    return None


def _describe_by_spawn(agent: Agent, event: Event) -> None:
    agent.role = agent.role or str(event.get("role") or "")
    agent.name = agent.name or str(event.get("name") or "")
    if agent.background is None and event.get("background") is not None:
        agent.background = bool(event.get("background"))
