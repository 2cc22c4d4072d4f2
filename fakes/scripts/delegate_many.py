"""The parent delegates several tasks, in one turn or one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.dialect import Reply
from fakes.script import Task, task
from fakes.scripts._delegation import Delegation, Talk
from fakes.settings import setting


@dataclass(frozen=True)
class DelegateMany(Delegation):
    """Several children."""

    name = "delegate-many"
    title = "Delegate several"
    sentence = "The parent delegates several tasks to background children that run in parallel."

    children: int = setting(2, "How many children.", low=1, high=64)
    background: bool = setting(True, "Whether the children run in the background.")
    one_turn: bool = setting(True, "Delegate all in one turn of the parent, else one a turn.")

    def tasks(self) -> tuple[Task, ...]:
        return tuple(
            task(str(number), background=self.background, model=self.child_model)
            for number in range(1, self.children + 1)
        )

    def _next(self, talk: Talk) -> Reply:
        """One after the other means that each has ended before the next one is delegated.

        An agent that runs all of them in the background is told to wait in between.
        """
        if self.background or self.one_turn:
            return super()._next(talk)
        begun = [each for each in self.below(talk.path) if each.path in talk.delegated]
        waits = [talk.tools.wait(talk.child(each.path)) for each in begun]
        over = all(each.path in talk.answered for each in begun)
        call = None if over else talk.first_new(waits)
        return Reply(tool_calls=(call,)) if call is not None else super()._next(talk)

    def at_once(self, fresh: list[Task]) -> list[Task]:
        return fresh if self.one_turn else fresh[:1]


SCRIPT = DelegateMany
