"""A tool call whose arguments break off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fakes.dialect import ToolCall
from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer

BROKEN = "_broken"
"""What the id of a broken call ends with; agents hand ids back."""


@dataclass(frozen=True)
class TruncatedArguments(Fault):
    """JSON arguments that break off, in a whole answer.

    An answer without a call gets one, of a harmless tool or else the first
    that is advertised: what breaks off cannot be executed. An agent that tells
    its model about the broken call gets a good answer then: a model that broke
    every call would only show that it is asked for ever.
    """

    name = "truncated-arguments"
    title = "Truncated tool arguments"
    sentence = "The answer is whole, but the arguments of its tool call are half a JSON text."
    seen = "A proper end, and arguments that cannot be parsed."
    picture = 'head │ call {"prompt": "LIFE │ terminal │ end'
    meaningless = {
        "messages plain": "a plain answer holds the arguments as JSON, not as a text",
        "generate_content": "an answer holds the arguments as JSON, not as a text",
    }

    times: int = setting(
        1, "How many broken calls one conversation may hold; then answers are good.", low=1, high=50
    )

    async def play(self, answer: Answer) -> None:
        told = [call.id for turn in answer.request.turns for call in turn.tool_calls]
        if sum(call_id.endswith(BROKEN) for call_id in told) >= self.times:
            await answer.whole()
            return
        calls = tuple(
            replace(call, raw=_half(call.text), id=f"{call.id}{BROKEN}") for call in _calls(answer)
        )
        answer.pieces = answer.rendered(replace(answer.reply, tool_calls=calls))
        await answer.whole()
        answer.mark("the arguments broke off")

    def error_class(self) -> str:
        return ""


def _calls(answer: Answer) -> tuple[ToolCall, ...]:
    if answer.reply.tool_calls:
        return answer.reply.tool_calls
    advertised = answer.request.tools[0] if answer.request.tools else "note"
    call = answer.tools.work("note") or ToolCall(advertised, {"text": "This call is harmless."})
    prefix = answer.dialect.call_prefix
    return (replace(call, id=f"{prefix}{answer.exchange.id}"),)


def _half(text: str) -> str:
    return text[: max(1, len(text) // 2)]


FAULT = TruncatedArguments
