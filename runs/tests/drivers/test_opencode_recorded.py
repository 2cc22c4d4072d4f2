"""Recorded runs of OpenCode, judged."""

from __future__ import annotations

from pathlib import Path

from runs.core.events import Draft, Kind, number
from runs.core.history import History
from runs.core.judge import judge
from runs.core.rows import agent_rows
from runs.drivers.opencode import DRIVER
from runs.drivers.opencode.evidence import LiveBus, LiveExport
from runs.transcript import Reader, named

DATA = Path(__file__).parent / "data" / "opencode"


def replayed(folder: Path) -> History:
    """The sources of a run through the driver's own readers, in order of time."""
    readers: list[tuple[str, Reader]] = [
        ("stdout.jsonl", LiveBus("stdout.jsonl")),
        ("provider.jsonl", named("lifeline-journal").reader("provider.jsonl")),
        *((path.name, LiveExport(path.name)) for path in folder.glob("session-*.json")),
    ]
    drafts: list[Draft] = []
    for name, reader in readers:
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        for place, line in enumerate(lines, 1):
            drafts += reader.feed(line, place, 0)
        drafts += reader.end()
    times = [draft.at for draft in drafts if draft.at is not None]
    began = min(times)
    drafts.sort(key=lambda one: one.at or began)
    return History(
        [number(one, place, (one.at or began) - began) for place, one in enumerate(drafts, 1)]
    )


def test_it_finds_an_error_that_the_parent_gets_as_an_empty_success() -> None:
    history = replayed(DATA / "1.18.3-sse-error")
    found = judge(history)
    assert found.diagnosis == "provider_error_false_completion"
    child = next(row for row in agent_rows(history) if row["parent"])
    assert child["terminal"] == {"stdout": "failed", "session": "failed"}
    assert child["told"] is not None and child["told"]["status"] == "completed"
    labels = {one.law: one.label for one in found.broken}
    assert labels["L3"] == "provider_error_false_completion"
    assert DRIVER.runtime(history, None).version == "1.18.3"  # type: ignore[arg-type]


def test_it_finds_that_a_version_without_headers_asks_again_without_a_pause() -> None:
    history = replayed(DATA / "1.2.27-sse-cut")
    found = judge(history)
    assert found.diagnosis == "retry_storm"
    (storm,) = [one for one in found.broken if one.law == "L6"]
    (child,) = history.children
    assert (storm.agent, storm.figures["attempts"]) == (child.id, 10)
    assert child.depth == 1
    assert not history.of(Kind.MODEL_RETRY)
    assert {status.get("raw") for status in history.of(Kind.STATUS)} == {"busy"}


def test_it_calls_no_stream_cut_where_a_person_stopped_the_sub_agent() -> None:
    history = replayed(DATA / "1.2.27-interrupt-child")
    found = judge(history)
    labels = {one.law: one.label for one in found.broken}
    assert labels == {"L3": "told_wrong"}  # the call's answer is an empty “completed”
    assert found.diagnosis == "notice_lost"
    child = next(row for row in agent_rows(history) if row["parent"])
    assert child["terminal"] == {"stdout": "interrupted", "session": "cancelled"}
    assert (child["true_end"], child["told"]["status"]) == ("aborted", "completed")
    verdicts = {one.law: one.verdict.value for one in found.findings if one.agent == child["id"]}
    assert (verdicts["L2"], verdicts["L7"]) == ("unknown", "holds")
