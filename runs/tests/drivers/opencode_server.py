"""A small server that behaves like the agent's, for the program that runs beside it.

python opencode_server.py DATABASE
    [never-listens | never-answers | has-a-child | fails | tells-late]
"""

from __future__ import annotations

import json
import queue
import sqlite3
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHILD = (
    ("session.created", {"info": {"id": "ses_child", "parentID": "ses_root"}}),
    ("message.updated", {"info": {"sessionID": "ses_child", "role": "user"}}),
    ("message.updated", {"info": {"sessionID": "ses_child", "role": "assistant"}}),
    ("message.part.updated", {"part": {"sessionID": "ses_child", "type": "step-start"}}),
)
HEARD: queue.Queue[dict[str, Any]] = queue.Queue()
ABORTED = threading.Event()
BUSY = [{"ses_child": {"type": "busy"}}, {"ses_child": {"type": "retry", "attempt": 1}}]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *ignored: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/event":
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self._event({"type": "server.connected", "properties": {}})
            while True:
                self._event(HEARD.get())
        self._answer((BUSY.pop() if BUSY else {}) if self.path == "/session/status" else [])

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/session":
            self._answer({"id": "ses_root"})
        elif self.path.endswith("/reply"):
            HEARD.put({"type": "permission.replied", "properties": {"path": self.path}})
            self._answer(True)
        elif self.path.endswith("/abort"):
            HEARD.put({"type": "session.error", "properties": {"path": self.path}})
            ABORTED.set()
            self._answer(True)
        elif sys.argv[2:] == ["has-a-child"]:
            for kind, given in CHILD:
                HEARD.put({"type": kind, "properties": given})
            ABORTED.wait(30)
            self._answer({"info": {"sessionID": "ses_root", "finish": "stop"}, "parts": []})
        elif sys.argv[2:] == ["tells-late"]:
            threading.Thread(target=_tell_late, daemon=True).start()
            self._answer({"info": {"sessionID": "ses_root", "finish": "stop"}, "parts": []})
        else:
            HEARD.put({"type": "permission.asked", "properties": {"id": "per_1"}})
            while sys.argv[2:] == ["never-answers"]:
                time.sleep(60)
            info = {"error": {"name": "APIError"}} if "fails" in sys.argv else {"finish": "stop"}
            self._answer({"info": {"sessionID": "ses_root", **info}, "parts": []})

    def _event(self, event: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def _answer(self, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _tell_late() -> None:
    """A bus that is well behind: the last of it comes four seconds after the answer."""
    for number in range(20):
        HEARD.put({"type": "message.part.delta", "properties": {"number": number}})
        time.sleep(0.2)
    HEARD.put({"type": "session.idle", "properties": {"sessionID": "ses_child"}})


def fill(path: str) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE session (id, parent_id, title, version, time_created)")
        database.execute("CREATE TABLE message (id, session_id, data)")
        database.execute("CREATE TABLE part (id, message_id, session_id, data)")
        for row in (
            ("ses_root", None, "r", "9.9.9", 1),
            ("ses_child", "ses_root", "c", "9.9.9", 2),
        ):
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
        message = json.dumps({"role": "assistant", "finish": "stop"})
        database.execute("INSERT INTO message VALUES ('m1', 'ses_child', ?)", (message,))
        part = json.dumps({"type": "text", "text": "CHILD-OK"})
        database.execute("INSERT INTO part VALUES ('p1', 'm1', 'ses_child', ?)", (part,))


def main() -> None:
    fill(sys.argv[1])
    if sys.argv[2:] == ["never-listens"]:
        sys.exit(3)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
