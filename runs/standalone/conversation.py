"""What the script reads out of a request: whose it is, what it has heard, which answer is next."""

from __future__ import annotations

import json
import math
import re
import time
from email.utils import formatdate
from typing import Any

from runs.standalone.given import TAPES

ROOT, TASK = "LIFELINE-ROOT", re.compile(r"LIFELINE-TASK-(\d+(?:\.\d+)*)")
ID = re.compile(
    r'\\*"(?:agent|agent_id|agentId|child|id|task_id|taskId|thread_id|session_id)\\*"'
    r'\s*:\s*\\*"([^"\\]+)'
)
ANSWER = re.compile(r"CHILD-OK (\d[\d.]*\d|\d)")


def items_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The conversation of a request, whichever protocol it is in."""
    found = body.get("input", body.get("messages", []))
    return found if isinstance(found, list) else [{"role": "user", "content": found}]


def own_items(caller: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The same from the caller's own task on, where it was given its parent's as well."""
    items = items_of(body)
    for number, item in enumerate(items if caller else []):
        told = item.get("type") == "agent_message" or item.get("role") in ("user", "developer")
        if told and caller in TASK.findall(json.dumps(item)):
            return items[number:]
    return items


def heard_of(caller: str, items: list[dict[str, Any]]) -> int:
    """What it has heard since it acted or spoke: 0 nothing, 1 a word, 2 all its answers."""
    acted = spoke = news = False
    texts = []
    for item in items:
        kind, role, content = str(item.get("type", "")), item.get("role"), item.get("content")
        blocks = [b.get("type") for b in content] if isinstance(content, list) else ["text"]
        if kind.endswith("_call") or item.get("tool_calls") or "tool_use" in blocks:
            acted, news = True, False
        elif role == "assistant":
            spoke, news = True, news and acted
        elif kind != "reasoning" and role not in ("system", "developer"):
            texts.append(json.dumps(item))
            if role != "tool" and not kind.endswith("_output") and set(blocks) != {"tool_result"}:
                news = news or acted or spoke
    below = {path for path in TAPES if path and path.rpartition(".")[0] == caller}
    # What was cut off may look like an answer, also where none can be had.
    whole = any(step["heard"] == 2 for step in TAPES[caller])
    return 2 if whole and below and below <= set(ANSWER.findall(" ".join(texts))) else int(news)


def outputs_of(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The outputs of tools in it."""
    lists = [item["content"] for item in items if isinstance(item.get("content"), list)]
    kinds = ("_output", "tool_result")
    found = [one for one in [*items, *sum(lists, [])] if isinstance(one, dict)]
    return [x for x in found if x.get("role") == "tool" or str(x.get("type")).endswith(kinds)]


def caller_of(body: dict[str, Any]) -> str | None:
    """Whose request it is, by the marker in its prompt: a path, or None for titles and such."""
    handed = [item for item in items_of(body) if item.get("type") == "agent_message"]
    tasks: list[str] = [path for path in TASK.findall(json.dumps(handed)) if path in TAPES]
    if tasks:  # a child that was given its parent's conversation as well
        return max(tasks, key=len)
    prompts = [x for x in items_of(body) if x.get("role") in ("user", "system", "developer")]
    text = json.dumps([*prompts, body.get("system", ""), body.get("instructions", "")])
    if ROOT in text:
        return "" if body.get("tools") else None
    task = TASK.search(text)
    return task.group(1) if task and task.group(1) in TAPES else None


def tape_for(caller: str, body: dict[str, Any], attempt: int) -> tuple[list[Any], list[str]]:
    """The tape of this request, and the ids of children that its conversation names."""
    items = own_items(caller, body)
    outputs, heard = outputs_of(items), heard_of(caller, items)
    known = [one for one in TAPES[caller] if one["after"] <= len(outputs)]
    step = [one for one in known if one["heard"] <= heard][-1]
    tapes = step["stream" if body.get("stream") else "plain"]
    children = list(dict.fromkeys(ID.findall(json.dumps(outputs))))
    return tapes[min(attempt, len(tapes)) - 1], children


def filled(data: bytes, children: list[str]) -> bytes:
    """Bytes of a tape with what only a run tells in the place of its sign."""

    def date(sign: re.Match[bytes]) -> bytes:
        return formatdate(math.ceil(time.time() + float(sign[1])), usegmt=True).encode()

    def child(sign: re.Match[bytes]) -> bytes:  # in the order in which tasks were handed out
        return children[min(int(sign[1]), len(children)) - 1].encode()

    data = re.sub(rb"@IN ([\d.]+)@", date, data)
    if b"@C " not in data or not children:
        return data
    data = re.sub(rb"@C (?:\d+\.)*(\d+)@", child, data)
    head, gap, body = data.partition(b"\r\n\r\n")
    return re.sub(rb"content-length: \d+", b"content-length: %d" % len(body), head) + gap + body
