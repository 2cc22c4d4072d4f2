"""Says what a case lacks, and what therefore cannot be judged."""

from __future__ import annotations

from collections.abc import Sequence

from runs.core.events import Kind
from runs.core.history import History
from runs.transcripts._reading import ReadFile


def missing(history: History, files: Sequence[ReadFile]) -> list[str]:
    """One sentence for each thing that is not there."""
    found: list[str] = []
    if not history.of(Kind.REQUEST_RECEIVED, Kind.REQUEST_ENDED):
        found.append(
            "No request log of the provider: attempts, gaps and what really happened on the wire "
            "are not known, so the retry policy (L6) can hardly be judged."
        )
    if not history.of(Kind.PROCESS_EXITED, Kind.RESULT):
        found.append("No exit code or result: whether the exit was honest (L16) is not known.")
    if not history.of(Kind.SESSION_ENDED, Kind.PROCESS_EXITED, Kind.CAPTURE_ENDED, Kind.RESULT):
        found.append(
            "No record of the end: the files are taken to be complete up to their latest time."
        )
    if not history.timed:
        found.append("No times: silence (L5), gaps and delays cannot be judged.")
    if any(file.format is not None and file.format.agent == "codex" for file in files):
        found.extend(_without_own_file(history))
    cut = [one for one in history.losses if one.get("what") in ("truncated", "half-line")]
    if cut:
        found.append(f"{len(cut)} records are cut off; what they said is lost.")
    return found


def _without_own_file(history: History) -> list[str]:
    names = [
        agent.id
        for agent in history.children
        if not any(event.source in ("session", "rpc") for event in agent.events)
    ]
    if not names:
        return []
    shown = ", ".join(names[:5])
    return [f"No own log of {shown}: their last state is only known from their parent."]
