"""Runs inside the seal, by itself: starts OpenCode, drives its server, prints what it hears.

    python -I inside.py PLAN.json

The agent's network is sealed, so nobody outside can reach its server; this program
sits beside it. Standard output gets one JSON object a line:

    {"time": seconds, "payload": EVENT}                      an event of the bus, byte for byte
    {"time": seconds, "type": "client/…", …}                 what this client asked and was answered

When it is over, or when it is told to end, it writes each stored session as
``exports/SESSION.json`` out of the agent's own database. It uses the standard library
alone and is written into the run, not imported.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

LISTENS = re.compile(r"listening on http://([\d.]+):(\d+)")
QUIET = 1.0
"""Seconds without a busy session and without an event after which everything is over."""
PAUSE = 0.25
AWAY = 70
"""Exit code when the server did not start or went away."""
_lock = threading.RLock()


def say(kind: str, **more: Any) -> None:
    """One line of this client's own."""
    _write(json.dumps({"time": time.time(), "type": kind, **more}))


def _write(line: str) -> None:
    with _lock:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


class Away(Exception):
    """The server does not answer (any more)."""


class Client:
    """Talks to the server. `plan`: form, argv, message, answer, interrupt, exports, data, depth."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.server: subprocess.Popen[str] | None = None
        self.address = ("", 0)
        self.heard = threading.Event()
        self.last = 0.0
        self.parents: dict[str, str] = {}
        self.interrupts = str(plan.get("interrupt") or "none")
        """Whose session is still to be aborted: parent, child, none."""

    def serve(self) -> int:
        """Start the server, hand it the prompt, stay until nothing is busy.

        Gives the exit code of a client: 1 when the prompt's own answer is an error.
        """
        self.server = subprocess.Popen(self.plan["argv"], stdout=subprocess.PIPE, text=True)
        try:
            self._find()
            threading.Thread(target=self._listen, daemon=True).start()
            self.heard.wait(30)
            if "depth" in self.plan:
                say("client/limit", name="subagent_depth", value=self.plan["depth"])
            session = self._ask("POST", "/session", {})["id"]
            answer = self._ask("POST", f"/session/{session}/message", self.plan["message"])
            self._settle()
            say("client/settled")
            self._ask("GET", f"/session/{session}/children")
        except (Away, KeyError, TypeError) as trouble:
            say("client/trouble", error=f"{type(trouble).__name__}: {trouble}")
            return AWAY
        finally:
            self.stop()
        info = answer.get("info") if isinstance(answer, dict) else None
        return 0 if info and not info.get("error") else 1

    def run(self) -> int:
        """Start it with the prompt on its command line; its own exit code."""
        self.server = subprocess.Popen(self.plan["argv"], text=True)
        return self.server.wait()

    def stop(self) -> None:
        """End the server; what it has stored is whole afterwards."""
        server = self.server
        if server is None or server.poll() is not None:
            return
        server.terminate()
        try:
            server.wait(3)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()

    def _find(self) -> None:
        """Where the server listens, by what it prints; everything that it prints is kept."""
        assert self.server is not None and self.server.stdout is not None
        for line in self.server.stdout:
            say("client/server", line=line.rstrip()[:2000])
            found = LISTENS.search(line)
            if found:
                self.address = (found[1], int(found[2]))
                threading.Thread(target=self._drain, daemon=True).start()
                return
        raise Away(f"it ended with {self.server.wait()} before it listened")

    def _drain(self) -> None:
        assert self.server is not None and self.server.stdout is not None
        for line in self.server.stdout:
            say("client/server", line=line.rstrip()[:2000])

    def _connect(self, limit: float | None) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(*self.address, timeout=limit)

    def _listen(self) -> None:
        """Print every event of the bus as it comes."""
        try:
            connection = self._connect(None)
            connection.request("GET", "/event", headers={"accept": "text/event-stream"})
            for raw in connection.getresponse():
                self.heard.set()
                line = raw.decode("utf-8", "replace").strip()
                if line.startswith("data:"):
                    self._event(line[5:].strip())
        except (OSError, http.client.HTTPException) as trouble:
            say("client/bus-ended", error=type(trouble).__name__)
        else:
            say("client/bus-ended", error="")

    def _event(self, data: str) -> None:
        self.last = time.monotonic()
        try:
            inner = json.loads(data)
        except ValueError:
            say("client/bus-text", text=data[:2000])
            return
        _write(f'{{"time":{time.time():.6f},"payload":{data}}}')
        kind, given = str(inner.get("type")), inner.get("properties") or {}
        if self.plan.get("answer") and kind == "permission.asked":
            # Say yes once, as a person at the client would.
            self._aside("POST", f"/permission/{given.get('id', '')}/reply", {"reply": "once"})
        if self.interrupts != "none":
            self._interrupt(kind, given)

    def _interrupt(self, kind: str, given: dict[str, Any]) -> None:
        """Abort one session once, as a person at the client would, while the child works.

        The child's as soon as its model's answer comes, the parent's as soon as the child asks.
        """
        info, part = given.get("info") or {}, given.get("part") or {}
        if kind == "session.created" and info.get("parentID"):
            self.parents[info["id"]] = info["parentID"]
        child = str(part.get("sessionID") or info.get("sessionID") or "")
        asks = info.get("role") == "assistant"
        if child in self.parents and (
            part.get("type") == "step-start" if self.interrupts == "child" else asks
        ):
            target = child if self.interrupts == "child" else self.parents[child]
            self.interrupts = "none"
            say("client/interrupted", session=target)
            self._aside("POST", f"/session/{target}/abort", {})

    def _aside(self, method: str, path: str, body: Any) -> None:
        """Ask without waiting for the answer: the bus is read on."""
        threading.Thread(target=self._try, args=(method, path, body), daemon=True).start()

    def _try(self, method: str, path: str, body: Any) -> None:
        try:
            self._ask(method, path, body)
        except Away as trouble:
            say("client/trouble", error=str(trouble))

    def _ask(self, method: str, path: str, body: Any = None, quietly: bool = False) -> Any:
        """One request; its answer is printed as it came. Waits as long as it takes."""
        if not quietly:
            say("client/asked", request=f"{method} {path}")
        try:
            connection = self._connect(None)
            headers = {"content-type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
            connection.close()
        except (OSError, http.client.HTTPException) as trouble:
            raise Away(f"{method} {path}: {type(trouble).__name__}") from None
        try:
            found = json.loads(text) if text else None
        except ValueError:
            found = text[:2000]
        if not quietly:
            request = f"{method} {path}"
            say("client/answered", request=request, status=response.status, body=found)
        return found

    def _settle(self) -> None:
        """Stay while a session is busy (background children may be) or the bus goes on telling."""
        since = time.monotonic()
        while time.monotonic() - max(since, self.last) < QUIET:
            busy = self._ask("GET", "/session/status", quietly=True)
            if isinstance(busy, dict) and any(_open(one) for one in busy.values()):
                since = time.monotonic()
            time.sleep(PAUSE)


def _open(status: Any) -> bool:
    return isinstance(status, dict) and status.get("type") != "idle"


# What it stored


def export(data: Path, folder: Path) -> None:
    """Write each session of the database in `data` as a document like ``opencode export``'s."""
    path = max(data.glob("opencode*.db"), key=lambda one: one.stat().st_mtime, default=None)
    if path is None:
        say("client/trouble", error="there is no database of sessions")
        return
    folder.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        for row in connection.execute("SELECT * FROM session ORDER BY time_created").fetchall():
            document = {"info": _info(dict(row)), "messages": _messages(connection, row["id"])}
            name = re.sub(r"[^\w-]", "_", str(row["id"]))[:80]
            making = folder / f".{name}"
            making.write_text(json.dumps(document), encoding="utf-8")
            making.rename(folder / f"{name}.json")
    except sqlite3.Error as trouble:
        say("client/trouble", error=f"the database cannot be read: {trouble}")
    finally:
        connection.close()


