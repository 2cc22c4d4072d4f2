"""L4: nobody says idle, done or result while a run of its own is open."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.agents import TERMINAL, Run
from runs.core.ends import by_signal, has_answered
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.published import gone_from_list
from runs.words import plural

_IDLE = ("idle", "ended")


class NoEarlyIdle(Law):
    """Looks at every record by which an agent says that it is done, and at what was open then."""

    id = "L4"
    name = "NO-EARLY-IDLE"
    sentence = (
        "A parent does not report idle, done or result (or exit) while a run it owns is open, "
        "unless that event itself lists the open runs."
    )
    why = "Whoever waits for “idle” takes the work as finished and throws the rest away."
    detected = "Idle, result, end or exit at a moment at which a child has started and not ended."
    needs = "The parent's idle, result or exit record, and the children's starts and ends."
    labels = ("premature_idle", "early_exit_children_lost", "premature_terminal")
    follows = ("L1", "L3", "L16", "L12")

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        owners = {agent.parent for agent in history.children if agent.parent}
        for owner in sorted(owners):
            yield self._judge(history, owner)

    def _judge(self, history: History, owner: str) -> Finding:
        known = history.agents.get(owner)
        if known is None or not known.events:
            return self.unknown(owner, "Its own log is not here.")
        seen = None
        for event in _done_records(history, owner):
            runs = _unlisted(history, owner, event)
            blind = [run for run in runs if _may_have_ended(history, run, event)]
            if blind:
                return self.unknown(
                    owner, "These files may leave out how a child ended.", event, blind[0].start
                )
            if runs and not _woken(history, owner, event, runs):
                return self._early(history, owner, event, runs)
            seen = event
        if seen is None:
            return self.unknown(owner, "It never says that it is idle, done or gone.")
        return self.holds(owner, "No run of its own was open when it said that it was done.", seen)

    def _early(self, history: History, owner: str, event: Event, runs: list[Run]) -> Finding:
        names = ", ".join(run.agent for run in runs)
        later = [_next_sign(history, run, event) for run in runs]
        return self.broken(
            owner,
            f"It says {_word(event)} with {plural(len(runs), 'run')} of its own open: {names}.",
            event,
            *[run.start for run in runs],
            *later,
            label=_label(history, owner, event),
            open=len(runs),
        )


def _done_records(history: History, owner: str) -> list[Event]:
    """The records by which `owner` says that it is done; a result counts where it is the last."""
    found = [
        event
        for event in history.of(Kind.STATUS)
        if event.agent == owner and event.get("status") in _IDLE and not event.get("inferred")
    ]
    if owner == history.root:
        # Of a log that is cut, another result may follow: it is written after each turn.
        results = (Kind.RESULT,) if history.complete else ()
        for kind in (*results, Kind.SESSION_ENDED, Kind.PROCESS_EXITED):
            found.extend(event for event in history.of(kind)[-1:] if not by_signal(event))
        if history.cut_short:
            limit = history.place(history.cut_short)
            found = [event for event in found if history.place(event) < limit]
    else:
        ends = [run.ends[0] for run in history.agents[owner].runs if run.ends]
        # Of a log that is cut, the last answer may not have been the last.
        found.extend(end for end in ends if history.complete or not end.get("inferred"))
    return sorted(found, key=history.place)


def _unlisted(history: History, owner: str, event: Event) -> list[Run]:
    """The owner's runs that are open at `event` and that it does not list itself."""
    listed = event.get("open") or ()
    return [
        run
        for run in history.open_runs(owner, event)
        if run.agent not in listed
        and not _ends_elsewhere(history, run)
        and not history.may_have_lost(run)
        and not _known_to_be_over(history, run, event)
    ]


def _may_have_ended(history: History, run: Run, event: Event) -> bool:
    """Whether these views, or these files as they are cut, may leave out how the run ended."""
    if history.seen_only_in(run.agent, "trace"):
        return not run.ends  # its span shows when it ended
    if history.seen_only_in(run.agent, "hooks", "trace"):
        return not (run.ends and event.kind is Kind.STATUS)
    if not run.ends and _left_list(history, run, event):
        return True
    cut = not history.complete and not run.ends
    return cut and event.file not in history.files_of(run.agent)


def _known_to_be_over(history: History, run: Run, event: Event) -> bool:
    """Whether the run had given its whole answer, its owner was told of its end, the runtime lists
    it no more, or it fell with an earlier process: then only the terminal is missing."""
    if not run.ends and has_answered(history, run, event):
        return True
    if gone_from_list(history, run, event):
        return not run.ends
    if _fell_before(history, run, event):
        return True
    told = [note for note in run.notices if note.get("status") in TERMINAL]
    return any(history.precedes(note, event) for note in told)


def _left_list(history: History, run: Run, event: Event) -> bool:
    """Whether hooks list it no more with this very record, and nothing of it follows."""
    listed = event.get("open") is not None and event.seen_in("hooks")
    return listed and _next_sign(history, run, event) is None


def _fell_before(history: History, run: Run, event: Event) -> bool:
    """Whether a restart came after its start and no sign of it since: what became of it is L8's."""
    restarts = history.between(run.start, event, Kind.SESSION_RESUMED)
    if not restarts:
        return False
    since, here = history.place(restarts[-1]), history.place(event)
    return not any(since < history.place(one) < here for one in history.agents[run.agent].events)


def _ends_elsewhere(history: History, run: Run) -> bool:
    """Whether the log that shows the start shows no ends, and the child has no log of its own."""
    if run.ends or run.said_to_run or run.start is None or not run.start.get("ends_elsewhere"):
        return False
    own = {one.file for one in history.agents[run.agent].events if one.source != "provider"}
    return own <= {run.start.file} and not _outlasts(history, run)


def _outlasts(history: History, run: Run) -> bool:
    """Whether the provider saw it at work later than the one that owns it."""
    mine = history.attempts_by_agent.get(run.agent, ())
    above = history.attempts_by_agent.get(history.parent_of(run.agent), ())
    if not mine or not above:
        return False
    last = max(one.end or one.start for one in above)
    return any(one.end is None or one.end > last for one in mine)


def _woken(history: History, owner: str, event: Event, runs: list[Run]) -> bool:
    """Whether a bare idle (one that lists nothing) was a wait: each child's end woke the owner."""
    if event.kind is not Kind.STATUS or event.get("open") is not None:
        return False
    for run in runs:
        notices = [
            note
            for note in run.notices
            if note.agent == owner and history.place(note) > history.place(event)
        ]
        if not notices:
            return False
        working = (Kind.TURN_STARTED, Kind.MODEL_STARTED, Kind.AGENT_MESSAGE)
        if not any(one.agent == owner for one in history.after(notices[0], *working)):
            return False
    return True


def _next_sign(history: History, run: Run, event: Event) -> Event | None:
    """The first thing that the child does after its parent said that all is done."""
    return next((one for one in history.after(event) if one.agent == run.agent), None)


def _word(event: Event) -> str:
    if event.kind is Kind.STATUS:
        return str(event.get("status"))
    if event.kind is Kind.AGENT_ENDED:
        return str(event.get("status") or "ended")
    return {Kind.RESULT: "result", Kind.SESSION_ENDED: "end"}.get(event.kind, "exit")


def _label(history: History, owner: str, event: Event) -> str:
    if event.kind is Kind.AGENT_ENDED:
        return "premature_terminal"
    if event.kind in (Kind.RESULT, Kind.SESSION_ENDED, Kind.PROCESS_EXITED):
        return "early_exit_children_lost"
    return "premature_idle"


LAW = NoEarlyIdle()
