"""What is asked of a person in Claude Code's stream, and what becomes of it.

A client that answers gets a control request for each tool that needs leave. Without one the
program refuses at once; 2.1.332 says so itself, 2.1.220 and older say nothing of a sub-agent's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._claude import Claude
from runs.transcripts._values import mapping, text


def control(reader: Claude, record: Mapping[str, Any], agent: str) -> None:
    """A request to the client, or of it: leave for a tool, or an interrupt."""
    request = mapping(record.get("request"))
    word = text(request.get("subtype"), 80)
    asked = text(record.get("request_id"))
    if word == "can_use_tool":
        whose = text(request.get("agent_id")) or agent
        tool = text(request.get("tool_name"))
        reader.add(Kind.QUESTION_ASKED, whose, id=asked, what="permission", tool=tool)
        reader.add(Kind.QUESTION_SHOWN, whose, id=asked, to="client")
    elif word == "interrupt":
        reader.add(Kind.CANCEL_REQUESTED, agent, target=ROOT, by="user", raw=word)
    else:
        reader.other(reader.native, summary=word, agent=agent)


def controlled(reader: Claude, record: Mapping[str, Any], agent: str) -> None:
    """The answer to such a request."""
    response = mapping(record.get("response"))
    answer = mapping(response.get("response")).get("behavior") or response.get("subtype")
    reader.add(
        Kind.QUESTION_ANSWERED,
        agent,
        id=text(response.get("request_id")),
        answer=text(answer, 80),
    )


def denied(reader: Claude, record: Mapping[str, Any], agent: str) -> None:
    """A tool that needed leave where nobody can be asked: refused as soon as it was wanted."""
    whose, call = text(record.get("agent_id")) or agent, text(record.get("tool_use_id"))
    tool = text(record.get("tool_name"))
    reader.add(Kind.QUESTION_ASKED, whose, id=call, what="permission", tool=tool, call=call)
    reader.add(Kind.QUESTION_ANSWERED, whose, id=call, answer="denied", by="agent")
