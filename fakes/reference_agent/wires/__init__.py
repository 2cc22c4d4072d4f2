"""The four dialects as a client speaks them: what is sent, and how an answer is read."""

from __future__ import annotations

from fakes.reference_agent.wires.chat_completions import ChatCompletions
from fakes.reference_agent.wires.generate_content import GenerateContent
from fakes.reference_agent.wires.messages import Messages
from fakes.reference_agent.wires.responses import Responses
from fakes.reference_agent.wires.wire import Answer, Call, Item, Wire

WIRES: dict[str, type[Wire]] = {
    "responses": Responses,
    "chat_completions": ChatCompletions,
    "messages": Messages,
    "generate_content": GenerateContent,
}

__all__ = ["WIRES", "Answer", "Call", "Item", "Wire"]
