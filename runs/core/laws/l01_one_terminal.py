"""L1: a run that started has exactly one terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from runs.core.agents import Run
from runs.core.events import Event
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.over import is_closed, silent_for
from runs.core.published import gone_from_list


class OneTerminal(Law):
    """Counts terminals for each run and each file; two files are two reports of one end."""

    id = "L1"
    name = "ONE-TERMINAL"
    sentence = (
        "Every run of a sub-agent that started has exactly one terminal event before the log ends."
    )
    why = (
        "A run without an end stays “running” for ever; one that ends twice wakes its parent twice."
    )
    detected = (
        "Runs that started, minus runs with a terminal, at a shutdown, exit or end of capture, or "
        "after a quiet period; and more than one terminal of one run in one file with no resume or "
        "message between."
    )
    needs = "The child's start and terminal records, and a log that is complete."
    labels = ("lost_terminal", "duplicate_terminal")
    follows = ("L3", "L16", "L11")
    parameters = ("stall_after",)

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        for run in history.runs:
            yield self._judge(history, run, thresholds.stall_after)

    def _judge(self, history: History, run: Run, quiet: float) -> Finding:
        twice = _repeated(run)
        if twice:
            return self.broken(
                run.agent,
                f"The run has {len(twice)} terminal records in {twice[0].file}, with no new run "
                f"between them.",
                run.start,
                *twice,
                label="duplicate_terminal",
                terminals=len(twice),
            )
        if run.ends:
            return self.holds(run.agent, "The run has one terminal.", *run.ends[:2])
        if not history.complete:
            return self.unknown(run.agent, "The log is not complete; its end may follow.")
        if run.start is None:
            return self.unknown(run.agent, "Its start is not in the log.")
        if history.cut_short:
            return self.unknown(
                run.agent, "We stopped the run before it could end.", history.cut_short
            )
        if history.may_have_lost(run):
            return self.unknown(
                run.agent, "A damaged line may have held the terminal.", *history.losses[:2]
            )
        if _elsewhere(history, run):
            return self.unknown(run.agent, "This log does not show how a child ends.", run.start)
        parent = history.agents.get(history.parent_of(run.agent))
        if parent is None or not parent.events:
            return self.unknown(run.agent, "The log of its parent is not here.", run.start)
        if gone_from_list(history, run):
            return self.unknown(
                run.agent, "The runtime no longer lists it; only the record is missing.", run.start
            )
        waits = _waits_for(history, run)
        if waits:
            return self.unknown(run.agent, f"It waits for word of {waits}, which never came.")
        if not is_closed(history, run) and not silent_for(history, run, quiet):
            return self.unknown(
                run.agent, "The log stops in mid-run: nothing closes it, and the run was not quiet."
            )
        return self.broken(
            run.agent,
            f"It started and has no terminal when the log ends, "
            f"{_since(history, run):.1f} s later.",
            run.start,
            history.end_record,
            label="lost_terminal",
        )


def _repeated(run: Run) -> list[Event]:
    """Terminals of one file and one kind of record (``subagent.completed``, ``subagent.failed``),
    more than one of them."""
    found: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in run.ends:
        found[event.file, event.native.rpartition(".")[0] or event.native].append(event)
    return next((events for events in found.values() if len(events) > 1), [])


def _waits_for(history: History, run: Run) -> str:
    """A child of its own that has ended since its last step and of which it was never told."""
    own = history.agents[run.agent].events
    since = history.place(own[-1]) if own else -1
    for child in history.children:
        last = child.runs[-1] if child.parent == run.agent and child.runs else None
        if last is None or last.end is None or last.told is not None:
            continue
        if history.place(last.end) > since:
            return child.id
    return ""


def _elsewhere(history: History, run: Run) -> bool:
    """Whether the log that shows the start shows no ends, and the child has no log of its own."""
    if run.start is None or not run.start.get("ends_elsewhere"):
        return False
    own = (one for one in history.agents[run.agent].events if one.source != "provider")
    return all(event.file == run.start.file for event in own)


def _since(history: History, run: Run) -> float:
    return history.end - history.time(run.start) if run.start is not None else 0.0


LAW = OneTerminal()