def _info(row: dict[str, Any]) -> dict[str, Any]:
    """A session's row in the words of the API."""
    return {
        "id": row["id"],
        "parentID": row.get("parent_id") or "",
        "title": row.get("title"),
        "version": row.get("version"),
        "directory": row.get("directory"),
        "agent": row.get("agent"),
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
    }


def _messages(connection: sqlite3.Connection, session: str) -> list[dict[str, Any]]:
    parts: dict[str, list[dict[str, Any]]] = {}
    ask = "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id"
    for row in connection.execute(ask, (session,)):
        part = {**json.loads(row["data"]), "id": row["id"]}
        parts.setdefault(row["message_id"], []).append(part)
    ask = "SELECT id, data FROM message WHERE session_id = ? ORDER BY id"
    return [
        {
            "info": {**json.loads(row["data"]), "id": row["id"], "sessionID": session},
            "parts": parts.get(row["id"], []),
        }
        for row in connection.execute(ask, (session,))
    ]


def main() -> int:
    """From the plan to the exports."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    client = Client(plan)
    folder = Path(plan["exports"])

    def told_to_end(*ignored: object) -> None:
        if client.server is not None and client.server.poll() is None:
            client.server.kill()
        export(Path(plan["data"]), folder)
        os._exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, told_to_end)
    code = client.run() if plan["form"] == "run" else client.serve()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    export(Path(plan["data"]), folder)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
