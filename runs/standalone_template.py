#!/usr/bin/env python3
"""Repeats one failure of an agent CLI: a loopback provider that breaks one stream.

    python3 THIS_FILE /path/to/the/agent/binary

Needs Python 3.9 or newer and the agent's binary; no credentials, no hosted model, no
network but 127.0.0.1. The answers below are played byte for byte. Exit: 0 it was given broken
answers (whatever came of them), 1 it asked for none, 2 wrong call.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import math
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from email.utils import formatdate
from pathlib import Path

TITLE = ""
QUESTION = ""
DEADLINE = 180.0
# How the agent is started. @NAME@ is filled in below.
LAUNCH: dict = {}
# By caller ("" is the parent, "1" its first child): its steps (after so many outputs of tools,
# having heard nothing: 0, a word: 1, all answers: 2), each by form of the answer; a tape an
# attempt, the last one for all further attempts.
TAPES: dict = {}

ROOT, TASK = "LIFELINE-ROOT", re.compile(r"LIFELINE-TASK-(\d+(?:\.\d+)*)")
ID = re.compile(
    r'\\*"(?:agent|agent_id|agentId|child|id|task_id|taskId|thread_id|session_id)\\*"'
    r'\s*:\s*\\*"([^"\\]+)'
)
ANSWER = re.compile(r"CHILD-OK (\d[\d.]*\d|\d)")
PRCTL = ctypes.CDLL(None).prctl if sys.platform.startswith("linux") else None
STARTED = time.monotonic()
LOCK = threading.Condition()
REACHED: set = set()  # (caller, "asked" or "answered")
SEEN: dict = {}  # caller → (fingerprint of its last request, call, attempt)
TRIES: list = []  # (caller, call, attempt, fault, begin, end)


def items_of(body):
    """The conversation of a request, whichever protocol it is in."""
    found = body.get("input", body.get("messages", []))
    return found if isinstance(found, list) else [{"role": "user", "content": found}]


def own_items(caller, body):
    """The same from the caller's own task on, where it was given its parent's as well."""
    items = items_of(body)
    for number, item in enumerate(items if caller else []):
        told = item.get("type") == "agent_message" or item.get("role") in ("user", "developer")
        if told and caller in TASK.findall(json.dumps(item)):
            return items[number:]
    return items


def heard_of(caller, items):
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


def outputs_of(items):
    """The outputs of tools in it."""
    lists = [item["content"] for item in items if isinstance(item.get("content"), list)]
    kinds = ("_output", "tool_result")
    found = [one for one in [*items, *sum(lists, [])] if isinstance(one, dict)]
    return [x for x in found if x.get("role") == "tool" or str(x.get("type")).endswith(kinds)]


def caller_of(body):
    """Whose request it is, by the marker in its prompt: a path, or None for titles and such."""
    handed = [item for item in items_of(body) if item.get("type") == "agent_message"]
    tasks = [path for path in TASK.findall(json.dumps(handed)) if path in TAPES]
    if tasks:  # a child that was given its parent's conversation as well
        return max(tasks, key=len)
    prompts = [x for x in items_of(body) if x.get("role") in ("user", "system", "developer")]
    text = json.dumps([*prompts, body.get("system", ""), body.get("instructions", "")])
    if ROOT in text:
        return "" if body.get("tools") else None
    task = TASK.search(text)
    return task.group(1) if task and task.group(1) in TAPES else None


def place_of(caller, body):
    """Which call of this caller it is and which attempt: the same conversation is tried again."""
    mark = hashlib.sha256(json.dumps(items_of(body), sort_keys=True).encode()).hexdigest()
    with LOCK:
        last, call, attempt = SEEN.get(caller, ("", 0, 0))
        call, attempt = (call, attempt + 1) if last == mark else (call + 1, 1)
        SEEN[caller] = mark, call, attempt
    return call, attempt


def tape_for(caller, body, attempt):
    """The tape of this request, and the ids of children that its conversation names."""
    items = own_items(caller, body)
    outputs, heard = outputs_of(items), heard_of(caller, items)
    known = [one for one in TAPES[caller] if one["after"] <= len(outputs)]
    step = [one for one in known if one["heard"] <= heard][-1]
    tapes = step["stream" if body.get("stream") else "plain"]
    children = list(dict.fromkeys(ID.findall(json.dumps(outputs))))
    return tapes[min(attempt, len(tapes)) - 1], children


def filled(data, children):
    """Bytes of a tape with what only a run tells in the place of its sign."""

    def date(sign):
        return formatdate(math.ceil(time.time() + float(sign[1])), usegmt=True).encode()

    def child(sign):  # ids come in the order in which their tasks were handed out
        return children[min(int(sign[1]), len(children)) - 1].encode()

    data = re.sub(rb"@IN ([\d.]+)@", date, data)
    if b"@C " not in data or not children:
        return data
    data = re.sub(rb"@C (?:\d+\.)*(\d+)@", child, data)
    head, gap, body = data.partition(b"\r\n\r\n")
    return re.sub(rb"content-length: \d+", b"content-length: %d" % len(body), head) + gap + body


def reach(caller, what):
    """A milestone that others may wait for."""
    with LOCK:
        REACHED.add((caller, what))
        LOCK.notify_all()


def play(connection, caller, tape, children):
    """Send what the tape says."""
    for what, *value in tape:
        if what == "after":
            with LOCK:
                LOCK.wait_for(lambda names=value[0]: REACHED.issuperset(names), value[1])
        elif what == "answered":
            reach(caller, what)
        elif what == "send":
            connection.sendall(filled(value[0], children))
        elif what == "pause":
            time.sleep(value[0])
        elif what == "hold":
            connection.recv(1)
        elif what == "reset":
            time.sleep(0.05)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def read(file):
    """Method, path and body of one request; empty when there is none."""
    first, headers = file.readline().decode("latin-1").split(" "), {}
    while line := file.readline().decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if len(first) < 2:
        return "", "", b""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body, size = b"", 1
        while size:
            size = int(file.readline().split(b";")[0] or b"0", 16)
            body += file.read(size)
            file.readline()
    else:
        body = file.read(int(headers.get("content-length", 0)))
    return first[0], first[1].partition("?")[0], body


def serve(connection):
    """One request of one connection."""
    with connection, contextlib.suppress(OSError):
        method, path, raw = read(connection.makefile("rb"))
        ending = path.rstrip("/").rpartition("/")[2]
        if method == "POST" and ending in ("responses", "completions", "messages"):
            answer(connection, json.loads(raw or b"{}"))
        elif method:
            body = json.dumps({"object": "list", "data": [{"id": "gpt-5.4", "object": "model"}]})
            head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n"
            connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())


def answer(connection, body):
    caller = caller_of(body)
    if caller is None:
        tape = TAPES[max(TAPES)][-1]["stream" if body.get("stream") else "plain"][-1]
        return play(connection, None, [one for one in tape if one[0] == "send"], [])
    call, attempt = place_of(caller, body)
    begin = time.monotonic() - STARTED
    tape, children = tape_for(caller, body, attempt)
    fault = next((value[0] for what, *value in tape if what == "fault"), "")
    row = [caller or "parent", call, attempt, fault, begin, None]
    TRIES.append(row)
    print(f"{begin:8.3f} s  {row[0]:>8}  call {call} attempt {attempt}  {fault or 'whole'}",
          file=sys.stderr, flush=True)  # fmt: skip
    reach(caller, "asked")
    try:
        play(connection, caller, tape, children)
    finally:
        row[5] = time.monotonic() - STARTED


def start(agent, port, folder):
    """The agent's process by its own command line, in a home of its own."""
    places = {name: str(folder / name.lower()) for name in ("HOME", "WORK", "TEMP", "LOGS")}
    for path in places.values():
        Path(path).mkdir()

    def fill(text):
        for name, path in places.items():
            text = text.replace(f"/@{name}@", path)
        text = text.replace("/@BIN@/@AGENT@", agent).replace("/@BIN@", str(Path(agent).parent))
        return text.replace("@PYTHON@", sys.executable).replace("@PORT@", str(port))

    for path, text in LAUNCH["files"].items():
        Path(fill(path)).parent.mkdir(parents=True, exist_ok=True)
        Path(fill(path)).write_text(fill(text), encoding="utf-8")
    kept = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    env |= {"HOME": places["HOME"], "TMPDIR": places["TEMP"]}
    env |= {name: fill(value) for name, value in LAUNCH["env"].items()}
    # PR_SET_PDEATHSIG ends the agent even if this is killed by force; PR_SET_CHILD_SUBREAPER
    # gives us what the agent leaves behind.
    return subprocess.Popen(
        [fill(word) for word in LAUNCH["argv"]], cwd=places["WORK"], env=env,
        stdin=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=PRCTL and not PRCTL(36, 1, 0, 0, 0)
        and (lambda: PRCTL(1, signal.SIGKILL, 0, 0, 0)) or None,
    )  # fmt: skip


