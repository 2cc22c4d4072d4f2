"""Behaves like omnigent's server with its runner, for the program that drives it.

python omnigent_server.py PORT [never-listens | fails | waits]
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHILD = "child0"
WAKE = "[System: sub-agent worker/a finished (completed) — 1 result waiting in inbox.]"
how = sys.argv[2] if len(sys.argv) > 2 else ""
ROOT = "lifeline" if how == "alone" else "root0"
streams: dict[str, list[dict[str, Any]]] = {ROOT: [], CHILD: []}
posted: list[Any] = []
news = threading.Condition()
spoken = threading.Event()
online = itertools.cycle((True, False))
"""Whether its runner is: at the first question, no more when it was killed, and again."""


def emit(session: str, kind: str, **more: Any) -> None:
    with news:
        streams[session].append({"type": kind, "conversation_id": session, **more})
        news.notify_all()


def row(word: str) -> None:
    child = {"id": CHILD, "current_task_status": word}
    emit(ROOT, "session.child_session.updated", child_session_id=CHILD, child=child)


def turn() -> None:
    """One prompt: a child, its end, the wake, the inbox."""
    emit(ROOT, "session.status", status="running")
    emit(ROOT, "response.in_progress", response={"id": "resp1"})
    if how == "alone":
        spoken.wait()
        emit(ROOT, "session.status", status="idle")
        return
    emit(ROOT, "session.created", child_session_id=CHILD, parent_session_id=ROOT)
    row("launching")
    emit(CHILD, "session.status", status="running")
    emit(CHILD, "response.output_text.delta", delta="CHILD")
    if how == "waits":
        spoken.wait()
    emit(CHILD, "session.status", status="idle")
    row("completed")
    emit(ROOT, "session.input.consumed", data={"data": {"content": [{"text": WAKE}]}})
    item = {"type": "function_call", "name": "sys_read_inbox", "call_id": "c1"}
    emit(ROOT, "response.output_item.done", item=item)
    item = {"type": "function_call_output", "call_id": "c1", "output": "[System: …]"}
    emit(ROOT, "response.output_item.done", item=item)
    emit(ROOT, "session.status", status="failed" if how == "fails" else "idle")


class Handler(BaseHTTPRequestHandler):
    def _say(self, found: Any, status: int = 200) -> None:
        body = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.endswith("/stream"):
            self._stream(path.split("/")[3])
            return
        found: dict[str, Any] = {
            "/v1/agents": {"data": [{"id": "a1", "name": "lifeline"}]},
            "/api/version": {"version": "9.9.9"},
            "/health": {"ok": True},
            "/v1/runners/runner-1/status": {"online": next(online)},
        }
        session = path.split("/")[3] if path.startswith("/v1/sessions/") else ""
        about = {"id": session, "asked": posted}
        self._say(found.get(path, {"data": []} if path.count("/") > 3 else about))

    def _stream(self, session: str) -> None:
        self.send_response(200)
        self.end_headers()
        events = streams[session]
        sent: list[Any] = []
        while True:
            with news:
                news.wait_for(lambda: len(events) > len(sent))
                event = events[len(sent)]
            sent.append(event)
            self.wfile.write(f"event: x\ndata: {json.dumps(event)}\n\n".encode())

    def do_POST(self) -> None:
        body = self._body()
        if self.path == "/v1/sessions":
            self._say({"id": ROOT}, 201)
            return
        posted.append([self.path, body])
        if len(posted) == 1:
            threading.Thread(target=turn, daemon=True).start()
        else:
            spoken.set()
        word = "accepted" if len(posted) == 1 else "buffered"
        self._say({"status": word} if how == "alone" else {"queued": True}, 202)

    def do_PATCH(self) -> None:
        posted_runner = self._body()
        self._say(posted_runner)

    def log_message(self, *_: Any) -> None:
        pass


if how == "never-listens":
    sys.exit(3)
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
