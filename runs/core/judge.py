"""Judges a history: every law, then what follows from what, then one diagnosis.

A law that crashes answers unknown, never holds. Laws are judged independently;
afterwards a breach that follows from another one carries ``because`` (the law
that caused it), and a stall or an open run that a hidden question, a dead spawn or
an endless retry explains is not reported as one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from fakes.registry import members
from runs.core import laws as laws_package
from runs.core.diagnosis import diagnose
from runs.core.doubt import doubted
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds, Verdict
from runs.core.schema import FindingRow

PRECEDENCE = (
    *("L14", "L15", "L10", "L8", "L7", "L17", "L18", "L9", "L12", "L4"),
    *("L2", "L1", "L6", "L5", "L11", "L3", "L13", "L16"),
)
"""Which of two breaches is taken as the cause, where either could be: the earlier one."""


_EXPLAINED = {
    ("L14", "L5", "stall"): "silence",
    ("L15", "L5", "stall"): "silence",
    ("L6", "L5", "stall"): "silence",
    ("L14", "L1", "lost_terminal"): "missing terminal",
    ("L15", "L1", "lost_terminal"): "missing terminal",
}
"""Cause, law and label of what is explained by the cause: not reported, but unknown."""
_FIRST = frozenset({"early_exit_root_cut"})
"""Labels of breaches that no other one causes: who leaves in its own turn cuts all the rest."""
_LAST = frozenset({"history_lost", "history_doubled"})
"""Labels of breaches that cause no other one: a model that knows less is no lost terminal."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """All findings in order of laws, and the diagnosis that they add up to."""

    findings: tuple[Finding, ...]
    diagnosis: str

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The breaches, consequences included."""
        return tuple(one for one in self.findings if one.verdict is Verdict.BROKEN)

    def verdict(self, law: str, agent: str | None = None) -> Verdict:
        """One law's answer over all agents (or for one): broken, else unknown, else holds."""
        found = {
            one.verdict
            for one in self.findings
            if one.law == law and (agent is None or one.agent == agent)
        }
        for verdict in (Verdict.BROKEN, Verdict.UNKNOWN, Verdict.HOLDS):
            if verdict in found:
                return verdict
        return Verdict.UNKNOWN


@cache
def laws() -> dict[str, Law]:
    """All laws by id (``L1`` … ``L18``), in order."""
    found: dict[str, Law] = {law.id: law for law in members(laws_package, "LAW").values()}
    return dict(sorted(found.items(), key=lambda item: int(item[0].removeprefix("L"))))


def judge(
    history: History,
    thresholds: Thresholds | None = None,
    only: Iterable[Law] | None = None,
) -> Judgement:
    """Judge `history` by every law (or by `only` these), with stated thresholds."""
    limits = thresholds or Thresholds()
    chosen = list(laws().values()) if only is None else list(only)
    findings = [finding for law in chosen for finding in _ask(law, history, limits)]
    findings = doubted(history, findings)
    findings = _explain(findings, {law.id: law for law in chosen}, history)
    return Judgement(tuple(findings), diagnose(history, findings))


def _ask(law: Law, history: History, thresholds: Thresholds) -> list[Finding]:
    """The law's findings; a crash, or no answer at all, is unknown."""
    try:
        found = list(law.judge(history, thresholds))
    except Exception as error:  # a law may fail in any way; none is a pass
        return [_unknown(law, f"The law could not be judged: {type(error).__name__}.")]
    return found or [_unknown(law, "Nothing in this history speaks about it.")]


def _unknown(law: Law, reason: str) -> Finding:
    return Finding(law=law.id, verdict=Verdict.UNKNOWN, agent="", reason=reason)


def _explain(findings: Sequence[Finding], by_id: dict[str, Law], history: History) -> list[Finding]:
    """Mark each breach that follows from another one with the law that caused it."""
    near = _near(history, findings, set(by_id))
    explained = []
    for finding in findings:
        broke = finding.verdict is Verdict.BROKEN and not finding.because
        if broke and finding.label not in _FIRST:
            causes = [law for law in near[finding.agent] if finding.law in by_id[law].follows]
            if causes:
                finding = replace(finding, because=min(causes, key=_rank))
        explained.append(_not_its_own(finding))
    return explained


def _near(
    history: History, findings: Iterable[Finding], laws: Collection[str]
) -> dict[str, set[str]]:
    """By agent, which of `laws` it, who stands above or below it, or nobody by name breaks in a
    way that may be a cause; where nobody is named, all that anybody breaks."""
    own: dict[str, set[str]] = {one.agent: set() for one in findings}
    for one in findings:
        if one.verdict is Verdict.BROKEN and one.law in laws and one.label not in _LAST:
            own[one.agent].add(one.law)
    above: dict[str, set[str]] = {}
    below: dict[str, set[str]] = defaultdict(set)
    for agent in history.in_order:
        over = agent.parent or ""
        above[agent.id] = above.get(over, set()) | own.get(over, set())
    for agent in reversed(history.in_order):
        below[agent.parent or ""] |= below[agent.id] | own.get(agent.id, set())
    anybody, nobody = set().union(*own.values()), own.get("", set())
    near = {
        name: mine | nobody | above.get(name, set()) | below[name] for name, mine in own.items()
    }
    return near | {"": anybody}


def _rank(law: str) -> int:
    return PRECEDENCE.index(law) if law in PRECEDENCE else len(PRECEDENCE)


def _not_its_own(finding: Finding) -> Finding:
    """A stall or open run that another breach explains (see the module) is no second one."""
    what = _EXPLAINED.get((finding.because, finding.law, finding.label))
    if what:
        return replace(
            finding,
            verdict=Verdict.UNKNOWN,
            label="",
            reason=f"The {what} is explained by {finding.because}.",
        )
    return finding


def row(finding: Finding) -> FindingRow:
    """The finding as JSON."""
    return {
        "law": finding.law,
        "verdict": finding.verdict.value,
        "agent": finding.agent,
        "evidence": [one.as_dict() for one in finding.evidence],
        "reason": finding.reason,
        "because": finding.because,
        "label": finding.label,
        "figures": dict(finding.figures),
    }
