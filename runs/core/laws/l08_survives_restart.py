"""L8: nothing is lost over a crash, a restart, a fork or a resume."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core import parts
from runs.core.agents import Run, tells_end
from runs.core.ends import by_signal, has_answered
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.reloaded import Reloaded, reloaded
from runs.words import plural

AFTERLIFE = 2.0
"""Seconds after the death of the process in which traffic may still be on its way."""


class SurvivesRestart(Law):
    """Looks at what was open when the process died or a session was loaded again."""

    id = "L8"
    name = "SURVIVES-RESTART"
    sentence = (
        "After crash, restart, fork or resume the log loads and each earlier run is resumed, kept "
        "with its outcome, or ended as orphaned and reported."
    )
    why = "Work that was done before a crash is paid for; work that runs on after it is a leak."
    detected = (
        "Runs open when the process, or a part of it, died by a signal; runs open before a resume "
        "that are neither resumed nor ended after it; outcomes that change or get lost; traffic "
        "after the death; a first request after a resume without something that was stored of "
        "its conversation before, or with it twice."
    )
    needs = "A death by signal, or a resume, in the history."
    labels = ("orphaned", "resume_lost_outcome", "log_damaged", "history_lost", "history_doubled")
    follows = ("L1", "L3", "L16", "L5", "L4", "L13")

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        resumes = history.of(Kind.SESSION_RESUMED)
        crash = _crash(history)
        if resumes:
            yield from self._resumed(history, resumes[0])
        elif crash is not None:
            yield from self._crashed(history, crash)
        yield from self._afterlife(history)

    def _crashed(self, history: History, crash: Event) -> Iterable[Finding]:
        open_then = [run for run in history.runs if history.is_open(run, crash)]
        for run in open_then:
            if run.ends:
                yield self.holds(
                    run.agent, f"It was ended as {run.status} afterwards.", crash, run.end
                )
                continue
            yield self.broken(
                run.agent,
                f"The {_who(crash)} died ({_how(crash)}) with this run open, and nothing says what "
                f"became of it.",
                run.start,
                crash,
                label="orphaned",
            )
        if not open_then:
            yield self.unknown("", "It died with no run open, and was not started again.", crash)

    def _resumed(self, history: History, resume: Event) -> Iterable[Finding]:
        broken_load = _failed_load(history, resume)
        if broken_load is not None:
            yield self.broken(
                history.root,
                "The session's log is damaged, and loading it again failed.",
                resume,
                *history.damage[:3],
                broken_load,
                label="log_damaged",
            )
        before = [
            run
            for run in history.runs
            if run.start is not None and history.place(run.start) < history.place(resume)
        ]
        for run in before:
            ended = [end for end in run.ends if history.place(end) < history.place(resume)]
            yield (
                self._kept(history, run, resume)
                if ended
                else self._open_before(history, run, resume)
            )
        for agent in history.agents:
            found = reloaded(history, agent, resume)
            if found is not None:
                yield self._reloaded(agent, found, resume)

    def _reloaded(self, agent: str, found: Reloaded, resume: Event) -> Finding:
        """What the agent's model is told of its conversation after the restart."""
        what = f"of {len(found.stored)} things that were stored of its conversation before"
        if found.lost:
            tools = sum(one.kind in (Kind.TOOL_STARTED, Kind.TOOL_ENDED) for one in found.lost)
            return self.broken(
                agent,
                f"After the restart its model is not told {len(found.lost)} {what} ({tools} of "
                f"them calls of tools and what came back).",
                *found.lost,
                resume,
                found.asked,
                label="history_lost",
                lost=len(found.lost),
                stored=len(found.stored),
            )
        if found.doubled:
            return self.broken(
                agent,
                f"After the restart its model is told {len(found.doubled)} things more often than "
                f"they are stored.",
                *found.doubled,
                resume,
                found.asked,
                label="history_doubled",
                doubled=len(found.doubled),
            )
        return self.holds(agent, f"Its model is told all {what}, each once.", resume, found.asked)

    def _open_before(self, history: History, run: Run, resume: Event) -> Finding:
        agent = history.agents[run.agent]
        after = [
            event
            for event in history.after(resume, Kind.AGENT_RESUMED, Kind.AGENT_STARTED)
            if event.agent == agent.id
        ]
        said = [end for end in run.ends if not _only_asked(end)]
        told = [note for note in run.notices if tells_end(note)]
        if said or after or told:
            return self.holds(run.agent, "It was resumed or ended.", *(said or after or told)[:1])
        if not history.closed:
            return self.unknown(run.agent, "The log is not complete.")
        if history.seen_only_in(history.root, "hooks"):
            return self.unknown(run.agent, "What its parent is told is not to be seen in hooks.")
        asked = f"; only who asks hears that it was {run.status}" if run.ends else ""
        return self.broken(
            run.agent,
            f"It was open before the resume, and after it is neither resumed nor ended{asked}.",
            run.start,
            resume,
            *run.ends,
            history.end_record,
            label="orphaned",
        )

    def _kept(self, history: History, run: Run, resume: Event) -> Finding:
        was = run.status
        if run.ends[0].source == "hooks" and has_answered(history, run, resume):
            was = "completed"  # a hook says that it stopped, and not how
        other = [
            end
            for end in run.ends[1:]
            if history.place(end) > history.place(resume) and end.get("status") != was
        ]
        other += [
            note
            for note in run.notices
            if history.place(note) > history.place(resume)
            and tells_end(note)
            and note.get("status") not in (was, "idle", "unknown")
        ]
        told = [note for note in run.notices if tells_end(note)]
        if other:
            return self.broken(
                run.agent,
                f"It had ended as {was}; after the resume it counts as {other[0].get('status')}.",
                run.end,
                resume,
                other[0],
                label="resume_lost_outcome",
            )
        if not told and run.queued and history.closed:
            return self.broken(
                run.agent,
                "Its outcome was waiting for the parent before the resume and never reached it.",
                run.queued[-1],
                resume,
                history.end_record,
                label="resume_lost_outcome",
            )
        return self.holds(run.agent, f"Its outcome ({run.status}) was kept.", run.end, resume)

    def _afterlife(self, history: History) -> Iterable[Finding]:
        exits = history.of(Kind.PROCESS_EXITED)
        if not exits:
            return
        gone = history.time(exits[-1])
        late = [one for one in history.attempts if one.start > gone + AFTERLIFE]
        if late and history.timed and history.clocks_agree:
            yield self.broken(
                late[0].agent or history.root,
                f"{plural(len(late), 'request')} reached the provider after the process was gone, "
                f"the first {late[0].start - gone:.1f} s later.",
                exits[-1],
                *[one.event for one in late[:3]],
                label="orphaned",
            )


def _only_asked(end: Event) -> bool:
    """Whether no record says that it was cut off: its store does, where somebody reads it."""
    return bool(end.get("inferred")) and end.get("status") == "interrupted"


def _crash(history: History) -> Event | None:
    """The death of the process, or of a part of the product, by a signal that was not ours."""
    for event in history.of(Kind.PROCESS_EXITED):
        if by_signal(event) and history.cut_short is None:
            return event
    return next(iter(parts.killed(history)), None)


def _who(crash: Event) -> str:
    return str(crash.get("part") or "process")


def _how(crash: Event) -> str:
    return f"signal {crash.get('signal')}" if crash.get("signal") else f"code {crash.get('code')}"


def _failed_load(history: History, resume: Event) -> Event | None:
    """The failure that directly follows the resume of a damaged log."""
    if not any(not event.get("repaired") for event in history.damage):
        return None
    for event in history.after(resume, Kind.ERROR, Kind.AGENT_MESSAGE, Kind.SESSION_ENDED):
        if event.agent in ("", history.root):
            return event if event.kind is not Kind.AGENT_MESSAGE else None
    return None


LAW = SurvivesRestart()
