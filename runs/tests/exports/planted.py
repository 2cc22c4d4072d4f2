"""Two hundred secrets of twenty sorts, and a log that has them everywhere."""

from __future__ import annotations

import base64
import json
import random
import string
from pathlib import Path
from typing import Any

from runs.tests.transcripts.helpers import RECORDED

CUT = RECORDED / "copilot/1.0.102/sse-cut"
_LETTERS = string.ascii_letters + string.digits


def secrets(seed: int = 7) -> list[tuple[str, str]]:
    """(what must not leave, how it stands in a text), ten of each of twenty sorts."""
    chance = random.Random(seed)

    def some(count: int, of: str = _LETTERS) -> str:
        return "".join(chance.choice(of) for _ in range(count))

    def word() -> str:
        return some(1, string.ascii_lowercase) + some(7, string.ascii_lowercase)

    found: list[tuple[str, str]] = []
    for _ in range(10):
        made = {
            "openai": "sk-proj-" + some(40),
            "anthropic": "sk-ant-api03-" + some(60),
            "github": "ghp_" + some(36),
            "github-fine": "github_pat_" + some(60),
            "gitlab": "glpat-" + some(20),
            "aws": "AKIA" + some(16, string.ascii_uppercase + string.digits),
            "google": "AIza" + some(35),
            "slack": "xoxb-" + some(11, string.digits) + "-" + some(24),
            "npm": "npm_" + some(36),
            "jwt": f"eyJ{some(20)}.eyJ{some(40)}.{some(43)}",
            "email": f"{word()}.{word()}@{word()}.example.com",
            "host": f"{word()}.{word()}.internal",
            "address": f"10.{chance.randrange(1, 250)}.{chance.randrange(250)}.7",
        }
        found += [(value, f"see {value} there") for value in made.values()]
        user, password, cookie, bearer = word(), some(14), some(30), some(12) + "1" + some(20)
        key = base64.b64encode(some(60).encode()).decode()
        found += [
            (user, f"in /home/{user}/project/main.py"),
            (password, f"DB_PASSWORD={password} was set"),
            (cookie, f"Cookie: session={cookie}; theme=dark"),
            (bearer, f"Authorization: Bearer {bearer}"),
            (key, f"-----BEGIN OPENSSH PRIVATE KEY-----\n{key}\n-----END OPENSSH PRIVATE KEY-----"),
            (word9 := some(16), f"postgres://{word()}:{word9}@db/app"),
            (word8 := some(18), json.dumps({"client_secret": word8})),
        ]
    return found


def log(folder: Path, planted: list[tuple[str, str]]) -> Path:
    """A recorded case with a secret in every text, and names of files that are some."""
    waiting = [text for _, text in planted]
    keep = {
        *("type", "id", "parentId", "timestamp", "toolCallId", "agentId", "sessionId"),
        *("ephemeral", "toolName", "fault", "closed", "t", "kind", "caller"),
    }

    def plant(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: plant(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [plant(item, key) for item in value]
        if isinstance(value, str) and key not in keep and waiting:
            return f"{value} {waiting.pop()}"
        return value

    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(CUT.glob("*.jsonl")):
        records = [json.loads(line) for line in source.read_text().splitlines()]
        requests = "request" in source.name
        lines = [json.dumps(record if requests else plant(record)) for record in records]
        if "session" in source.name:
            at = "2026-01-01T00:00:00Z"
            lines += [
                json.dumps({"type": text, "timestamp": at, "data": {"x": text}})
                for text in waiting[:120]
            ]
        name = source.name if requests else f"{planted[10][0]}-{source.name}"
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder
