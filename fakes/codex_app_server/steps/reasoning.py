"""The model thinks."""

from __future__ import annotations

from fakes.codex_app_server.ids import prefixed
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """A reasoning item: `summary` as a delta, `content` as the raw thought."""
    identifier = prefixed("rs")
    item = turn.start_item("reasoning", identifier, summary=[], content=[])
    summary = [step["summary"]] if step["summary"] else []
    content = [step["content"]] if step["content"] else []
    for text in summary:
        turn.notify(
            "item/reasoning/summaryTextDelta", itemId=identifier, delta=text, summaryIndex=0
        )
    for text in content:
        turn.notify("item/reasoning/textDelta", itemId=identifier, delta=text, contentIndex=0)
    turn.end_item(item, summary=summary, content=content)


STEP = Step(play, may={"summary": "", "content": ""})
