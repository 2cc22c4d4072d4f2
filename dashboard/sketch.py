"""What the scenario pages show: the drawing, the words, and what an editor may set."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import accumulate
from typing import Any

from django.template.loader import render_to_string

from fakes.fault import aim, make_fault
from fakes.script import make_script
from fakes.settings import Setting, describe
from fakes.targeting import AimedFault, Target
from runs import catalogue, saved
from runs.checking import Checked
from runs.core.law import Thresholds
from runs.planned import Cell, Plan, plan
from runs.scenario import Guards, Scenario

NOBODY = "nobody"
"""The caller of a fault that cannot be read: it keeps its place and hits nothing."""
GUARDS = {
    "deadline": ("s", "The run is ended after this time."),
    "output_mib": ("MiB", "The run is ended when the agent has written this much."),
    "requests": ("", "The run is ended after this many requests to the provider."),
    "memory_floor_mib": ("MiB", "The run is not started, or ended, below this free memory."),
}
THRESHOLDS = {
    "stall_after": ("s", "Silence of a model call that must have been noticed by then (L5)."),
    "start_within": ("s", "A started child asks its model within this time (L15)."),
    "notice_within": ("s", "The parent hears of an end within this time (L3)."),
    "cancel_within": ("s", "A cancelled child is still within this time (L7)."),
    "answer_within": ("s", "Calls and questions are answered within this time (L14, L15)."),
    "max_attempts": ("", "More attempts of one call are an endless retry (L6)."),
    "retry_after_slack": ("s", "How much too early a retry may come after Retry-After (L6)."),
}
LONGEST = 6
"""Columns of a miniature that a stretch without any edge takes."""
REPORT = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)$")


def drawing(tree: Mapping[str, Any] | None) -> Plan | None:
    """The planned timeline of a scenario's tree, as far as it can be read; None: not at all."""
    if tree is None:
        return None
    settings, faults = tree.get("settings", {}), tree.get("faults", [])
    try:
        script = make_script(str(tree.get("script")), settings)
    except (ValueError, TypeError, AttributeError):
        return None
    listed = faults if isinstance(faults, list | tuple) else []
    return plan(script, [_aimed(fault) for fault in listed])


def _aimed(fault: Any) -> AimedFault:
    try:
        return aim(fault)
    except (ValueError, TypeError):
        return AimedFault(make_fault("success"), Target(caller=NOBODY))


def answer(checked: Checked, selected: int | None = None) -> dict[str, Any]:
    """What the editor asks for on every change, as JSON."""
    return {
        "toml": checked.text,
        "tree": _plain(checked.tree),
        "valid": checked.scenario is not None,
        "problems": [problem.as_dict() for problem in checked.problems],
        "plan": plan_html(checked, editable=True),
        "said": said(checked.tree),
        "saves": saves(checked),
        "selected": selected,
    }


def saves(checked: Checked) -> dict[str, Any]:
    """What a save would do, in words: {ok, says}."""
    if checked.scenario is None:
        return {"ok": True, "says": ""}
    name = checked.scenario.name
    if name in catalogue.scenarios() or name in saved.RESERVED:
        return {"ok": False, "says": f"{name} is taken: choose another name to save it."}
    row = saved.newest(name)
    if row is None:
        return {"ok": True, "says": f"Saved as {name}, a new scenario."}
    if row.toml == checked.text:
        return {"ok": True, "says": f"Version {row.number} of {name}, as it is saved."}
    return {"ok": True, "says": f"Saved as version {row.number + 1} of {name}."}


def said(tree: Mapping[str, Any] | None) -> list[str]:
    """Where each fault of a tree strikes, in words; empty for one that cannot be read."""
    listed = (tree or {}).get("faults", [])
    found = [_aimed(fault) for fault in listed] if isinstance(listed, list) else []
    return ["" if each.target.caller == NOBODY else where(each.target) for each in found]


def plan_html(checked: Checked, *, editable: bool) -> str:
    """The drawing as HTML; in the editor its boxes can be pressed."""
    drawn = drawing(checked.tree)
    return render_to_string("scenarios/_plan.html", {"plan": drawn, "editable": editable})


