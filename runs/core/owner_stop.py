"""How an owner of a parent's turn is stopped: fences, and interrupts of exactly one turn."""

from __future__ import annotations

from runs.core import owning as o
from runs.core.owner_memory import Memory, Wants
from runs.core.owning import Phase


class Stopping(Memory):
    """The steps of a stop; which phase takes which is in the table of the owner."""

    def _deny(self, heard: o.Stop) -> Wants:
        if not self.keeps("CL-31"):
            return self._fence(heard)
        return [o.Show("stop refused: it is still starting")]

    def _stop_turn(self, heard: o.Stop) -> Wants:
        self.stop_at, self.phase = self.now, Phase.STOPPING
        self.deadline = self.now + self.window
        turn = self.live.id if self.live is not None else ""
        if not self.keeps("CL-29"):
            turn = next(iter(self.turns))
            return [o.Interrupt(self.thread, turn), *self._cascade(heard)]
        return [o.Approach("interrupt", turn), *self._cascade(heard)]

    def _cascade(self, heard: o.Stop) -> Wants:
        if not heard.cascade:
            return []
        running = [one for one in self.children.values() if one.open and one.turn]
        return [o.Interrupt(one.id, one.turn) for one in running]

    def _stop_between(self, heard: o.Stop) -> Wants:
        """No turn runs: nothing is sent, unless nobody can tell that the last one is over."""
        self.stop_at, zero = self.now, self.phase is Phase.DECIDED
        if zero and self.attempt is not None and self.keeps("CL-11"):
            self.attempt.void = "stopped"
        if self.phase is Phase.WAITING and not self.keeps("CL-23"):
            return []
        if not self.keeps("CL-11") and zero:
            return []
        unsure = self.last is not None and self.last.completed is not True
        bound = self.attempt is not None and bool(self.attempt.bound)
        if (unsure and self.keeps("CL-32")) or (bound and not self.keeps("CL-18")):
            self.phase, self.deadline = Phase.STOPPING, self.now + self.window
            self.live = self.last
            turn = self.last.id if self.last is not None else ""
            if not self.keeps("CL-18"):
                return [o.Interrupt(self.thread, turn)]
            return [o.Approach("interrupt", turn), *self._cascade(heard)]
        self.phase = Phase.STOPPED
        more = self._retire() if zero and not self.keeps("CL-19") else []
        return [*more, *self._cascade(heard), o.Settle()]

    def _fence(self, heard: o.Stop) -> Wants:
        self.stop_at, self.phase = self.now, Phase.FENCED
        self.deadline = self.now + self.window
        return self._finish(stopped=True) if not self.keeps("CL-17") else []

    def _fenced(self, heard: o.TurnStarted | o.Accepted) -> Wants:
        """A turn that begins behind the fence: exactly it is interrupted."""
        if heard.turn in self.turns and self.turns[heard.turn].ended is not None:
            return []
        if self.phase is Phase.STOPPED and not self.keeps("CL-24"):
            return []
        if self.attempt is not None and self.attempt.bytes_sent:
            self.attempt.bound = self.attempt.bound or heard.turn
        self._run(heard.turn)
        self.phase, self.deadline = Phase.STOPPING, self.now + self.window
        return [o.Approach("interrupt", heard.turn)]

    def _stale(self, heard: o.TurnStarted) -> Wants:
        """While a live turn is being stopped no other one can be (CL-28)."""
        if self.keeps("CL-28"):
            return []
        self._run(heard.turn)
        self.deadline = self.now + self.window
        return [o.Interrupt(self.thread, heard.turn)]

    def _at_interrupt(self, heard: o.AtWrite) -> Wants:
        turn = self.turns.get(heard.turn)
        if heard.what != "interrupt" or turn is None or turn is not self.live:
            return []
        return [o.Interrupt(self.thread, turn.id)] if turn.completed is not True else []

    def _stopped_turn(self, heard: o.TurnEnded) -> Wants:
        if self.live is not None:
            self._close_turn(self.live, heard.status)
        self.phase = Phase.STOPPED
        return [o.Settle()]

    def _released(self, heard: o.Heard) -> Wants:
        return self._finish(stopped=True)

    def _stop_window(self, heard: o.Tick) -> Wants:
        """The turn neither came nor ended in time: its transport is not used again."""
        if self.deadline is None or self.now < self.deadline:
            return []
        return [*self._retire(), *self._finish(stopped=True, why="no word from it")]

    def _late(self, heard: o.TurnStarted) -> Wants:
        """The handle is closed, and a turn begins all the same (CL-30)."""
        if self.stop_at is None or not (self.keeps("CL-30") and self.keeps("CL-17")):
            return []
        self._run(heard.turn)
        return [o.Approach("interrupt", heard.turn)]
