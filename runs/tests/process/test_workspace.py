"""The run's folder: what the agent gets, what stays, and that nothing of it is trusted."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from runs.errors import HarnessError
from runs.workspace import Workspace, open_beneath, remove


def test_it_is_fresh_and_private_and_never_used_twice(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "runs" / "one", sealed=True)
    assert stat.S_IMODE(workspace.home.stat().st_mode) == 0o700
    with pytest.raises(HarnessError, match="used before"):
        Workspace(tmp_path / "runs" / "one", sealed=True)


def test_it_knows_how_the_agent_sees_it(tmp_path: Path) -> None:
    sealed = Workspace(tmp_path / "sealed", sealed=True)
    assert sealed.inside.home == Path("/w/home")
    assert sealed.outside(Path("/w/home/.config/x")) == sealed.home / ".config/x"
    plain = Workspace(tmp_path / "plain", sealed=False)
    assert plain.inside.work == plain.work
    assert plain.paths_inside(True).logs == Path("/w/logs")
    for path in ("/w/sources/x", "/etc/passwd", "/w/home/../../etc", "/w", "home/x"):
        with pytest.raises(HarnessError, match="outside"):
            sealed.outside(Path(path))


def test_it_writes_configuration_and_lays_own_copies(tmp_path: Path) -> None:
    prepared = tmp_path / "prepared"
    (prepared / "deep").mkdir(parents=True)
    (prepared / "deep" / "tool").write_text("#!/bin/sh\n")
    (prepared / "deep" / "tool").chmod(0o755)
    (prepared / "link").symlink_to("deep/tool")
    workspace = Workspace(tmp_path / "run", sealed=True)
    workspace.write({Path("/w/home/.config/agent/config.toml"): "x = 1\n"})
    workspace.lay({Path("/w/home/cache"): prepared})
    assert (workspace.home / ".config/agent/config.toml").read_text() == "x = 1\n"
    copy = workspace.home / "cache" / "deep" / "tool"
    assert copy.stat().st_mode & 0o111
    assert (workspace.home / "cache" / "link").readlink() == Path("deep/tool")
    copy.write_text("changed")
    assert (prepared / "deep" / "tool").read_text() == "#!/bin/sh\n"


def test_it_makes_the_whole_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("PATH", "/somewhere/private")
    workspace = Workspace(tmp_path / "run", sealed=True)
    env = workspace.environment({"TERM": "xterm"}, [Path("/opt/node/bin")])
    assert env["PATH"].startswith("/opt/node/bin:/usr/local/bin:/usr/bin")
    assert env["HOME"] == "/w/home"
    assert env["TERM"] == "xterm"
    assert "OPENAI_API_KEY" not in env
    assert not any("private" in value or str(tmp_path) in value for value in env.values())


def test_it_finds_files_by_pattern_and_leaves_the_folder_for_none(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "run", sealed=True)
    for name in ("a/1/events.jsonl", "a/2/events.jsonl", "a/2/other.log"):
        path = workspace.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = workspace.glob("home/a/*/events.jsonl")
    assert [path.parent.name for path in found] == ["1", "2"]
    assert len(workspace.glob("home/**/*")) == 3
    for pattern in ("../*", "/etc/*"):
        with pytest.raises(HarnessError, match="leaves"):
            workspace.glob(pattern)


def test_it_opens_nothing_by_way_of_a_parent_or_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    for path in ("../secret", "link/secret", str(tmp_path / "secret"), "none"):
        with pytest.raises(OSError):
            open_beneath(folder, Path(path))


def test_it_is_cut_down_to_sources_bodies_and_bounded_logs(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "run", sealed=True)
    (workspace.sources / "stdout.jsonl").write_bytes(b"x" * 100)
    (workspace.bodies / "r1.json").write_bytes(b"x" * 10)
    (workspace.logs / "deep").mkdir()
    (workspace.logs / "deep" / "process.log").write_bytes(b"x" * 5_000_000)
    (workspace.home / "token").write_text("secret")
    (workspace.home / "shut").mkdir()
    (workspace.home / "shut" / "in").touch()
    (workspace.home / "shut").chmod(0)
    kept = tmp_path / "kept"
    kept.write_text("kept")
    (workspace.logs / "hard").hardlink_to(kept)
    assert workspace.cut_down(file_mib=1) == 110 + 1024 * 1024
    assert sorted(path.name for path in workspace.root.iterdir()) == ["bodies", "logs", "sources"]
    assert kept.stat().st_size == 4
    workspace.delete()
    assert not workspace.root.exists()
    assert kept.exists()
    remove(workspace.root)
