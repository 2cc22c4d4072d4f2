"""The model runs a command, with or without asking."""

from __future__ import annotations

from typing import Any

from fakes.codex_app_server import payloads
from fakes.codex_app_server.items import begin_command
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Item, Turn

REFUSED = ("decline", "cancel")


def play(turn: Turn, step: Options) -> None:
    """Nothing is run: `output` and `exit_code` are shown. With `approval` the client is asked
    first: a refusal declines the command, ``cancel`` interrupts the turn as well, and no
    answer in time is a refusal."""
    item = begin_command(turn, step["command"], step["cwd"])
    decision = _ask(turn, item, step) if step["approval"] else "accept"
    if decision in REFUSED:
        turn.end_item(item, status="declined", exitCode=None, durationMs=None)
        if decision == "cancel":
            turn.interrupted.set()
        return
    output = step["output"]
    if output:
        turn.notify("item/commandExecution/outputDelta", itemId=item["id"], delta=output)
    status = "failed" if step["exit_code"] else "completed"
    turn.end_item(
        item,
        status=status,
        aggregatedOutput=output,
        exitCode=step["exit_code"],
        durationMs=1,
    )


def _ask(turn: Turn, item: Item, step: Options) -> Any:
    answer = turn.ask(
        "item/commandExecution/requestApproval",
        itemId=item["id"],
        startedAtMs=payloads.milliseconds(),
        kind="command",
        reason=step["reason"],
        command=step["command"],
        cwd=item["cwd"],
        commandActions=[],
    )
    return answer.get("decision", "decline") if isinstance(answer, dict) else "decline"


STEP = Step(
    play,
    needs={"command": str},
    may={"output": "", "exit_code": 0, "approval": False, "reason": None, "cwd": None},
)
