"""The owner's panel of a client run: turns, children, continuations and how it came out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from runs import clients
from runs.clients import Play
from runs.core.events import Kind
from runs.core.owner_facts import Difference, differences
from runs.core.owner_log import FILE, Story, tell
from runs.models import Run
from runs.text import visible_deep

ROWS = 5_000
WORDS = {
    "waited_ok": ("waited ok", "ok"),
    "dropped_child": ("dropped child", "bad"),
    "double_continuation": ("double continuation", "bad"),
    "misbound": ("misbound", "bad"),
    "orphan_after_stop": ("orphan after stop", "bad"),
    "ambiguous_retired": ("ambiguous retired", "unknown"),
}
_ANSWERS = {True: "yes", False: "lost", None: "–"}


@dataclass(frozen=True, slots=True)
class Panel:
    """What the panel shows. `rule`: a tone, and whether the owner kept its play's rule, in
    words; `wrong`: facts that are not as the rule expects: name, expected, found."""

    story: Story
    word: str
    tone: str
    turns: list[dict[str, Any]]
    children: list[dict[str, Any]]
    attempts: list[dict[str, Any]]
    result: dict[str, Any]
    question: str
    rule: tuple[str, str]
    wrong: list[tuple[str, str, str]]


def plays(run: Run) -> bool:
    """Whether an owner of ours may play in this run, now or later."""
    return "play" in run.options and "breaks" in run.options


def panel(run: Run) -> Panel | None:
    """The panel, None where no owner of ours has played so far."""
    if not plays(run):
        return None
    rows = list(
        run.events.filter(kind=Kind.PHASE.value, file=FILE)
        .order_by("seq")
        .values_list("seq", "t", "data")[:ROWS]
    )
    details = [(seq, t, data.get("detail") or {}) for seq, t, data in rows]
    if not details:
        return None
    shown = [visible_deep(detail) for _, _, detail in details]
    story, play = tell(shown), clients.plays().get(str(run.options["play"]))
    wrong = differences(shown, play.expect) if play is not None else []
    decided = bool(story.results) or run.status not in Run.OPEN
    word, tone = WORDS[story.outcome] if story.results else ("still owned", "wait")
    places = _places(details)
    return Panel(
        story,
        word,
        tone,
        [{**row, **places.get(("turn", key), {})} for key, row in story.turns.items()],
        [{**row, **places.get(("child", key), {})} for key, row in story.children.items()],
        [
            {**row, "answer": _ANSWERS[row["acknowledged"]], **places.get(("attempt", key), {})}
            for key, row in story.attempts.items()
        ],
        dict(story.result),
        play.question if play is not None else "",
        _rule(play, decided, wrong),
        [(one.fact, json.dumps(one.expected), json.dumps(one.found)) for one in wrong if decided],
    )


def _rule(play: Play | None, decided: bool, wrong: list[Difference]) -> tuple[str, str]:
    if play is None or not play.rule:
        return "", ""
    if not decided:
        return "wait", f"{play.rule} still open"
    return ("bad", f"{play.rule} broken") if wrong else ("ok", f"{play.rule} kept")


def _places(details: list[tuple[int, float | None, dict[str, Any]]]) -> dict[tuple[str, Any], Any]:
    """First and last event of each turn, child and attempt: number and seconds."""
    found: dict[tuple[str, Any], dict[str, Any]] = {}
    for seq, t, row in details:
        if row.get("what") in ("turn", "child", "attempt"):
            key = (str(row["what"]), row.get("id", row.get("number")))
            place = found.setdefault(key, {"seq": seq, "from_t": t})
            place["to_t"], place["to_seq"] = t, seq
    return found
