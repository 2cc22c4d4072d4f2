"""L16: a successful exit means success."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.agents import Run, tells_end
from runs.core.ends import failure_of, hidden_from
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.signs import closing_error

EXITING = 2.0
"""Seconds that a program may take to leave."""


class HonestExit(Law):
    """Puts the exit code and the final result beside what became of root and children."""

    id = "L16"
    name = "HONEST-EXIT"
    sentence = (
        "Exit code and final result are a success only if the root finished and no owned run was "
        "lost or failed untold."
    )
    why = "Scripts and pipelines see nothing but the exit code."
    detected = (
        "Exit 0, or a result that is no error, while the root's last model call failed, its own "
        "records close with an error, a run is open or was killed afterwards, or a run failed and "
        "the root was not told; exit 0 beside a result that is an error."
    )
    needs = "The exit code or the final result."
    labels = ("early_exit_root_cut", "early_exit_children_lost", "failed_untold")
    follows = ()

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        words = [*history.of(Kind.PROCESS_EXITED)[-1:], *history.of(Kind.RESULT)[-1:]]
        if not words:
            yield self.unknown(history.root, "Neither exit code nor final result is here.")
            return
        if history.cut_short:
            yield self.unknown(history.root, "We ended the run ourselves.", history.cut_short)
            return
        liar = None if _is_server(history) else _contradiction(words)
        if liar is not None:
            yield self.broken(
                history.root,
                "It exits with code 0 although its own last word is that it failed.",
                *words,
                label="early_exit_root_cut",
            )
            return
        if not _is_success(words):
            yield self.holds(history.root, "It does not claim success.", *words)
            return
        yield (
            self._root(history, words)
            or self._turn(history, words)
            or self._children(history, words)
            or self.holds(history.root, "It claims success, and nothing speaks against it.", *words)
        )

    def _root(self, history: History, words: list[Event]) -> Finding | None:
        calls = history.calls_of(history.root)
        root = history.agents.get(history.root)
        own = root.events if root is not None and history.closed else ()
        error = None if calls else closing_error(own)
        if error is not None:
            return self.broken(
                history.root,
                "It exits as a success although the root's own records close with an error.",
                error,
                *words,
                label="early_exit_root_cut",
            )
        if calls and not calls[-1].last.complete:
            last = calls[-1].last
            if last.closed == "client-gone" and not last.fault:
                return None
            if last.open and _answered_since(history, last.start):
                return None
            return self.broken(
                history.root,
                f"It exits as a success although the root's last model call failed "
                f"({last.http_status or last.closed}).",
                last.event,
                *words,
                label="early_exit_root_cut",
            )
        return None

    def _turn(self, history: History, words: list[Event]) -> Finding | None:
        """A program that leaves while its own turn runs: a client of an app-server (``rpc``: it
        saw that), or one whose output breaks off before its answer and its last word."""
        turns = [
            event
            for event in history.of(Kind.TURN_STARTED, Kind.TURN_ENDED)
            if event.agent == history.root and (event.seen_in("rpc") or event.seen_in("stdout"))
        ]
        if not turns or turns[-1].kind is Kind.TURN_ENDED:
            return None
        if not turns[-1].seen_in("rpc") and not _breaks_off(history, turns[-1]):
            return None
        ends = [event for event in history.of(Kind.AGENT_ENDED) if event.seen_in("rpc")]
        child = ends[-1] if ends and history.precedes(turns[-1], ends[-1]) else None
        after = f" It left after the turn of {child.agent} had ended." if child else ""
        return self.broken(
            history.root,
            f"It exits as a success while the root's own turn is open.{after}",
            turns[-1],
            child,
            *words,
            label="early_exit_root_cut",
        )

    def _children(self, history: History, words: list[Event]) -> Finding | None:
        final = min(words, key=history.place)
        lost = [run for run in history.runs if _lost(history, run, final)]
        if lost:
            return self.broken(
                history.root,
                "It exits as a success though these were lost or killed: "
                f"{', '.join(run.agent for run in lost)}.",
                *words,
                *[run.end or run.start for run in lost],
                *[note for run in lost for note in run.notices[:1]],
                label="early_exit_children_lost",
                lost=len(lost),
            )
        untold = [run for run in history.runs if _failed_untold(history, run)]
        if not untold:
            return None
        return self.broken(
            history.root,
            "It exits as a success, and nobody was told of these that they failed: "
            f"{', '.join(run.agent for run in untold)}.",
            *words,
            *[run.end for run in untold],
            *[run.told for run in untold],
            label="failed_untold",
            untold=len(untold),
        )


def _answered_since(history: History, moment: float) -> bool:
    """Whether the root's own log has its answer since then: the request log stopped before it."""
    root = history.agents.get(history.root)
    return any(
        event.kind is Kind.AGENT_MESSAGE and event.get("final") and history.time(event) >= moment
        for event in (root.events if root is not None else ())
    )


