"""The owner of a parent's turn on Codex's app-server: it waits for the children of its turn.

A pure state machine: :meth:`Owner.feed` takes what was heard and the time, and gives what is
wanted. ``TABLE`` (in :mod:`runs.core.owner_table`) says what each phase does with what it hears.
The transport is elsewhere. Wherever a write could be wrong a moment later, the owner
first wants to *approach* it: the transport tells everything that has arrived, then ``AtWrite``,
and only then the owner says write.

The rules are numbered CL-1 … CL-38. `breaks` names one that this owner does not keep: such
owners exist to show that judging them finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runs.core import owning as o
from runs.core.owner_memory import Wants
from runs.core.owner_stop import Stopping
from runs.core.owner_table import TABLE
from runs.core.owning import Phase


class Owner(Stopping):
    """One run's owner on one thread."""

    def feed(self, heard: o.Heard, now: float) -> Wants:
        """What is wanted after `heard` at `now` seconds."""
        self.now = now
        if not self._counts(heard):
            return []
        name = TABLE[self.phase].get(type(heard))
        if name is None:
            return []
        step: Callable[[Any], Wants] = getattr(self, name)
        return step(heard)

    # Turns

    def _bind(self, heard: o.TurnStarted | o.Accepted) -> Wants:
        """A turn of ours runs now; a continuation that was only decided gives way to it."""
        attempt = self.attempt
        if self.phase is Phase.DECIDED and attempt is not None:
            if self.keeps("CL-8") and self.keeps("CL-9"):
                attempt.void = "spontaneous"
        elif self.phase in (Phase.SENT, Phase.AMBIGUOUS) and attempt is not None:
            attempt.bound = heard.turn
        first = not self.turns
        self._run(heard.turn)
        return [] if first or self.keeps("CL-4") else [o.Show("turn started")]

    def _another(self, heard: o.TurnStarted) -> Wants:
        """A start before the end of the turn that runs: it comes next."""
        self._pending = heard.turn
        return []

    def _said(self, heard: o.Said) -> Wants:
        if self.stop_at is not None and self.keeps("CL-25"):
            return []
        self.answer = (heard.turn, heard.text)
        return [o.Emit(heard.turn, heard.text)]

    def _ended(self, heard: o.TurnEnded) -> Wants:
        turn = self.live
        if turn is None:
            return []
        self._close_turn(turn, heard.status)
        if self._pending:
            turn_id, self._pending = self._pending, ""
            return self._bind(o.TurnStarted(thread=self.thread, turn=turn_id))
        self.phase = Phase.SETTLING
        if not self.keeps("CL-1"):
            return self._finish()
        return [o.Settle()] if self.keeps("CL-3") else self._settled(o.Quiet())

    def _settled(self, heard: o.Quiet) -> Wants:
        """Nothing more had arrived behind the end of the turn."""
        if self.open_children:
            self.phase, self.since, self.warned = Phase.WAITING, self.now, False
            return []
        if self.last is not None and self.last.status not in ("completed", ""):
            return self._finish(exit_code=1, why=f"turn {self.last.status}")
        unread = self.owed or (self.attempt is not None and not self.attempt.bytes_sent)
        return self._decide() if unread and self.keeps("CL-2") else self._finish()

    # Children

    def _adopt(self, heard: o.Spawned) -> Wants:
        if heard.child not in self.children and heard.child != self.thread:
            child = o.Child(heard.child, self.now, heard.generation)
            self.children[heard.child] = child
            if heard.child in self._early:
                child.status, child.ended = self._early.pop(heard.child), self.now
        return []

    def _child_active(self, heard: o.ChildActive) -> Wants:
        """A new turn of its own thread is new work; anything else after its end is an echo."""
        child = self.children.get(heard.child)
        if child is None:
            return []
        fresh = bool(heard.turn) and heard.turn not in child.turns
        if heard.turn:
            child.turns.add(heard.turn)
            child.turn = heard.turn if fresh else child.turn
        if not child.open and (fresh or not self.keeps("CL-26")):
            child.status, child.ended = "running", None
        return []

    def _child_ended(self, heard: o.ChildEnded) -> Wants:
        child = self.children.get(heard.child)
        if child is None:
            self._early[heard.child] = heard.how
            return []
        if heard.turn and child.turn and heard.turn != child.turn:
            return []
        if not child.open:
            return self._again() if not self.keeps("CL-7") else []
        child.status, child.ended = heard.how, self.now
        self.owed = self.owed or self.phase is not Phase.TURN or not self.keeps("CL-5")
        if self.phase is Phase.WAITING and not self.open_children:
            return self._drained()
        return []

    def _drained(self) -> Wants:
        if self.last is not None and self.last.status not in ("completed", ""):
            return self._finish(exit_code=1, why=f"turn {self.last.status}")
        return self._decide() if self.keeps("CL-2") else self._finish()

    def _again(self) -> Wants:
        sent = self.phase is Phase.SENT
        return [o.Continue(self.run, len(self.attempts))] if sent else []

    # The continuation

    def _decide(self) -> Wants:
        """Children have ended and nobody has read it: one turn without user input."""
        if self.goal and self.keeps("CL-12"):
            self.phase = Phase.WAITING
            return []
        after = self.last.id if self.last is not None else ""
        self.attempts.append(o.Attempt(len(self.attempts) + 1, self.now, after))
        self.phase = Phase.DECIDED
        return [o.Approach("continue")]

    def _at_write(self, heard: o.AtWrite) -> Wants:
        attempt = self.attempt
        if heard.what != "continue" or attempt is None or attempt.bytes_sent:
            return []
        void = self._forbidden(attempt)
        if void:
            attempt.void = void
            if self.phase is Phase.DECIDED:
                self.phase, self.since = Phase.WAITING, self.now
            return []
        attempt.bytes_sent = True
        self.phase = Phase.SENT
        run = self.run if self.keeps("CL-4") else f"{self.run}-{attempt.number}"
        return [o.Continue(run, attempt.number)]

    def _forbidden(self, attempt: o.Attempt) -> str:
        """Why the continuation may not be written now, after all."""
        if self.stop_at is not None and self.keeps("CL-11"):
            return "stopped"
        if self.open_children and self.keeps("CL-10"):
            return "new child"
        if self.goal and self.keeps("CL-12"):
            return "goal"
        if self.live is not None and self.keeps("CL-8"):
            return "spontaneous"
        if self.last is not None and self.last.id != attempt.after and self.keeps("CL-9"):
            return "another turn"
        return ""

    def _accepted(self, heard: o.Accepted) -> Wants:
        """The answer to the continuation, before or after its turn showed."""
        attempt = self.attempt
        if attempt is None or not attempt.bytes_sent:
            return []
        attempt.acknowledged = True
        if self.phase in (Phase.SENT, Phase.AMBIGUOUS):
            return self._bind(heard) if heard.turn not in self.turns else []
        if attempt.bound != heard.turn and heard.turn not in self.turns:
            attempt.bound = self._pending = heard.turn
        return []

    def _refused(self, heard: o.Refused) -> Wants:
        return self._finish(exit_code=1, why="refused")

    def _lost(self, heard: o.AnswerLost) -> Wants:
        """No answer will come. What was sent is never sent again (CL-13, CL-14, CL-16)."""
        attempt = self.attempt
        if attempt is None or not attempt.bytes_sent:
            return []
        attempt.acknowledged = False
        rule = {Phase.SENT: "CL-14", Phase.TURN: "CL-13"}.get(self.phase, "CL-16")
        if self.phase is Phase.SENT:
            self.phase, self.deadline = Phase.AMBIGUOUS, self.now + self.window
        if not self.keeps(rule):
            return [o.Continue(self.run, attempt.number)]
        if self.phase is Phase.AMBIGUOUS and not self.keeps("CL-38"):
            return [o.ListTurns()]
        return []

    def _window(self, heard: o.Tick) -> Wants:
        """The late turn did not come: whose an old one was is not guessed."""
        if self.deadline is None or self.now < self.deadline:
            return []
        if not self.keeps("CL-15"):
            return self._finish()
        self.answer = ("", "")
        return [*self._retire(), *self._finish(exit_code=1, why="ambiguous")]

    # Everything else

    def _yield(self, heard: o.Replaced) -> Wants:
        """Another run owns the session: nothing of ours is shown, stopped or interrupted."""
        unsure = self.phase in (Phase.AMBIGUOUS, Phase.FENCED)
        if not self.keeps("CL-20" if unsure else "CL-21"):
            return []
        self.answer = ("", "")
        return self._finish(why="replaced")

    def _new_generation(self, heard: o.NewGeneration) -> Wants:
        if heard.generation == self.generation or not self.keeps("CL-22"):
            return []
        self.answer = ("", "")
        return self._finish(exit_code=1, why="the transport was replaced")

    def _goal(self, heard: o.Goal) -> Wants:
        self.goal = heard.active
        waits = self.phase is Phase.WAITING and not self.open_children and self.owed
        return self._decide() if waits and not heard.active else []

    def _patience(self, heard: o.Tick) -> Wants:
        waited = self.now - self.since
        if not self.keeps("CL-36"):
            return []
        if waited >= self.give_up_after:
            return [o.Show("gave up waiting"), *self._finish(exit_code=1, why="patience")]
        if waited >= self.warn_after and not self.warned:
            self.warned = True
            return [o.Show("still waiting")]
        return []

    def _gone(self, heard: o.Gone) -> Wants:
        if self.stop_at is not None:
            return self._finish(stopped=True)
        over = self.phase is Phase.SETTLING and not self.open_children and not self.owed
        if over and self.last is not None and self.last.status == "completed":
            return self._finish()
        return self._finish(exit_code=1, why="the connection ended")
