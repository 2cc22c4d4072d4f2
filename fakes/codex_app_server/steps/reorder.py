"""Notifications come in another order."""

from __future__ import annotations

from fakes.codex_app_server.step import Options, ScenarioError, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """What `steps` would say is kept back, then said in reverse, or with the messages of
    the methods in `order` first."""
    with turn.world.wire.keeping() as kept:
        turn.play(step["steps"])
    order = list(step["order"])
    if not order:
        kept.reverse()
    said = {message["method"] for message in kept}
    if not said.issuperset(order):
        raise ScenarioError(f"of {order} only {sorted(said)} would be said")
    for message in sorted(
        kept, key=lambda one: order.index(one["method"]) if one["method"] in order else len(order)
    ):
        turn.world.wire.say(message)


STEP = Step(play, needs={"steps": list}, may={"order": []})
