"""The server's HTTP, as its client uses it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

from .parts import Away, say


class Api:
    """Asks the server at a port of loopback."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """One request; what was asked and how it was answered is printed."""
        say("asked", request=f"{method} {path}")
        status, found = self._request(method, path, body, None)
        say("answered", request=f"{method} {path}", status=status, body=found)
        if status >= 400:
            raise Away(f"{method} {path}: status {status}")
        return found

    def look(self, path: str, limit: float = 10.0) -> Any:
        """Get something quietly, within `limit` seconds; None where it is not answered well."""
        try:
            status, found = self._request("GET", path, None, limit)
        except Away:
            return None
        return found if status < 400 else None

    def stream(self, session: str) -> Iterator[str]:
        """The events of a session's stream as JSON, after an empty text when it is open."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        path = f"/v1/sessions/{session}/stream"
        connection.request("GET", path, headers={"accept": "text/event-stream"})
        response = connection.getresponse()
        say("stream", session=session, status=response.status)
        yield ""
        for raw in response:
            line = raw.decode("utf-8", "replace").strip()
            if line.startswith("data:"):
                yield line[5:].strip()

    def _request(self, method: str, path: str, body: Any, limit: float | None) -> tuple[int, Any]:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=limit)
            headers = {"content-type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
            connection.close()
        except (OSError, http.client.HTTPException) as trouble:
            raise Away(f"{method} {path}: {type(trouble).__name__}") from None
        try:
            return response.status, json.loads(text) if text else None
        except ValueError:
            return response.status, text[:2000]
