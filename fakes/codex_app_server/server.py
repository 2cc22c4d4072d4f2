"""The process: lines in, until the client hangs up or ends it."""

from __future__ import annotations

import json
import os
import signal
import sys
from types import FrameType
from typing import Any

from fakes.codex_app_server.methods import METHODS, Refused, Request
from fakes.codex_app_server.protocol import Gated, Invalid
from fakes.codex_app_server.step import ScenarioError
from fakes.codex_app_server.wire import INTERNAL, UNSUPPORTED
from fakes.codex_app_server.world import World

Message = dict[str, Any]


class Server:
    """One connection of a client."""

    def __init__(self, world: World) -> None:
        self._world, self._wire, self._transcript = world, world.wire, world.transcript
        self._initialized = self._experimental = False

    def serve(self) -> int:
        """Reads until the end of input; gives the exit code. SIGTERM ends the process here."""
        self._transcript.event(
            "spawn",
            argv=sys.argv,
            ppid=os.getppid(),
            protocol=self._world.protocol.version,
            bundle=self._world.protocol.bundle,
            checks=self._world.protocol.source,
        )
        signal.signal(signal.SIGTERM, self._terminated)
        for line in sys.stdin.buffer:
            if line.strip():
                self._line(line)
        self._transcript.event("stdin_eof")
        self._transcript.event("exit", how="stdin_eof", code=0)
        return 0

    def _terminated(self, number: int, frame: FrameType | None) -> None:
        code = 128 + signal.SIGTERM
        self._transcript.event("exit", how="SIGTERM", code=code)
        os._exit(code)

    def _line(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            text = line.decode("utf-8", "replace").rstrip("\n")
            self._transcript.message("in", text, violation="line is not JSON")
            return
        if not _is_message(message):
            text = "data did not match any variant of untagged enum JSONRPCMessage"
            self._transcript.message("in", message, violation=text)
        elif "method" not in message:
            self._wire.answered(message)
        elif "id" in message:
            self._request(message)
        else:
            self._notification(message)

    def _notification(self, message: Message) -> None:
        method, violation, ignored = message["method"], "", None
        try:
            ignored = self._world.protocol.notification(method, message)
            if ignored is None:
                violation = f"unknown notification {method}"
        except Invalid as wrong:
            violation = f"Invalid notification: {wrong}"
        self._transcript.message("in", message, ignored=ignored, violation=violation)

    def _request(self, message: Message) -> None:
        method, identifier = message["method"], message["id"]
        protocol, violation, ignored, refusal = self._world.protocol, "", None, ""
        if not protocol.has(method):
            violation = f"unknown method {method}"
        try:
            ignored = protocol.request(method, message)
            self._permit(method, message)
        except Invalid as wrong:
            refusal = f"Invalid request: {wrong}"
        except (Refused, Gated) as wrong:
            refusal = str(wrong)
        violation = violation or refusal
        self._transcript.message("in", message, ignored=ignored, violation=violation)
        if refusal:
            self._wire.refuse(identifier, method, refusal)
            return
        self._perform(Request(self._world, identifier, method, message.get("params") or {}))

    def _permit(self, method: str, message: Message) -> None:
        """Whether the state of the connection allows a well-formed request; Refused or Gated."""
        if method == "initialize":
            if self._initialized:
                raise Refused("Already initialized")
            return
        if not self._initialized:
            raise Refused("Not initialized")
        if not self._experimental:
            self._world.protocol.gate(method, message.get("params"))

    def _perform(self, request: Request) -> None:
        try:
            if request.method == "initialize":
                self._initialize(request)
            elif request.method in self._world.scenario().answers:
                request.answer(self._world.scenario().answers[request.method])
            elif request.method in METHODS:
                METHODS[request.method](request)
            else:
                self._transcript.event("unsupported", method=request.method)
                text = f"{request.method} is not played by this stand-in"
                self._wire.refuse(request.id, request.method, text, UNSUPPORTED)
        except Refused as refused:
            self._wire.refuse(request.id, request.method, str(refused), refused.code)
        except ScenarioError as wrong:
            self._transcript.event("scenario_error", text=str(wrong))
            self._wire.refuse(request.id, request.method, f"scenario: {wrong}", INTERNAL)

    def _initialize(self, request: Request) -> None:
        client = request.params["clientInfo"]
        capabilities = request.params.get("capabilities") or {}
        self._experimental = bool(capabilities.get("experimentalApi"))
        self._initialized = True
        name, version = client["name"], client["version"]
        request.answer(
            {
                "userAgent": f"{name}/{self._world.protocol.version} (fake) ({name}; {version})",
                "codexHome": str(self._world.folder),
                "platformFamily": "unix",
                "platformOs": sys.platform,
            }
        )


def _is_message(message: Any) -> bool:
    """Whether it is one of request, notification, response, error."""
    if not isinstance(message, dict):
        return False
    if "id" in message and not isinstance(message["id"], (str, int)):
        return False
    if "method" in message:
        return isinstance(message["method"], str)
    return "id" in message and ("result" in message or "error" in message)
