"""A hook of Hermes: appends what it is handed to a file, with the time. ``hook.py FILE``."""

from __future__ import annotations

import json
import os
import sys
import time

HEAVY = ("request", "response", "conversation_history", "request_messages")
"""Keys that repeat the conversation."""


def main(path: str) -> None:
    """One payload on standard input, one line in the file."""
    payload = json.loads(sys.stdin.read())
    extra = payload.get("extra")
    if isinstance(extra, dict):
        payload["extra"] = {key: value for key, value in extra.items() if key not in HEAVY}
    line = json.dumps({"received_at": time.time(), **payload}) + "\n"
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, line.encode())
    os.close(file)


if __name__ == "__main__":
    main(sys.argv[1])