def end(process):
    """The agent and all that it started: what is not in its group is our child by then."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    lists = Path("/proc/self/task").glob
    while left := [int(pid) for one in lists("*/children") for pid in one.read_text().split()]:
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def main():
    agent = sys.argv[1] if len(sys.argv) > 1 else shutil.which(LAUNCH["agent"])
    if not agent or not Path(agent).exists():
        usage = f"usage: {sys.argv[0]} /path/to/{LAUNCH['agent']}   (version {LAUNCH['version']})"
        return print(usage) or 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by way of what ends the agent
    print(f"{TITLE}\n{QUESTION}", file=sys.stderr)
    door = socket.create_server(("127.0.0.1", 0))

    def accept():
        for connection, _ in iter(door.accept, None):
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="repro-") as folder:
        process = start(str(Path(agent).resolve()), door.getsockname()[1], Path(folder))
        try:
            code = process.wait(timeout=DEADLINE)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            code = f"none: it still ran after {time.monotonic() - STARTED:.0f} s"
        finally:
            end(process)
    print(f"\nexit code {code}", file=sys.stderr)
    for caller in dict.fromkeys(row[0] for row in TRIES):
        rows = [row for row in TRIES if row[0] == caller]
        pairs = [(rows[n], rows[n + 1]) for n in range(len(rows) - 1)]
        gaps = [f"{b[4] - a[5]:.2f}" for a, b in pairs if a[5] and b[1] == a[1]]
        broken = sum(bool(row[3]) for row in rows)
        print(f"{caller:>8}: {len(rows)} requests, {broken} broken, gaps {', '.join(gaps) or '-'}",
              file=sys.stderr)  # fmt: skip
    if any(row[3] for row in TRIES) or TRIES and "('fault', " not in repr(TAPES):
        return 0
    what = "for a broken answer" if TRIES else "the provider"
    print(f"Not repeated: it never asked {what}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
