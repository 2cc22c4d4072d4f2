"""The transitions of the owner of a parent's turn: what each phase does with what it hears.

The names are those of the steps in :mod:`runs.core.continuation` and :mod:`runs.core.owner_stop`.
A pair that is not here changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from runs.core import owning as o
from runs.core.owning import Phase

_ALWAYS: Mapping[type[o.Heard], str] = {
    o.Spawned: "_adopt",
    o.ChildActive: "_child_active",
    o.ChildEnded: "_child_ended",
    o.Replaced: "_yield",
    o.NewGeneration: "_new_generation",
    o.Goal: "_goal",
    o.Gone: "_gone",
}
_BETWEEN: Mapping[type[o.Heard], str] = {
    **_ALWAYS,
    o.TurnStarted: "_bind",
    o.AnswerLost: "_lost",
    o.Accepted: "_accepted",
    o.AtWrite: "_at_write",
    o.Stop: "_stop_between",
}
TABLE: Mapping[Phase, Mapping[type[o.Heard], str]] = {
    Phase.STARTING: {
        **_ALWAYS,
        o.TurnStarted: "_bind",
        o.Accepted: "_bind",
        o.Refused: "_refused",
        o.Stop: "_deny",
    },
    Phase.TURN: {
        **_ALWAYS,
        o.TurnStarted: "_another",
        o.TurnEnded: "_ended",
        o.Said: "_said",
        o.Accepted: "_accepted",
        o.AnswerLost: "_lost",
        o.AtWrite: "_at_write",
        o.Stop: "_stop_turn",
    },
    Phase.SETTLING: {**_BETWEEN, o.Quiet: "_settled"},
    Phase.WAITING: {**_BETWEEN, o.Tick: "_patience"},
    Phase.DECIDED: _BETWEEN,
    Phase.SENT: {
        **_ALWAYS,
        o.TurnStarted: "_bind",
        o.Accepted: "_accepted",
        o.Refused: "_refused",
        o.AnswerLost: "_lost",
        o.Stop: "_fence",
    },
    Phase.AMBIGUOUS: {
        **_ALWAYS,
        o.TurnStarted: "_bind",
        o.Accepted: "_accepted",
        o.Tick: "_window",
        o.Stop: "_fence",
    },
    Phase.FENCED: {
        **_ALWAYS,
        o.TurnStarted: "_fenced",
        o.Accepted: "_fenced",
        o.Tick: "_stop_window",
    },
    Phase.STOPPING: {
        **_ALWAYS,
        o.TurnStarted: "_stale",
        o.TurnEnded: "_stopped_turn",
        o.Said: "_said",
        o.AtWrite: "_at_interrupt",
        o.Tick: "_stop_window",
    },
    Phase.STOPPED: {**_ALWAYS, o.TurnStarted: "_fenced", o.Quiet: "_released"},
    Phase.DONE: {o.TurnStarted: "_late", o.AtWrite: "_at_interrupt"},
}
"""Phase, then what is heard, then the step."""
