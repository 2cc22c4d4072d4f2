"""A tool call whose arguments break off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fakes.dialect import ToolCall
from fakes.fault import Fault

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class TruncatedArguments(Fault):
    """JSON arguments that break off, in a whole answer.

    An answer without a call gets one, of a harmless tool or else the first
    that is advertised: what breaks off cannot be executed.
    """

    name = "truncated-arguments"
    title = "Truncated tool arguments"
    sentence = "The answer is whole, but the arguments of its tool call are half a JSON text."
    seen = "A proper end, and arguments that cannot be parsed."
    picture = 'head │ call {"prompt": "LIFE │ terminal │ end'
    meaningless = {"messages plain": "a plain answer holds the arguments as JSON, not as a text"}

    async def play(self, answer: Answer) -> None:
        calls = tuple(replace(call, raw=_half(call.text)) for call in _calls(answer))
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
    return (replace(call, id=f"{prefix}{answer.exchange.id}_broken"),)


def _half(text: str) -> str:
    return text[: max(1, len(text) // 2)]


FAULT = TruncatedArguments
