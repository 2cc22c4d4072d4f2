"""L13: log, stream, hooks, trace and registry tell the same story."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runs.core.agents import Run, tells_end
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.published import later_in, left_out_of_hooks, lists_of, shows_ends
from runs.core.spans import AGENT_OPERATION, Trace, trace_of
from runs.words import plural

_TURN_ENDS = (Kind.TURN_ENDED, Kind.AGENT_ENDED)
_VIEWS = ("stdout", "session", "log", "rpc", "hooks", "bus")


class ViewsAgree(Law):
    """Compares the views with each other, and a trace with itself."""

    id = "L13"
    name = "VIEWS-AGREE"
    sentence = "Log, stream, hooks, trace, UI and registry name the same runs, parents and states."
    why = "Whoever builds on one view is misled wherever it differs from the others."
    detected = (
        "A terminal in one view and none, or another, in a view that shows the start; starts "
        "without stops while the runtime lists nothing running; runs that hooks leave out while "
        "they publish one of the same role; items that a retry or an abort left without an end in "
        "a turn that has one; spans under a foreign or a missing parent."
    )
    needs = "Two views of the same run, a runtime's own list, or a trace."
    labels = ("terminal_not_published", "views_disagree", "trace_parent_wrong", "left_open")
    follows = ("L1",)
    parameters = ("notice_within",)

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        for run in history.runs:
            found = (
                self._differing(history, run)
                or self._unpublished(history, run)
                or self._hidden(history, run)
                or self._missing(history, run)
                or self._gone_from_list(history, run)
                or self._still_listed(history, run, thresholds.notice_within)
                or self._agreeing(run)
            )
            if found is not None:
                yield found
        yield from self._left_open(history)
        spans = history.of(Kind.SPAN)
        if spans:
            yield from self._trace(history, trace_of(spans, history.root))

    # Two views of one run

    def _differing(self, history: History, run: Run) -> Finding | None:
        words = {view: run.terminal(view) for view in _VIEWS if run.ends_in(view)}
        if "completed" in words.values() and "failed" in words.values():
            return self.broken(
                run.agent,
                "Its terminal differs: "
                + ", ".join(f"{word} in {view}" for view, word in words.items())
                + ".",
                *[run.ends_in(view)[0] for view in words],
                label="views_disagree",
            )
        return None

    def _unpublished(self, history: History, run: Run) -> Finding | None:
        """It began in a view that goes on for long enough, and ended only in another."""
        if run.end is None:
            return None
        starts = {
            place.source: event
            for event in reversed(run.starts)
            if not event.get("ends_elsewhere")
            for place in event.sightings
        }
        for view, start in starts.items():
            if view not in _VIEWS or run.ends_in(view) or not shows_ends(history, view):
                continue
            parent = history.agents[run.agent].parent or history.root
            if view != "hooks" and view not in history.views_of(parent):
                continue  # whoever would write there how it ended has no log here
            if any(note.seen_in(view) for note in (*run.notices, *run.queued) if tells_end(note)):
                continue  # the view shows the end by what the parent is told
            if not history.closed or history.may_have_lost(run):
                return self.unknown(run.agent, f"Its end may have been lost in {view}.", run.end)
            if history.between(run.start, run.end, Kind.SESSION_RESUMED):
                return self.unknown(run.agent, f"What wrote {view} was gone before its end.")
            closing = later_in(history, view, run.end)
            if closing is not None:
                return self.broken(
                    run.agent,
                    f"It started in {view} and ended there never; "
                    f"{run.end.source} has its terminal ({run.status}).",
                    start,
                    run.end,
                    closing,
                    label="terminal_not_published",
                    view=view,
                )
        return None

    def _hidden(self, history: History, run: Run) -> Finding | None:
        """It failed, and the view that shows its start and no ends goes on as if it had not."""
        if "failed" not in {end.get("status") for end in run.ends} or not history.closed:
            return None
        for start in run.starts:
            view = start.source
            if not start.get("ends_elsewhere") or view not in _VIEWS or run.ends_in(view):
                continue
            if any(note.seen_in(view) for note in run.notices if tells_end(note)):
                continue
            failed = next(end for end in run.ends if end.get("status") == "failed")
            closing = later_in(history, view, failed)
            if closing is not None and not history.may_have_lost(run):
                return self.broken(
                    run.agent,
                    f"It failed, as {failed.source} has it; {view} shows its start, goes on, "
                    f"and says nothing of that.",
                    start,
                    failed,
                    closing,
                    label="terminal_not_published",
                    view=view,
                )
        return None

    def _missing(self, history: History, run: Run) -> Finding | None:
        """Hooks that publish a like run, and nothing at all of this one."""
        shown = left_out_of_hooks(history, run)
        if shown is None:
            return None
        return self.broken(
            run.agent,
            f"It started in {shown[0].source}, and the hooks that publish {shown[1].agent} say "
            f"nothing of it.",
            *shown,
            label="views_disagree",
            view="hooks",
        )

    def _agreeing(self, run: Run) -> Finding | None:
        """Two views have its terminal, or one has and another tells the parent the same."""
        ends = {view: run.ends_in(view)[0] for view in _VIEWS if run.ends_in(view)}
        told = {
            view: note
            for note in (*run.notices, *run.queued)
            for view in _VIEWS
            if view not in ends and note.seen_in(view) and note.get("status") == run.status
        }
        views = ends | told
        if not ends or len(views) < 2:
            return None
        words = f"{' and '.join(views)} agree on its end"
        words += f"; {' and '.join(told)} has it as what the parent is told." if told else "."
        return self.holds(run.agent, words, *views.values())

    # The runtime's own list

    def _gone_from_list(self, history: History, run: Run) -> Finding | None:
        """Hooks: a start without a stop, while a later list of running children is without it."""
        if run.start is None or run.ends or not run.start.seen_in("hooks"):
            return None
        lists = lists_of(history, run)
        if not lists or run.agent in lists[-1].get("open"):
            return None
        if history.between(run.start, lists[-1], Kind.SESSION_RESUMED):
            return self.unknown(run.agent, "What published its start was gone before that list.")
        return self.broken(
            run.agent,
            "Its start was published and its end never, while the runtime lists it no more.",
            run.start,
            lists[-1],
            label="terminal_not_published",
            view="hooks",
        )

    def _still_listed(self, history: History, run: Run, limit: float) -> Finding | None:
        if run.end is None or not history.timed:
            return None
        for event in _lists(history, run.end):
            late = history.time(event) - history.time(run.end)
            last = history.agents[run.agent].runs[-1] is run
            if last and run.agent in event.get("open") and late > limit:
                return self.broken(
                    run.agent,
                    f"It ended, and {late:.0f} s later it is still listed as running.",
                    run.end,
                    event,
                    label="views_disagree",
                )
        return None

    # What a turn began

    def _left_open(self, history: History) -> Iterable[Finding]:
        """Items that a view begins and never ends, in turns that it does end."""
        found: dict[str, list[tuple[Event, Event, Event]]] = {}
        for item in history.of(Kind.ITEM_LEFT):
            cut = _cut_by(history, item)
            if cut is not None:
                found.setdefault(item.agent, []).append((item, *cut))
        for agent, rows in found.items():
            if not history.closed:
                yield self.unknown(agent, "The ends of its items may follow.", rows[0][0])
                continue
            what = ", ".join(dict.fromkeys(str(item.get("what")) for item, _, _ in rows))
            yield self.broken(
                agent,
                f"It began {_count(rows)} ({what}) that a retry or an abort cut off and that never "
                f"ended, though its turn did.",
                *[event for row in rows for event in row],
                label="left_open",
                items=len(rows),
            )

    # The trace

    def _trace(self, history: History, trace: Trace) -> Iterable[Finding]:
        astray: dict[str, list[Event]] = {}
        orphans: dict[str, list[Event]] = {}
        seen: set[str] = set()
        for span in trace.spans.values():
            agent = trace.agent_of(span)
            if not agent or span.get("op") == AGENT_OPERATION:
                continue
            seen.add(agent)
            home = trace.home_of(span)
            if trace.is_orphan(span):
                orphans.setdefault(agent, []).append(span)
            elif home is not None and _stranger(history, trace, agent, home):
                astray.setdefault(agent, []).append(span)
        for agent, spans in astray.items():
            yield self.broken(
                agent,
                f"Under another agent: {plural(len(spans), 'span')} of its conversation.",
                *spans,
                label="trace_parent_wrong",
                spans=len(spans),
            )
        for agent, spans in orphans.items():
            if history.closed:
                yield self.broken(
                    agent,
                    f"Their parent is not in the export: {plural(len(spans), 'span')}.",
                    *spans,
                    label="trace_parent_wrong",
                    spans=len(spans),
                )
            else:
                yield self.unknown(agent, "The export is not complete.", *spans)
        for agent in sorted(seen - set(astray) - set(orphans)):
            yield self.holds(agent, "All spans of its conversation hang under it.")


def _count(rows: Sequence[object]) -> str:
    return "an item" if len(rows) == 1 else f"{len(rows)} items"


def _cut_by(history: History, item: Event) -> tuple[Event, Event] | None:
    """What cut an item off, and the end of its turn; None where its view shows not both."""
    # By lines: that an end is missing is known only when the whole file is read.
    mine = [
        event
        for event in history.of(Kind.MODEL_RETRY, Kind.ERROR, *_TURN_ENDS)
        if event.agent == item.agent
        and event.file == item.file
        and (event.line or 0) > (item.line or 0)
    ]
    end = next((event for event in mine if event.kind in _TURN_ENDS), None)
    if end is None:
        return None
    if end.get("status") == "interrupted":
        # An answer is over with the turn that was interrupted; of a call its caller waits to hear.
        return None if item.get("what") == "message" else (end, end)
    return (mine[0], end) if mine[0] is not end else None


def _stranger(history: History, trace: Trace, agent: str, home: Event) -> bool:
    owner = home.agent or str(home.get("agent_id") or "") or trace.agent_of(home)
    return owner not in ("", agent) or (owner == "" and agent != history.root)


def _lists(history: History, since: Event) -> list[Event]:
    """The runtime's own lists of what runs, later than `since`."""
    return [
        event
        for event in history.after(since, Kind.REGISTRY, Kind.STATUS)
        if event.get("open") is not None
    ]


LAW = ViewsAgree()
