"""Threads and turns as the newest version writes them; :mod:`.shaping` cuts them to older ones."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def seconds() -> int:
    """Now, as the protocol stamps threads and turns."""
    return int(time.time())


def milliseconds() -> int:
    """Now, as the protocol stamps items."""
    return int(time.time() * 1000)


def turn(identifier: str, status: str = "inProgress", **more: Any) -> Json:
    """A turn without its items."""
    return {
        "id": identifier,
        "rootTurnId": identifier,
        "items": [],
        "itemsView": "notLoaded",
        "status": status,
        "error": None,
        "startedAt": None,
        "completedAt": None,
        "durationMs": None,
        **more,
    }


def failure(message: str, info: Any = "other", details: str | None = None) -> Json:
    """What went wrong with a turn."""
    return {
        "message": message,
        "codexErrorInfo": info,
        "additionalDetails": details,
        "misalignment": None,
    }


def thread(identifier: str, stored: Json, version: str, state: Path, status: str) -> Json:
    """A thread without its turns."""
    began = stored.get("createdAt", seconds())
    cwd = stored.get("cwd") or str(Path.cwd())
    return {
        "id": identifier,
        "sessionId": stored.get("sessionId", identifier),
        "forkedFromId": stored.get("forkedFromId"),
        "parentThreadId": stored.get("parentThreadId"),
        "preview": stored.get("preview", ""),
        "ephemeral": False,
        "historyMode": "legacy",
        "modelProvider": "fake",
        "model": stored.get("model") or "fake-model",
        "createdAt": began,
        "updatedAt": seconds(),
        "status": thread_status(status),
        "path": str(state / "sessions" / f"rollout-{identifier}.jsonl"),
        "cwd": cwd,
        "cliVersion": version,
        "originator": "codex_app_server",
        "source": stored.get("source", "vscode"),
        "canAcceptDirectInput": True,
        "environments": [],
        "turns": [],
    }


def thread_status(status: str) -> Json:
    """A status as ``thread/status/changed`` gives it."""
    return {"type": status, **({"activeFlags": []} if status == "active" else {})}


def thread_answer(found: Json, stored: Json) -> Json:
    """The answer to ``thread/start`` and ``thread/resume``."""
    return {
        "thread": found,
        "model": found["model"],
        "modelProvider": found["modelProvider"],
        "serviceTier": None,
        "disabledPluginIds": [],
        "cwd": found["cwd"],
        "runtimeWorkspaceRoots": [found["cwd"]],
        "instructionSources": [],
        "approvalPolicy": stored.get("approvalPolicy") or "never",
        "approvalsReviewer": stored.get("approvalsReviewer") or "user",
        "sandbox": {"type": "dangerFullAccess"},
        "activePermissionProfile": None,
        "reasoningEffort": None,
        "multiAgentMode": "explicitRequestOnly",
    }
