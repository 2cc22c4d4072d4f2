"""The operator's client: makes a session, hands over the prompt, hears everything, waits."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .api import Api
from .parts import Away, Part, free_port, say, write

QUIET = 2.0
"""Seconds of rest after which everything is over."""
LOST = 100.0
"""Seconds that a parent may wait, with no child at work, before nobody is expected any more: the
server itself gives a runner up after 90."""
START = 150.0
"""Seconds that a part may take to start: a busy machine is slow."""
NOTICED = 5.0
"""Seconds within which a server notices that its runner is gone."""
PAUSE = 0.1
AWAY = 70
"""Exit code when a part did not start or went away."""
RESTING = ("idle", "failed")
ENDED = ("completed", "failed", "cancelled")
WAKE, INBOX = "[System: sub-agent ", "sys_read_inbox"
INTERRUPT = {"type": "interrupt", "data": {}}


class Client:
    """Talks to the server. `plan`: see the driver's ``plan``."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        port = free_port()
        self.api = Api(port)
        logs = Path(plan["logs"])
        self.alone: bool = plan["alone"]
        """Whether there is no server: the runner is asked itself."""
        server, runner = (
            [word.replace("{port}", str(port)) for word in plan[name]]
            for name in ("server", "runner")
        )
        self.server = Part("server", server, {}, logs)
        env = {**plan["runner_env"], "RUNNER_SERVER_URL": f"http://127.0.0.1:{port}"}
        self.runner = Part("runner", runner, env, logs)
        self.runner_id = ""
        self.root = ""
        self.status: dict[str, str] = {}
        """The latest word of each session's own stream."""
        self.children: set[str] = set()
        self.heard = time.monotonic()
        self.deed, self.when = plan["deed"], plan["when"]
        self.begun = self.done = not self.deed
        self.stay = 0.0
        """Until when nobody leaves: a runner that is back takes its sessions up by and by."""
        self.reads: set[str] = set()
        """Calls by which the parent reads its inbox."""

    def run(self) -> int:
        """From the start to rest; the exit code is 0 when the parent ended idle."""
        say("plan", **{key: self.plan[key] for key in ("setup", "deed", "when")})
        try:
            self._begin()
            self._post(self.root, self.plan["message"])
            self._settle()
            say("settled", status=self.status.get(self.root, ""), missed=not self.begun)
            return 0 if self.status.get(self.root) == "idle" else 1
        except Away as trouble:
            say("trouble", error=str(trouble))
            return AWAY

    def _begin(self) -> None:
        if self.alone:
            self._begin_alone()
            return
        self.server.start()
        # Which runner a token may be is the agent's own rule: its own code is asked.
        self.runner_id = self.runner.env["OMNIGENT_RUNNER_ID"] = self._told("identity")
        agent = self._agent()
        about = self.api.look("/api/version") or {}
        self.server.tell("online", version=str(about.get("version", "")))
        self._start_runner()
        self.root = str(self.api.ask("POST", "/v1/sessions", {"agent_id": agent})["id"])
        self.status[self.root] = ""
        bound = {"runner_id": self.runner_id}
        self.api.ask("PATCH", f"/v1/sessions/{self.root}", bound)
        self._follow(self.root)

    def _begin_alone(self) -> None:
        version = self._told("version")
        self._start_runner(version)
        self.root = "lifeline"
        self.status[self.root] = ""
        asked = {"session_id": self.root, "agent_id": self.plan["agent"]}
        self.api.ask("POST", "/v1/sessions", asked)
        self._follow(self.root)

    def _told(self, what: str) -> str:
        """What a command of the plan prints."""
        try:
            told = subprocess.run(self.plan[what], capture_output=True, text=True, check=True)
        except (OSError, subprocess.SubprocessError) as trouble:
            raise Away(f"no {what}: {type(trouble).__name__}") from None
        return told.stdout.strip()

    def _agent(self) -> str:
        """Wait for the server; the id of the agent that it was started with."""
        for _ in self._patience(self.server):
            found = self.api.look("/v1/agents")
            for one in (found or {}).get("data", []):
                if one.get("name") == self.plan["agent"]:
                    return str(one["id"])
        raise Away("the server did not come up")

    def _offline(self) -> None:
        """Wait until its server has heard of the runner's death: its last word may still stand."""
        limit = time.monotonic() + NOTICED
        while self._online() and time.monotonic() < limit:
            time.sleep(PAUSE)

    def _online(self) -> bool:
        found = self.api.look("/health" if self.alone else f"/v1/runners/{self.runner_id}/status")
        return bool(found) and (self.alone or bool(found.get("online")))

    def _start_runner(self, version: str = "") -> None:
        self.runner.start()
        for _ in self._patience(self.runner):
            if self._online():
                self.runner.tell("online", **({"version": version} if version else {}))
                return
        raise Away("the runner did not come up")

    def _patience(self, part: Part) -> Iterator[None]:
        limit = time.monotonic() + START
        while time.monotonic() < limit:
            if part.gone():
                raise Away(f"the {part.name} ended before it answered")
            yield
            time.sleep(PAUSE)

    # Streams

    def _follow(self, session: str) -> None:
        """Hear a session's stream from now on; gives back when it is open."""
        opened = threading.Event()
        threading.Thread(target=self._stream, args=(session, opened), daemon=True).start()
        opened.wait(30)

    def _stream(self, session: str, opened: threading.Event) -> None:
        try:
            for text in self.api.stream(session):
                opened.set()
                if text:
                    self._event(session, text)
        except (OSError, http.client.HTTPException) as trouble:
            say("stream-ended", session=session, error=type(trouble).__name__)
        finally:
            opened.set()

    def _event(self, session: str, text: str) -> None:
        try:
            event = json.loads(text)
        except ValueError:
            return
        write({"t": time.time(), "kind": "sse", "session": session, "data": event})
        kind = str(event.get("type", ""))
        if kind != "session.heartbeat":
            self.heard = time.monotonic()
        if kind == "session.status":
            self.status[str(event.get("conversation_id") or session)] = str(event.get("status"))
        if not self.begun and self.when in self._moments(session, kind, event):
            self.begun = True
            threading.Thread(target=self._do, args=(session,), daemon=True).start()
        child = str(event.get("child_session_id") or "")
        if child and child not in self.children:
            self.children.add(child)
            self.status.setdefault(child, "launching")
            threading.Thread(target=self._follow, args=(child,), daemon=True).start()
        word = (event.get("child") or {}).get("current_task_status")
        if child and word:
            ended = "failed" if word == "failed" else "idle"
            self.status[child] = ended if word in ENDED else "running"

    # Rest

    def _settle(self) -> None:
        """Stay while any session works, or a parent waits for one that may still wake it."""
        since = time.monotonic()
        while time.monotonic() - since < QUIET:
            time.sleep(PAUSE)
            if not self.alone and self.server.gone():
                raise Away("the server went away")
            parent = self.status.get(self.root, "")
            works = any(self.status.get(one) not in RESTING for one in self.children)
            forgotten = not works and time.monotonic() - self.heard > LOST
            waits = works or parent not in RESTING or (self.begun and not self.done)
            waits |= time.monotonic() < self.stay
            if waits and not forgotten:
                since = time.monotonic()

    # The deed of a run that has one

    def _moments(self, session: str, kind: str, event: dict[str, Any]) -> list[str]:
        """What this event is the moment of, in the words of the driver's options."""
        found, item = [], event.get("item") or {}
        if kind == "response.in_progress" and session == self.root:
            found.append("parent-running")
        if kind == "response.output_text.delta" and session in self.children:
            found.append("child-running")
        if (event.get("child") or {}).get("current_task_status") in ENDED:
            found.append("child-ended")
        if kind == "session.input.consumed" and WAKE in json.dumps(event):
            found.append("child-woken")
        if item.get("name") == INBOX:
            self.reads.add(str(item.get("call_id")))
        if item.get("type") == "function_call_output" and item.get("call_id") in self.reads:
            found.append("child-told")
        return found

    def _do(self, session: str) -> None:
        """Kill the runner (and start it again), speak while the parent works, or interrupt."""
        try:
            if self.deed == "interrupt":
                say("interrupted", session=session)
                self.api.ask("POST", f"/v1/sessions/{session}/events", INTERRUPT)
            elif self.deed == "speak":
                self._post(session, self.plan["second"])
            else:
                self.runner.kill()
                if self.deed == "restart":
                    self._offline()
                    self._start_runner()
                    self.stay = time.monotonic() + self.plan["rest"]
        except Away as trouble:
            say("trouble", error=str(trouble))
        self.done = True

    def _post(self, session: str, text: str) -> None:
        data = {"role": "user", "content": [{"type": "input_text", "text": text}]}
        body: dict[str, Any] = {"type": "message", "data": data}
        if self.alone:
            body = {"type": "message", "agent_id": self.plan["agent"], **data}
        self.api.ask("POST", f"/v1/sessions/{session}/events", body)

    # What is stored

    def export(self, limit: float) -> None:
        """Write each session as the server has stored it, all at once: it may be going down."""
        folder = Path(self.plan["exports"])
        folder.mkdir(parents=True, exist_ok=True)
        stored = self.root and not self.alone
        sessions = [self.root, *sorted(self.children)] if stored else []
        writers = [
            threading.Thread(target=self._export, args=(folder, one, limit), daemon=True)
            for one in sessions
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(3 * limit)

    def _export(self, folder: Path, session: str, limit: float) -> None:
        path = f"/v1/sessions/{session}"
        about = self.api.look(path, limit)
        if about is None:
            return
        listed = self.api.look(f"{path}/items?limit=1000&order=asc", limit)
        below = self.api.look(f"{path}/child_sessions", limit)
        document = {"read_at": time.time(), "session": about, "items": listed, "children": below}
        name = re.sub(r"[^\w-]", "_", session)[:80]
        making = folder / f".{name}"
        making.write_text(json.dumps(document), encoding="utf-8")
        making.rename(folder / f"{name}.json")

    def stop(self) -> None:
        """End both parts."""
        self.runner.stop()
        self.server.stop()
