"""What a law is: a sentence that must hold, judged over one history.

A law is one file in ``laws/`` that ends with ``LAW = …``. It is pure: it takes
a history and thresholds and gives findings. It answers *broken* or *holds* for
each agent that it can judge and *unknown* where the evidence is missing; not
observable is not violated, and unknown is never a pass. No law reads error prose.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from runs.core.events import Event
    from runs.core.history import History


class Verdict(StrEnum):
    """A law's answer for one agent."""

    BROKEN = "broken"
    HOLDS = "holds"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The parameters that laws state and pages show. Times in seconds."""

    stall_after: float = 300.0
    start_within: float = 120.0
    notice_within: float = 60.0
    cancel_within: float = 30.0
    answer_within: float = 60.0
    max_attempts: int = 8
    retry_after_slack: float = 0.05

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Thresholds:
        """Defaults with the given ones put over them; unknown names are an error (TypeError)."""
        return cls(**{**asdict(cls()), **values})


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact that a finding rests on: its number in the history and where it was seen."""

    seq: int
    ref: str

    def as_dict(self) -> dict[str, Any]:
        """As JSON: ``{"seq": 12, "ref": "events.jsonl:11"}``."""
        return {"seq": self.seq, "ref": self.ref}


def evidence(*events: Event | None) -> tuple[Evidence, ...]:
    """Evidence for these events, each place where they were seen; None is left out."""
    found: dict[tuple[int, str], Evidence] = {}
    for event in events:
        if event is not None:
            for place in event.sightings:
                found.setdefault((event.seq, place.ref), Evidence(event.seq, place.ref))
    return tuple(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A law's answer with its evidence.

    `label` names the kind of breach for the diagnosis table (``lost_terminal``,
    ``flat``, ``retry_after`` …); `because` is the law from whose breach this one
    follows, as ``L2``. `figures` are the numbers that the reason rests on.
    """

    law: str
    verdict: Verdict
    agent: str
    reason: str
    evidence: tuple[Evidence, ...] = ()
    because: str = ""
    label: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)


class Law(ABC):
    """One law. Subclass, fill in the texts, write :meth:`judge`, end with ``LAW = …``."""

    id: ClassVar[str]
    name: ClassVar[str]
    sentence: ClassVar[str]
    why: ClassVar[str]
    detected: ClassVar[str]
    needs: ClassVar[str]
    labels: ClassVar[tuple[str, ...]] = ()
    """Every `label` that a broken finding of this law can carry."""
    follows: ClassVar[tuple[str, ...]] = ()
    """Laws that are allowed to be broken as a consequence of this one."""
    parameters: ClassVar[tuple[str, ...]] = ()
    """The names in :class:`Thresholds` that it reads."""

    @abstractmethod
    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        """Findings, at least one for each agent that the law speaks about."""

    def broken(
        self, agent: str, reason: str, *events: Event | None, label: str = "", **figures: Any
    ) -> Finding:
        """A breach by `agent`; `events` are its evidence, `label` one of `labels`."""
        return Finding(
            law=self.id,
            verdict=Verdict.BROKEN,
            agent=agent,
            reason=reason,
            evidence=evidence(*events),
            label=label,
            figures=figures,
        )

    def holds(self, agent: str, reason: str, *events: Event | None, **figures: Any) -> Finding:
        """The law was seen to hold for `agent`."""
        return Finding(
            law=self.id,
            verdict=Verdict.HOLDS,
            agent=agent,
            reason=reason,
            evidence=evidence(*events),
            figures=figures,
        )

    def unknown(self, agent: str, reason: str, *events: Event | None) -> Finding:
        """What is needed to judge `agent` cannot be seen; `reason` says what is missing."""
        return Finding(
            law=self.id,
            verdict=Verdict.UNKNOWN,
            agent=agent,
            reason=reason,
            evidence=evidence(*events),
        )
