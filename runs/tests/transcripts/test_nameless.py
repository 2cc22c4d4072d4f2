"""Rollouts that lost the record of whose they are: by their name, their mail or their parent."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.tests.transcripts.helpers import OWN, RECORDED, broken
from runs.transcript import Case, read_case
from runs.transcripts._report import report

V1 = next(path for path in OWN if path.name.startswith("110-"))
FOLDERS = [
    RECORDED / "codex/0.120.0/app-v2-clean-eof",
    RECORDED / "codex/0.171.0/app-v1-clean-eof",
    RECORDED / "codex/0.171.0/app-v2-clean-eof",
    RECORDED / "codex/0.171.0/app-v2-success",
]


def _lacking(folder: Path, into: Path, *, which: str, renamed: bool, lines: int = 1) -> Case:
    """The two rollouts of a recording, `which` of them without its first lines."""
    root, child = sorted(folder.glob("rollout-*.jsonl"), key=lambda path: "spawn" in _meta(path))
    for name, path in (("root", root), ("child", child)):
        kept = path.read_bytes().splitlines(keepends=True)[lines if name == which else 0 :]
        (into / (f"{name}.jsonl" if renamed else path.name)).write_bytes(b"".join(kept))
    return read_case([into])


def _meta(path: Path) -> str:
    return (
        path.read_text().split("\n", 1)[0].replace("thread_spawn", "spawn").partition('"spawn"')[1]
    )


def _agents(found: Case) -> list[tuple[str, str | None, list[str]]]:
    rows = report(found)["agents"]
    return sorted((row["id"], row["parent"], row["terminals"]) for row in rows)


@pytest.mark.parametrize("renamed", [False, True], ids=["named", "renamed"])
@pytest.mark.parametrize("which", ["root", "child"])
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_it_finds_whose_a_rollout_is_and_judges_it_alike(
    folder: Path, which: str, renamed: bool, tmp_path: Path
) -> None:
    for name in ("whole", "lacking"):
        (tmp_path / name).mkdir()
    whole = _lacking(folder, tmp_path / "whole", which="", renamed=False)
    found = _lacking(folder, tmp_path / "lacking", which=which, renamed=renamed)
    assert [one["what"] for one in found.damage] == ["missing-start"]
    if renamed and folder.parent.name == "0.120.0" and which == "child":
        # Its id stood nowhere else: its path in the tree names it.
        assert {law for law, _ in broken(found)} == {law for law, _ in broken(whole)}
        assert "/root/probe_child" in [name for name, _, _ in _agents(found)]
    else:
        assert broken(found) == broken(whole)
        assert _agents(found) == _agents(whole)


@pytest.mark.parametrize("which", ["root", "child"])
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_more_lines_may_have_held_breaks_no_law(
    folder: Path, which: str, tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    known = broken(_lacking(folder, whole, which="", renamed=False))
    for lines in (2, 4, 8, 12, 16, 20):
        into = tmp_path / str(lines)
        into.mkdir()
        found = _lacking(folder, into, which=which, renamed=False, lines=lines)
        assert broken(found) <= known, lines


def test_its_own_children_are_not_meant(tmp_path: Path) -> None:
    root = next(path for path in (V1 / "sessions").iterdir() if "parent" in path.name)
    lines = root.read_bytes().splitlines(keepends=True)[1:]
    (tmp_path / "log.jsonl").write_bytes(b"".join(lines))
    found = read_case([tmp_path])
    assert found.history.root == "log"
    assert broken(found) == set()
