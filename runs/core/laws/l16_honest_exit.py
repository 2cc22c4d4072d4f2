"""L16: a successful exit means success."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.agents import Run, tells_end
from runs.core.ends import failure_of
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds


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
        "Exit 0, or a result that is no error, while the root's last model call failed, a run is "
        "open or was killed afterwards, or a run failed and the root was not told."
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
        if not _is_success(words):
            yield self.holds(history.root, "It does not claim success.", *words)
            return
        yield (
            self._root(history, words)
            or self._children(history, words)
            or self.holds(history.root, "It claims success, and nothing speaks against it.", *words)
        )

    def _root(self, history: History, words: list[Event]) -> Finding | None:
        calls = history.calls_of(history.root)
        if calls and not calls[-1].last.complete:
            last = calls[-1].last
            if last.closed == "client-gone" and not last.fault:
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

    def _children(self, history: History, words: list[Event]) -> Finding | None:
        final = min(words, key=history.place)
        lost = [run for run in history.runs if _lost(history, run, final)]
        if lost:
            return self.broken(
                history.root,
                f"It exits as a success with {len(lost)} runs lost or killed: "
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
            f"It exits as a success, and {len(untold)} failed runs were not told as failed: "
            f"{', '.join(run.agent for run in untold)}.",
            *words,
            *[run.end for run in untold],
            *[run.told for run in untold],
            label="failed_untold",
            untold=len(untold),
        )


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
    if all(start.get("ends_elsewhere") for start in shown) and not run.ends:
        return False
    if history.may_have_lost(run) or not history.complete:
        return False
    if not run.ends:
        return run.start is not None
    killed = run.status in ("stopped", "cancelled", "interrupted")
    return killed and history.place(run.ends[0]) > history.place(final)


def _failed_untold(history: History, run: Run) -> bool:
    if not run.ends or (failure_of(history, run) is None and run.status != "failed"):
        return False
    if history.parent_of(run.agent) != history.root:
        return False
    words = {note.get("status") for note in run.notices if tells_end(note)}
    return not words & {"failed", "unknown", "cancelled", "interrupted", "stopped"}


LAW = HonestExit()
