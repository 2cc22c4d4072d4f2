"""A small agent for tests: it follows the fake model over real HTTP in any dialect.

It has the tools of :class:`~fakes.tools.PlainTools`, runs children as tasks, and tells
its model about background children that ended while nobody waited for them.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import httpx

from fakes.tests.support import Served, data, path_of, request_body

SAID = {"responses": "input", "generate_content": "contents"}
"""What a request calls its conversation; others: messages."""
LIMIT = 40
"""Model calls of one agent, so that a script that loops fails."""


@dataclass
class Agent:
    """One agent or sub-agent and its conversation."""

    served: Served
    client: httpx.AsyncClient
    dialect: str
    prompt: str
    form: str = "plain"
    notifies: bool = True
    said: list[Any] = field(default_factory=list)
    children: dict[str, Agent] = field(default_factory=dict)
    runs: dict[str, asyncio.Task[str]] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    calls: int = 0
    open: list[str] = field(default_factory=list)

    async def run(self, message: str = "") -> str:
        """Works until the model has nothing more to call; gives its last text."""
        self.hear(message or self.prompt)
        while True:
            self.texts.append(await self.turn())
            untold = [name for name in self.runs if name not in self.told]
            if not self.notifies or not untold:
                return self.texts[-1]
            result = await self.runs[untold[0]]
            self.told.add(untold[0])
            self.hear(f"Notification: agent {untold[0]} has ended: {result}")

    async def turn(self) -> str:
        """Model calls and their tools, until a text."""
        while True:
            text, calls = await self.ask()
            self.remember(text, calls)
            if not calls or calls[0][1] == "hand_in":
                return text
            outputs = [await self.use(name, given) for _, name, given in calls]
            self.answer([call_id for call_id, _, _ in calls], outputs)

    async def ask(self) -> tuple[str, list[tuple[str, str, dict[str, Any]]]]:
        """One model call: text and calls."""
        self.calls += 1
        assert self.calls <= LIMIT, "the script does not end"
        body = request_body(self.dialect, self.form)
        body[SAID.get(self.dialect, "messages")] = self.said
        path = path_of(self.dialect, self.form)
        answer = await self.client.post(self.served.base + path, json=body)
        assert answer.status_code == 200
        return read(self.dialect, whole(self.dialect, self.form, answer))

    async def use(self, name: str, given: dict[str, Any]) -> str:
        """Runs a tool; gives its output."""
        if name == "task":
            return await self.delegate(given)
        child = given.get("agent_id", "")
        if name == "wait":
            self.told.add(child)
            return f"Result: {await self.runs[child]}"
        if name == "read":
            return "finished" if self.runs[child].done() else "still running"
        if name == "send":
            self.told.discard(child)
            self.runs[child] = asyncio.create_task(self.children[child].run(given["text"]))
            return "sent"
        if name == "stop":
            self.runs[child].cancel()
            self.told.add(child)
            return "stopped"
        return "done"

    async def delegate(self, given: dict[str, Any]) -> str:
        """The ``task`` tool."""
        name = f"a-{len(self.children) + 1}"
        child = Agent(self.served, self.client, self.dialect, given["prompt"], self.form)
        self.children[name] = child
        if given["mode"] == "sync":
            return f"Result: {await child.run()}"
        self.runs[name] = asyncio.create_task(child.run())
        return f"Started. agent_id: {name}"

    # The conversation in its dialect

    def hear(self, text: str) -> None:
        """A message from outside."""
        if self.dialect == "generate_content":
            self.said.append({"role": "user", "parts": [{"text": text}]})
        else:
            self.said.append({"role": "user", "content": text})

    def remember(self, text: str, calls: list[tuple[str, str, dict[str, Any]]]) -> None:
        """What the model said."""
        if self.dialect == "responses":
            if text:
                part = {"type": "output_text", "text": text}
                self.said.append({"type": "message", "role": "assistant", "content": [part]})
            for call_id, name, given in calls:
                call = {"call_id": call_id, "name": name, "arguments": json.dumps(given)}
                self.said.append({"type": "function_call", **call})
        elif self.dialect == "chat_completions":
            functions = [
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(given)},
                }
                for call_id, name, given in calls
            ]
            own = {"tool_calls": functions} if functions else {}
            self.said.append({"role": "assistant", "content": text, **own})
        elif self.dialect == "generate_content":
            parts: list[dict[str, Any]] = [{"text": text}] if text else []
            parts += [{"functionCall": {"name": n, "args": given}} for _, n, given in calls]
            self.said.append({"role": "model", "parts": parts})
            self.open = [name for _, name, _ in calls]
        else:
            blocks = [{"type": "text", "text": text}] if text else []
            blocks += [
                {"type": "tool_use", "id": call_id, "name": name, "input": given}
                for call_id, name, given in calls
            ]
            self.said.append({"role": "assistant", "content": blocks})

    def answer(self, ids: list[str], outputs: list[str]) -> None:
        """The outputs of the tools."""
        both = list(zip(ids, outputs, strict=True))
        if self.dialect == "responses":
            self.said += [
                {"type": "function_call_output", "call_id": i, "output": o} for i, o in both
            ]
        elif self.dialect == "chat_completions":
            self.said += [{"role": "tool", "tool_call_id": i, "content": o} for i, o in both]
        elif self.dialect == "generate_content":  # without ids: by the tools' names
            told = [
                {"functionResponse": {"name": name, "response": {"output": o}}}
                for name, o in zip(self.open, outputs, strict=True)
            ]
            self.said.append({"role": "user", "parts": told})
        else:
            results = [{"type": "tool_result", "tool_use_id": i, "content": o} for i, o in both]
            self.said.append({"role": "user", "content": results})


def whole(dialect: str, form: str, answer: httpx.Response) -> dict[str, Any]:
    """The plain form of an answer; only Responses are streamed here."""
    if form == "plain":
        return dict(answer.json())
    assert dialect == "responses"
    return dict(data(answer.content)[-1]["response"])


def read(dialect: str, answer: dict[str, Any]) -> tuple[str, list[tuple[str, str, dict[str, Any]]]]:
    """Text and calls of a plain answer."""
    if dialect == "responses":
        output = answer["output"]
        text = "".join(i["content"][0]["text"] for i in output if i["type"] == "message")
        calls = [i for i in output if i["type"] == "function_call"]
        return text, [(c["call_id"], c["name"], json.loads(c["arguments"])) for c in calls]
    if dialect == "chat_completions":
        message = answer["choices"][0]["message"]
        calls = message.get("tool_calls", [])
        functions = [(c["id"], c["function"]) for c in calls]
        return message["content"] or "", [
            (i, f["name"], json.loads(f["arguments"])) for i, f in functions
        ]
    if dialect == "generate_content":
        parts = answer["candidates"][0]["content"]["parts"]
        named = [part["functionCall"] for part in parts if "functionCall" in part]
        text = "".join(part.get("text", "") for part in parts)
        return text, [(c["id"], c["name"], c["args"]) for c in named]
    blocks = answer["content"]
    text = "".join(b["text"] for b in blocks if b["type"] == "text")
    return text, [(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"]
