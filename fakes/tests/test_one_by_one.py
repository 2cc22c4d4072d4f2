"""Several children one after the other, on agents that wait for each and on those that do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fakes.dialect import ToolCall
from fakes.script import Task
from fakes.tests.test_scripts import follow
from fakes.tools import PlainTools


class Backgrounder(PlainTools):
    """Of an agent whose every sub-agent runs in the background."""

    def delegate(self, task: Task) -> ToolCall:
        return super().delegate(replace(task, background=True))


async def test_one_after_the_other_waits_where_every_child_runs_in_the_background(
    serve: Callable[..., Any],
) -> None:
    given = {"children": 3, "background": False, "one_turn": False}
    served, agent = await follow(serve, "delegate-many", "responses", Backgrounder(), **given)
    ended = [r["at"] for r in served.said("request.ended") if r["caller"].startswith("child")]
    begun = [r["at"] for r in served.said("request.received") if r["caller"].startswith("child")]
    assert all(end <= start for end, start in zip(ended, begun[1:], strict=False))
    assert len(begun) == 3 and "3 of 3" in agent.texts[-1]
    sync, _ = await follow(serve, "delegate-many", "responses", **given)
    calls = [len(s.said("request.received", caller="parent")) for s in (served, sync)]
    assert calls == [7, 4], "who is told at once has nothing to wait for"