def _plain(tree: Any) -> Any:
    """The tree if JSON can hold it (TOML also knows dates and nan), else None."""
    try:
        json.dumps(tree, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return tree


def miniature(scenario: Scenario) -> dict[str, Any]:
    """The drawing as squares for lists: {width, height, squares: [{x, y, w, tone}]}."""
    drawn = drawing(scenario.as_dict())
    squares = []
    rows = drawn.rows[:6] if drawn else ()
    place = _places(row.cells for row in rows)
    for number, row in enumerate(rows):
        x = 0
        for cell in row.cells:
            if cell.kind != "idle":
                tone = cell.box.tone if cell.box else cell.kind
                width = 22 * (place[x + cell.span] - place[x]) - 3
                squares.append({"x": 22 * place[x], "y": 13 * number, "w": width, "tone": tone})
            x += cell.span
    columns = place[max(place)]
    return {"width": 22 * columns, "height": 13 * max(1, len(rows)), "squares": squares}


def _places(rows: Iterable[Iterable[Cell]]) -> dict[int, int]:
    """Where each column's edge is drawn; a stretch without an edge in any row is `LONGEST` wide."""
    edges = {0, 1}
    for row in rows:
        edges.update(accumulate(cell.span for cell in row))
    place, before = {0: 0}, 0
    for edge in sorted(edges - {0}):
        place[edge] = place[before] + min(edge - before, LONGEST)
        before = edge
    return place


def sentences(scenario: Scenario) -> list[dict[str, str]]:
    """Each fault in words: {name, title, where, what}."""
    found = []
    for item in scenario.faults:
        aimed = aim(item)
        settings = {key: value for key, value in item.items() if key not in ("fault", "on")}
        what = ", ".join(f"{key} {value}" for key, value in settings.items())
        found.append(
            {
                "name": aimed.fault.name,
                "title": aimed.fault.title,
                "where": where(aimed.target),
                "what": what,
            }
        )
    return found


def where(target: Target) -> str:
    """A target in words: ``every attempt of each call of child 2``."""
    spec = target.attempt
    if spec == "all":
        attempts = "every attempt"
    elif spec.isdigit():
        attempts = f"attempt {spec}"
    else:
        attempts = f"attempts {spec.replace('-', '–')}"
        attempts = attempts.removesuffix("–") + (" and later" if spec.endswith("-") else "")
    call = f"call {target.turn}" if target.turn else "every call"
    kind, _, number = target.caller.partition(":")
    who = {
        "any-agent": "every agent",
        "parent": "the parent",
        "utility": "utility calls",
        "child": f"child {number}" if number else "each child",
        "grandchild": f"grandchild {number}" if number else "each grandchild",
    }[kind]
    words = f"{attempts} of {call} of {who}" if kind != "utility" else f"{attempts} of {who}"
    if target.form != "any":
        words += f", {target.form} answers only"
    return words + (f", {target.share:.0%} of them" if target.share < 1 else "")


def reports(names: Iterable[str]) -> list[tuple[str, str]]:
    """Public reports with their addresses (empty where the name is of another form)."""
    found = []
    for name in names:
        match = REPORT.fullmatch(name)
        found.append((name, f"https://github.com/{match[1]}/issues/{match[2]}" if match else ""))
    return found


def schema() -> dict[str, Any]:
    """All that can be set, for the editor's fields."""
    return {
        "scripts": {name: _described(script) for name, script in catalogue.scripts().items()},
        "faults": {name: _fault(fault) for name, fault in catalogue.faults().items()},
        "target": [_setting(each) for each in describe(Target)],
        "guards": _numbers(asdict(Guards()), GUARDS),
        "thresholds": _numbers(asdict(Thresholds()), THRESHOLDS),
        "laws": [
            {"id": law.id, "sentence": law.sentence, "name": law.name}
            for law in catalogue.laws().values()
        ],
    }


def _described(owner: Any) -> dict[str, Any]:
    return {
        "title": owner.title,
        "sentence": owner.sentence,
        "settings": [_setting(each) for each in describe(owner)],
    }


def _fault(fault: Any) -> dict[str, Any]:
    return {**_described(fault), "seen": fault.seen, "picture": stages(fault.picture)}


def _setting(each: Setting) -> dict[str, Any]:
    given = asdict(each)
    default = list(each.default) if isinstance(each.default, tuple) else each.default
    return {**given, "default": default, "choices": list(each.choices)}


def _numbers(defaults: Mapping[str, Any], words: Mapping[str, tuple[str, str]]) -> list[Any]:
    return [
        {
            "key": key,
            "kind": "float" if isinstance(default, float) else "int",
            "default": default,
            "unit": words.get(key, ("", ""))[0],
            "help": words.get(key, ("", ""))[1],
            "low": None,
            "high": None,
            "choices": [],
        }
        for key, default in defaults.items()
    ]


END_TONES = {"end": "end", "FIN": "fin", "RST": "rst", "…": "silent"}


def stages(picture: str) -> list[dict[str, str]]:
    """A fault's line of the wire as stages: {words, kind}; kind says how each is drawn."""
    made = []
    for words in (part.strip() for part in picture.split("│")):
        kind = END_TONES.get(words, "")
        if not kind:
            first = words.split(" ")[0]
            kind = {"head": "head", "request": "head", "connect": "head"}.get(first, "body")
            if first == "terminal":
                kind = "whole"
        if words:
            made.append({"words": words, "kind": kind})
    return made