def _breaks_off(history: History, turn: Event) -> bool:
    """Whether the output stops in that turn: the exit is there, an answer or a result is not."""
    if not history.of(Kind.PROCESS_EXITED) or history.losses or not history.closed:
        return False
    return not any(
        event.kind is Kind.RESULT or (event.agent == history.root and event.get("final"))
        for event in history.after(turn, Kind.RESULT, Kind.AGENT_MESSAGE)
    )


def _is_server(history: History) -> bool:
    """Whether its result is the word of a server that was spoken to (``rpc``): it exits with 0
    when its input closes, whatever it had to say."""
    talks = {event.file for event in history.events if event.source == "rpc"}
    return any(event.file in talks for event in history.of(Kind.RESULT))


def _contradiction(words: list[Event]) -> Event | None:
    """The exit code 0 of a program whose result says that it failed."""
    failed = any(word.kind is Kind.RESULT and word.get("is_error") for word in words)
    exits = [word for word in words if word.kind is Kind.PROCESS_EXITED]
    return exits[0] if failed and exits and exits[0].get("code") == 0 else None


def _is_success(words: list[Event]) -> bool:
    """Whether nothing that it says at the end is an error."""
    for event in words:
        if event.get("is_error") or event.get("status") in ("failed", "error"):
            return False
        if event.get("signal") or event.get("code") or event.get("exit_code"):
            return False
    return True


def _lost(history: History, run: Run, final: Event) -> bool:
    """Whether the run was still open at the final word, and then killed or never heard of."""
    shown = run.starts or ([run.start] if run.start is not None else [])
    elsewhere = all(start.get("ends_elsewhere") for start in shown)
    if elsewhere and not run.ends and not run.said_to_run:
        return False
    if history.may_have_lost(run) or not history.complete:
        return False
    if not run.ends:
        return run.start is not None
    killed = run.status in ("stopped", "cancelled", "interrupted")
    if not killed:
        return False
    return history.place(run.ends[0]) > history.place(final) or _fell_with_it(history, run)


def _fell_with_it(history: History, run: Run) -> bool:
    """Whether it was ended, unasked, between the end of the root's turn and the exit.

    The final word itself may be read a moment later than it was said.
    """
    end, exits = run.ends[0], history.of(Kind.PROCESS_EXITED)
    targets = {event.get("target") for event in history.of(Kind.CANCEL_REQUESTED)}
    if not exits or not history.timed or targets & {run.agent, history.root}:
        return False
    if not 0 <= history.time(exits[-1]) - history.time(end) <= EXITING:
        return False
    turns = [event for event in history.of(Kind.TURN_ENDED) if event.agent == history.root]
    return any(turn.file != end.file and history.precedes(turn, end) for turn in turns)


def _failed_untold(history: History, run: Run) -> bool:
    if not run.ends or (failure_of(history, run) is None and run.status != "failed"):
        return False
    if history.parent_of(run.agent) != history.root or hidden_from(history, run):
        return False
    words = {note.get("status") for note in run.notices if tells_end(note)}
    seen = words - {"unknown"} or words  # where one view shows what another cuts off
    return not seen & {"failed", "unknown", "cancelled", "interrupted", "stopped"}


LAW = HonestExit()
