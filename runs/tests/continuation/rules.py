"""Each rule as a play and what must be true of it. A wrong owner must fail its own rule."""

from __future__ import annotations

import json

from runs.core import owning as o
from runs.core.owning import Phase
from runs.tests.continuation.checks import Rule, ends_with, interrupts, once, quiet_stop
from runs.tests.continuation.scripted import (
    GIVE_UP,
    RUN,
    SECOND,
    SPAWNED,
    WAITING,
    WARN,
    WINDOW,
    Wait,
    child_ends,
    end,
    later,
    says,
    spawn,
    start,
    stop,
)

SENT = (*WAITING, child_ends("c1"))
LOST = (*SENT, o.AnswerLost())
LONG = Wait(WINDOW + 1)


RULES = (
    Rule(
        "CL-1",
        "the owner is released while its child runs, and the child's result is dropped",
        WAITING,
        lambda r: r.owner.phase is Phase.WAITING and r.result is None and not r.of(o.Close),
    ),
    Rule(
        "CL-2",
        "the child's end is announced before its parent has read the result",
        (*WAITING, child_ends("c1")),
        lambda r: r.result is None and r.owner.phase is Phase.SENT,
    ),
    Rule(
        "CL-3",
        "a follow-up turn that is already there is lost",
        (*SPAWNED, child_ends("c1"), end("t1"), later(*SECOND)),
        lambda r: (
            [e.text for e in r.of(o.Emit)] == ["Waiting.", "All done."]
            and ends_with(r, "All done.")
            and once(r)
        ),
    ),
    Rule(
        "CL-4",
        "one operation shows as several",
        (
            *SPAWNED, spawn("c2"), end("t1"),
            child_ends("c1"), start("t2"), says("t2", "One."), end("t2"),
            child_ends("c2"), start("t3"), says("t3", "Both."), end("t3"),
        ),
        lambda r: (
            ends_with(r, "Both.", "t3")
            and not r.of(o.Show)
            and {w.run for w in r.of(o.Continue)} == {RUN}
            and once(r)
        ),
    ),
    Rule(
        "CL-5",
        "an idle extra turn runs for a child that ended within the turn",
        (*SPAWNED, child_ends("c1"), end("t1")),
        lambda r: not r.of(o.Continue) and ends_with(r, "Waiting.", "t1"),
    ),
    Rule(
        "CL-6",
        "a stranger's or an older run's child keeps the parent",
        (o.Accepted(turn="t1"), start("t1"), spawn("old", turn="t0"), says("t1", "Hi."), end("t1")),
        lambda r: not r.owner.children and ends_with(r, "Hi.", "t1"),
    ),
    Rule(
        "CL-7",
        "a duplicate end of a child starts a second continuation",
        (*SENT, child_ends("c1"), child_ends("c1")),
        lambda r: len(r.of(o.Continue)) == 1,
    ),
    Rule(
        "CL-8",
        "two turns answer, though the provider began one by itself",
        (*WAITING, child_ends("c1"), later(start("t2"))),
        lambda r: not r.of(o.Continue) and r.owner.attempts[0].void == "spontaneous",
    ),
    Rule(
        "CL-9",
        "a third turn runs for what the second has answered",
        (*WAITING, child_ends("c1"), later(*SECOND)),
        lambda r: not r.of(o.Continue) and ends_with(r, "All done."),
    ),
    Rule(
        "CL-10",
        "the parent consolidates without a child that was just spawned",
        (*WAITING, child_ends("c1"), later(spawn("c2")), child_ends("c2")),
        lambda r: (
            len(r.of(o.Continue)) == 1
            and [a.void for a in r.owner.attempts] == ["new child", ""]
            and r.owner.attempts[1].bytes_sent
        ),
    ),
    Rule(
        "CL-11",
        "a continuation is written after the stop",
        (*WAITING, child_ends("c1"), later(stop())),
        quiet_stop,
    ),
    Rule(
        "CL-12",
        "a goal and the owner both drive the thread",
        (*WAITING, child_ends("c1"), later(o.Goal(active=True))),
        lambda r: not r.of(o.Continue) and r.owner.attempts[0].void == "goal",
    ),
    Rule(
        "CL-13",
        "a continuation whose turn is there is sent again, or its turn is interrupted",
        (*SENT, start("t2"), o.AnswerLost(), says("t2", "All done."), end("t2")),
        lambda r: (
            len(r.packets) == 1 and not r.of(o.Retire) and r.owner.attempts[0].bound == "t2"
            and r.owner.attempts[0].acknowledged is False and ends_with(r, "All done.")
        ),
    ),
    Rule(
        "CL-14",
        "a lost answer is replayed instead of waited for",
        (*LOST, Wait(WINDOW / 2), *SECOND),
        lambda r: len(r.packets) == 1 and not r.of(o.Retire) and ends_with(r, "All done."),
    ),
    Rule(
        "CL-15",
        "an old turn's answer passes for the new result",
        (*LOST, start("t1"), says("t1", "Old."), end("t1"), LONG, LONG),
        lambda r: len(r.of(o.Retire)) == 1 and ends_with(r, "", "", 1) and once(r),
    ),
    Rule(
        "CL-16",
        "an answer that is already there is asked for again or given twice",
        (*SENT, start("t2"), says("t2", "All done."), end("t2"), later(o.AnswerLost())),
        lambda r: (
            len(r.packets) == 1
            and [e.text for e in r.of(o.Emit)].count("All done.") == 1
            and ends_with(r, "All done.")
        ),
    ),
    Rule(
        "CL-17",
        "a turn that was asked for runs on as an orphan after the cancel",
        (*SENT, stop(), start("t2"), end("t2", "interrupted")),
        lambda r: (
            interrupts(r, "t2") and not r.of(o.Retire) and r.result is not None
            and r.result.stopped and once(r)
        ),
    ),
    Rule(
        "CL-18",
        "a turn that has ended is interrupted, or its transport given up",
        (*SENT, start("t2"), says("t2", "All done."), end("t2"), later(stop())),
        lambda r: len(r.packets) == 1 and not r.of(o.Retire) and r.result.stopped,
    ),
    Rule(
        "CL-19",
        "a cancel before the first byte reconciles, retires or interrupts",
        (*WAITING, child_ends("c1"), later(stop())),
        quiet_stop,
    ),
    Rule(
        "CL-20",
        "an unsure continuation gives up the transport of the session's next owner",
        (*LOST, o.Replaced(run="run-2"), LONG),
        lambda r: not r.of(o.Retire) and len(r.packets) == 1 and once(r),
    ),
    Rule(
        "CL-21",
        "a replaced owner shows text that is not its own",
        (*SENT, o.Replaced(run="run-2"), *SECOND),
        lambda r: (
            "All done." not in [e.text for e in r.of(o.Emit)]
            and ends_with(r, "", "") and not r.result.stopped and not r.of(o.Interrupt)
        ),
    ),
    Rule(
        "CL-22",
        "a replaced transport goes on under the old authority",
        (*SENT, o.NewGeneration(generation=2), start("t2"), says("t2", "New.", 2), end("t2")),
        lambda r: len(r.packets) == 1 and ends_with(r, "", "", 1),
    ),
    Rule("CL-23", "a stop hangs until the provider speaks", (*WAITING, stop()), quiet_stop),
    Rule(
        "CL-24",
        "a turn that begins at the moment of the stop runs on",
        (*WAITING, stop(), later(start("t2")), end("t2", "interrupted")),
        lambda r: interrupts(r, "t2") and r.result is not None and r.result.stopped,
    ),
    Rule(
        "CL-25",
        "text comes after the stop",
        (*SPAWNED, stop(), says("t1", "More."), end("t1", "interrupted"), child_ends("c1")),
        lambda r: [e.text for e in r.of(o.Emit)] == ["Waiting."] and once(r),
    ),
    Rule(
        "CL-26",
        "an echo revives a child that has ended, and the parent waits forever",
        (*SPAWNED, child_ends("c1"), o.ChildActive(child="c1"), spawn("c1"), end("t1")),
        lambda r: r.owner.phase is Phase.DONE and ends_with(r, "Waiting.", "t1"),
    ),
    Rule(
        "CL-27",
        "a late end of the first turn ends the second",
        (*SENT, start("t2"), end("t1"), start("t1"), says("t2", "All done."), end("t2")),
        lambda r: ends_with(r, "All done."),
    ),
    Rule(
        "CL-28",
        "a stale start takes the place of the turn that is being stopped",
        (*SENT, start("t3"), stop(), start("t2"), end("t3", "interrupted")),
        lambda r: interrupts(r, "t3") and r.result is not None and r.result.stopped,
    ),
    Rule(
        "CL-29",
        "the stop interrupts a turn that is over, or another one",
        (*SENT, start("t2"), stop(), later(end("t2"))),
        lambda r: interrupts(r) and r.result is not None and r.result.stopped,
    ),
    Rule(
        "CL-30",
        "a turn that begins after the handle was closed runs on",
        (*WAITING, stop(), start("t2")),
        lambda r: interrupts(r, "t2") and once(r),
    ),
    Rule(
        "CL-31",
        "a stop during the start leaves a flag behind",
        (stop(), o.Accepted(turn="t1"), start("t1"), says("t1", "Hi."), end("t1")),
        lambda r: r.owner.stop_at is None and ends_with(r, "Hi.", "t1"),
    ),
    Rule(
        "CL-32",
        "a turn that may still run is not interrupted",
        (*SPAWNED, end("t1", "strange"), stop(), end("t1", "interrupted")),
        lambda r: interrupts(r, "t1") and r.result is not None and r.result.stopped,
    ),
    Rule(
        "CL-33",
        "the snapshot shows what authorises the run",
        WAITING,
        lambda r: "secret-proof" not in json.dumps(r.owner.snapshot()),
    ),
    Rule("CL-34", "an exit leaves handlers, or has two results", (*SENT, *SECOND), once),
    Rule(
        "CL-35",
        "a stop for another run stops this one",
        (*WAITING, stop("run-0")),
        lambda r: r.owner.phase is Phase.WAITING and r.owner.stop_at is None,
    ),
    Rule(
        "CL-36",
        "a wait has no end and nobody sees it",
        (*WAITING, Wait(WARN + 1), Wait(1), Wait(GIVE_UP)),
        lambda r: (
            [s.text for s in r.of(o.Show)] == ["still waiting", "gave up waiting"]
            and r.result is not None and r.result.exit_code == 1
        ),
    ),
    Rule(
        "CL-37",
        "another thread's spawn counts as the owner's",
        (o.Accepted(turn="t1"), start("t1"), spawn("x", sender="c9"), says("t1", "Hi."), end("t1")),
        lambda r: not r.owner.children and ends_with(r, "Hi.", "t1"),
    ),
    Rule(
        "CL-38",
        "the list of turns is asked to find out what became of a continuation",
        LOST,
        lambda r: not r.of(o.ListTurns),
    ),
)  # fmt: skip
