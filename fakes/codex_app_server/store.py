"""The thread store of a state folder: a new process can resume what an older one began.

``threads.json`` holds ``{threads: {id: {createdAt, cwd, turns: [{id, items, status}],
developerInstructions, …}}, turn_cursor}``. A change reads, alters and replaces the file under
a lock of the folder, so that processes of several clients do not lose each other's turns.
"""

from __future__ import annotations

import fcntl
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FILE = "threads.json"
Data = dict[str, Any]


class Store:
    """The threads and the cursor of scripted turns."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock_path = folder / "store.lock"
        self._inside = threading.RLock()

    def read(self) -> Data:
        """Everything, as it is now."""
        try:
            found: Data = json.loads(self._path.read_text())
        except FileNotFoundError:
            found = {"threads": {}, "turn_cursor": 0}
        return found

    @contextmanager
    def changing(self) -> Iterator[Data]:
        """Everything, to be altered in place and kept when the block ends well."""
        with self._inside, self._lock_path.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            data = self.read()
            yield data
            draft = self._path.with_suffix(".tmp")
            draft.write_text(json.dumps(data, indent=1))
            draft.replace(self._path)

    def thread(self, identifier: str) -> Data | None:
        """One thread, None where it is unknown."""
        found: Data | None = self.read()["threads"].get(identifier)
        return found

    def begin(self, identifier: str, thread: Data) -> None:
        """Keep a new thread."""
        with self.changing() as data:
            data["threads"][identifier] = {"turns": [], **thread}

    def end_turn(self, thread: str, turn: Data) -> None:
        """Keep a turn that ended."""
        with self.changing() as data:
            if thread in data["threads"]:
                data["threads"][thread]["turns"].append(turn)

    def next_turn(self) -> int:
        """Advance the cursor of scripted turns; gives where it was."""
        with self.changing() as data:
            cursor = int(data["turn_cursor"])
            data["turn_cursor"] = cursor + 1
        return cursor
