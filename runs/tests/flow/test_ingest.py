"""Bytes become lines, lines become drafts; nothing is dropped without a word."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from runs.core.events import Draft, Kind
from runs.driver import Source
from runs.ingest import LINE_LIMIT, LineFeed, Tail
from runs.workspace import Workspace


class Lines:
    """A reader that gives one draft a line."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.facts: dict[str, Any] = {}

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        yield Draft(
            kind=Kind.OTHER,
            source="stdout",
            file=self.file,
            line=number,
            offset=offset,
            length=len(line),
            data={"type": line.decode().strip()},
        )

    def end(self) -> Iterable[Draft]:
        return ()


def feed_of(path: Path, drafts: list[Draft]) -> LineFeed:
    return LineFeed(path, "stdout", Lines(path.name), drafts.append)


def test_it_cuts_lines_wherever_the_bytes_are_cut(tmp_path: Path) -> None:
    whole = b"one\ntwo\n\nlast without newline"
    for size in (1, 2, 5, 100):
        drafts: list[Draft] = []
        feed = feed_of(tmp_path / f"{size}.jsonl", drafts)
        for start in range(0, len(whole), size):
            feed.feed(whole[start : start + size])
        feed.close()
        assert [(d.line, d.offset, d.data["type"]) for d in drafts] == [
            (1, 0, "one"),
            (2, 4, "two"),
            (3, 8, ""),
            (4, 9, "last without newline"),
        ]
        assert (tmp_path / f"{size}.jsonl").read_bytes() == whole


def test_it_names_a_line_that_is_too_long_and_goes_on(tmp_path: Path) -> None:
    drafts: list[Draft] = []
    feed = feed_of(tmp_path / "out.jsonl", drafts)
    feed.feed(b"before\n")
    for _ in range(3):
        feed.feed(b"x" * (LINE_LIMIT // 2))
    feed.feed(b"end\nafter\n")
    feed.close()
    assert [d.kind for d in drafts] == [Kind.OTHER, Kind.DAMAGE, Kind.OTHER]
    assert drafts[1].line == 2 and drafts[1].data["what"] == "too-long"
    assert drafts[2].line == 3 and drafts[2].data["type"] == "after"


def tail_of(workspace: Workspace, drafts: list[Draft]) -> Tail:
    source = Source(name="session", reader=Lines, glob="home/*/events.jsonl")
    return Tail(source, workspace, drafts.append)


def test_it_follows_a_file_that_appears_and_grows(tmp_path: Path) -> None:
    workspace, drafts = Workspace(tmp_path / "run", sealed=False), list[Draft]()
    tail = tail_of(workspace, drafts)
    tail.poll()
    path = workspace.home / "s1" / "events.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"one\ntw")
    tail.poll()
    with path.open("ab") as file:
        file.write(b"o\nthree")
    tail.poll()
    assert [d.data["type"] for d in drafts] == ["one", "two"]
    tail.close(within=1 << 20)
    assert [d.data["type"] for d in drafts] == ["one", "two", "three"]
    kept = workspace.sources / "session-events.jsonl"
    assert kept.read_bytes() == b"one\ntwo\nthree"


def test_a_file_that_is_written_anew_is_read_once_and_at_the_end(tmp_path: Path) -> None:
    workspace, drafts = Workspace(tmp_path / "run", sealed=False), list[Draft]()
    source = Source(name="session", reader=Lines, glob="home/*.json", late=True)
    tail = Tail(source, workspace, drafts.append)
    path = workspace.home / "about.json"
    for text in (b"it runs\n", b"ended\n"):
        path.write_bytes(text)
        assert tail.poll() == 0
    tail.close(within=1 << 20)
    assert [d.data["type"] for d in drafts] == ["ended"]
    assert (workspace.sources / "session-about.json").read_bytes() == b"ended\n"


def test_it_does_not_follow_a_link_out_of_the_run(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret\n")
    workspace, drafts = Workspace(tmp_path / "run", sealed=False), list[Draft]()
    (workspace.home / "s1").mkdir()
    (workspace.home / "s1" / "events.jsonl").symlink_to(secret)
    (workspace.home / "s2").symlink_to(tmp_path)
    tail = tail_of(workspace, drafts)
    tail.poll()
    tail.close(within=1 << 20)
    assert not any("secret" in str(d.data.get("type", "")) for d in drafts)
