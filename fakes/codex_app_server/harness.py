"""For tests of a client: put the fake on a PATH, script it, read what came over the wire.

::

    fake = install(tmp_path)
    fake.set_scenario({"turns": [{"steps": [{"kind": "message", "text": "Hello"}]}]})
    subprocess.run(["my-client"], env=fake.environment())
    assert fake.requests("turn/start")[0]["params"]["input"]
    fake.assert_wire_clean()
    fake.cleanup()

Entries are the lines of the transcript as dictionaries: see docs/fake-app-server.md.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fakes.codex_app_server import scenario, transcript
from fakes.codex_app_server.scenario import ScenarioError
from fakes.codex_app_server.steps.grandchild import RELEASE
from fakes.codex_app_server.steps.hold import FOLDER
from fakes.codex_app_server.store import Store

__all__ = ["Entry", "Harness", "ScenarioError", "install"]

Entry = dict[str, Any]


def install(folder: Path, protocol: str = "", bundle: Path | None = None) -> Harness:
    """The fake as an executable ``codex`` in ``folder/bin``, its state in ``folder/state``.

    `protocol` is the version that it speaks as, the newest where none is given; `bundle` a
    folder of schemas that a binary of that version wrote, instead of the kept table.
    """
    state, binaries = folder / "state", folder / "bin"
    for path in (state, binaries):
        path.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(Path(__file__).with_name("__main__.py"))]
    command += ["--state-dir", str(state)] + (["--protocol", protocol] if protocol else [])
    command += ["--bundle", str(bundle)] if bundle else []
    wrapper = binaries / "codex"
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    wrapper.chmod(0o755)
    return Harness(wrapper, state)


class Harness:
    """An installed fake. `codex` is its executable, `state` its folder."""

    def __init__(self, codex: Path, state: Path) -> None:
        self.codex, self.state = codex, state

    # Before and between runs of the client

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """`base` (this process's environment) with the fake first on PATH."""
        found = dict(os.environ if base is None else base)
        found["PATH"] = os.pathsep.join([str(self.codex.parent), found.get("PATH", os.defpath)])
        return found

    def set_scenario(self, data: Mapping[str, Any]) -> None:
        """Script the next turns; ScenarioError where it is wrong. The cursor stays."""
        scenario.parse(json.loads(json.dumps(data)))
        draft = self.state / "scenario.tmp"
        draft.write_text(json.dumps(data, indent=1))
        draft.replace(self.state / scenario.FILE)

    def rewind(self) -> None:
        """The next turn is the first of the script again."""
        with Store(self.state).changing() as data:
            data["turn_cursor"] = 0

    def run_clients(
        self,
        commands: Sequence[Sequence[str]],
        scenarios: Sequence[Mapping[str, Any] | None] = (),
        *,
        env: Mapping[str, str] | None = None,
        timeout: float = 60,
    ) -> list[subprocess.CompletedProcess[str]]:
        """Several runs of a client one after another, the scenario changed before each for
        which `scenarios` has one; a new scenario is played from its first turn."""
        found = []
        for number, command in enumerate(commands):
            change = scenarios[number] if number < len(scenarios) else None
            if change is not None:
                self.set_scenario(change)
                self.rewind()
            found.append(
                subprocess.run(
                    command,
                    env=self.environment(env),
                    text=True,
                    capture_output=True,
                    stdin=subprocess.DEVNULL,
                    timeout=timeout,
                    check=False,
                )
            )
        return found

    # Checkpoints

    def release(self, *names: str) -> None:
        """Let ``hold`` steps of these names go on, now or when they are reached."""
        folder = self.state / FOLDER
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).touch()

    def wait_for(self, wanted: Callable[[Entry], bool], timeout: float = 30) -> Entry:
        """The first entry for which `wanted` holds, waited for; TimeoutError."""
        end = time.monotonic() + timeout
        while True:
            for entry in self.entries():
                if wanted(entry):
                    return entry
            if time.monotonic() > end:
                raise TimeoutError("no such entry; the last: " + str(self.entries()[-3:]))
            time.sleep(0.02)

    def wait_for_event(self, event: str, timeout: float = 30, **keys: Any) -> Entry:
        """The first event of that name with these keys, waited for; TimeoutError."""
        wanted = {"event": event, **keys}
        return self.wait_for(lambda entry: wanted.items() <= entry.items(), timeout)

    # What happened

    def entries(self) -> list[Entry]:
        """All lines of the transcript, in order."""
        try:
            text = (self.state / transcript.FILE).read_text()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text.splitlines(keepends=True) if line[-1] == "\n"]

    def events(self, event: str) -> list[Entry]:
        """The events of that name."""
        return [entry for entry in self.entries() if entry.get("event") == event]

    def requests(self, method: str = "") -> list[Entry]:
        """The client's requests (of one method) as messages."""
        return _requests(self.entries(), method)

    def notifications(self, method: str = "") -> list[Entry]:
        """What the fake said of itself (of one method) as messages."""
        return [
            entry["msg"]
            for entry in self.entries()
            if entry.get("dir") == "out"
            and "id" not in entry["msg"]
            and method in ("", entry["msg"]["method"])
        ]

    def replies_to(self, method: str) -> list[Entry]:
        """The client's answers to the fake's requests of that method, as messages."""
        return [
            entry["msg"]
            for entry in self.entries()
            if entry.get("dir") == "in" and entry.get("reply_to") == method
        ]

    def violations(self) -> list[str]:
        """What the client did that the protocol forbids."""
        return [entry["violation"] for entry in self.entries() if "violation" in entry]

    def ignored_fields(self) -> list[str]:
        """``method $.place`` of what the client sent and the server silently drops."""
        return [
            f"{entry['msg'].get('method') or entry.get('reply_to', '')} {place}"
            for entry in self.entries()
            for place in entry.get("ignored", ())
        ]

    def assert_wire_clean(self) -> None:
        """AssertionError where there is a violation or a dropped field: lost intent."""
        found = self.violations() + self.ignored_fields()
        assert not found, "the client's side of the wire is not clean: " + "; ".join(found)

    def threads(self) -> dict[str, Any]:
        """The stored threads by id."""
        return dict(Store(self.state).read()["threads"])

    # Processes

    def spawned_pids(self) -> list[int]:
        """The fake's processes in the order of their start."""
        return [int(entry["pid"]) for entry in self.events("spawn")]

    def grandchild_pids(self) -> list[int]:
        """The processes that the fake left behind."""
        return [int(entry["child_pid"]) for entry in self.events("grandchild")]

    def process_entries(self, number: int) -> list[Entry]:
        """The entries of the process that was started as the nth (from 0)."""
        entries = self.entries()
        starts = [at for at, entry in enumerate(entries) if entry.get("event") == "spawn"]
        start = starts[number]
        pid = entries[start]["pid"]
        again = [at for at in starts if at > start and entries[at]["pid"] == pid]
        stop = again[0] if again else len(entries)
        return [entry for entry in entries[start:stop] if entry["pid"] == pid]

    def process_requests(self, number: int, method: str = "") -> list[Entry]:
        """The requests that the nth process (from 0) got."""
        return _requests(self.process_entries(number), method)

    def cleanup(self, timeout: float = 10) -> None:
        """End what still runs: grandchildren by their file, servers by SIGTERM, and only
        processes that are this fake's. AssertionError if one stays."""
        (self.state / RELEASE).touch()
        for pid in self.spawned_pids():
            if self.alive(pid):
                os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + timeout
        left = [*self.spawned_pids(), *self.grandchild_pids()]
        while left := [pid for pid in left if self.alive(pid)]:
            assert time.monotonic() < end, f"processes {left} of the fake do not end"
            time.sleep(0.02)

    def alive(self, pid: int) -> bool:
        """Whether that process lives and is this fake's: a number may be another's by now."""
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return any(os.fsdecode(word).startswith(str(self.state)) for word in words)


def _requests(entries: Sequence[Entry], method: str) -> list[Entry]:
    return [
        entry["msg"]
        for entry in entries
        if entry.get("dir") == "in"
        and isinstance(entry["msg"], dict)
        and {"id", "method"} <= entry["msg"].keys()
        and method in ("", entry["msg"]["method"])
    ]
