"""A sub-agent's turn ends."""

from __future__ import annotations

from fakes.codex_app_server import agents, payloads
from fakes.codex_app_server.step import Options, ScenarioError, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """The turn of `child` ends as `status`: completed, failed or interrupted.

    `message` is the error of a failed one; `retries` announced attempts come before. Of a
    completed child v2 tells its parent's thread where the version does so, unless `announced`
    is false.
    """
    world, status = turn.world, step["status"]
    agent = agents.named(world, step["child"])
    if agent.turn is None or status not in agents.TERMINAL:
        raise ScenarioError(f"{agent.name} cannot end as {status!r}")
    if not agents.works(agent, world):
        if agent.state == "interrupted":
            return  # the client was faster
        raise ScenarioError(f"{agent.name} has no open turn")
    for number in range(step["retries"]):
        info = {"responseStreamDisconnected": {"httpStatusCode": None}}
        text = f"Reconnecting... {number + 1}/{step['retries']}"
        failure = payloads.failure(text, info, step["message"])
        agent.turn.notify("error", error=failure, willRetry=True)
    agents.end(agent, status, step["message"])
    if not step["announced"] or not agents.activities(world) or status != "completed":
        return
    if "completed" in world.protocol.words("SubAgentActivityKind"):
        identifier = f"subagent-completed-{agent.turn.id}"
        agents.activity(turn, agent, "completed", identifier)


STEP = Step(
    play,
    needs={"child": str},
    may={"status": "completed", "message": "", "retries": 0, "announced": True},
)
