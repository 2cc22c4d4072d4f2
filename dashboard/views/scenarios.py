"""`/scenarios/`: the list, the page of one, and the editor."""

from __future__ import annotations

import difflib
import json
import re
from itertools import pairwise
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dashboard import sketch, trouble
from dashboard.versions import choices
from runs import catalogue, editing, saved, start
from runs.checking import LAYERS, LIMIT, Checked, Problem, check, is_flat
from runs.errors import HarnessError
from runs.models import SavedScenario
from runs.scenario import Scenario, ScenarioError, to_toml

BLANK = """name = "{name}"
question = "What happens when …?"
script = "delegate-one"
laws = ["L1", "L2", "L3"]
"""
RUN_ON = {"agent": "reference", "version": ""}


@never_cache
@require_GET
def scenarios(request: HttpRequest) -> HttpResponse:
    """Shipped and saved ones; `?q=` keeps those that hold all of its words."""
    words = request.GET.get("q", "")[:200].lower().split()
    mine = saved.everything()
    known = {**mine, **catalogue.scenarios()}
    every = [scenario for scenario in known.values() if _holds(scenario, words)]
    context = {
        "section": "scenarios",
        "entries": every,
        "rows": [(each, sketch.miniature(each), each.name in mine) for each in every],
        "query": request.GET.get("q", "")[:200],
        "unreadable": [name for name in saved.names() if name not in mine],
        "shipped": len(catalogue.scenarios()),
    }
    return render(request, "scenarios/list.html", context)


def _holds(scenario: Scenario, words: list[str]) -> bool:
    text = f"{scenario.name} {scenario.title} {scenario.question} {scenario.script}"
    text += f" {' '.join(scenario.families)} {' '.join(scenario.laws)}"
    text += f" {' '.join(item['fault'] for item in scenario.faults)}"
    return all(word in text.lower() for word in words)


@never_cache
@require_GET
def scenario(request: HttpRequest, name: str) -> HttpResponse:
    """One scenario: its drawing, its question, laws, reports, history."""
    text, row = _text_of(name, request.GET.get("version", ""))
    checked = check(text)
    found = checked.scenario
    laws = catalogue.laws()
    context = {
        "section": "scenarios",
        "name": name,
        "row": row,
        "checked": checked,
        "scenario": found,
        "shipped": row is None,
        "plan": sketch.drawing(checked.tree),
        "faults": sketch.sentences(found) if found else [],
        "reports": sketch.reports(found.reports) if found else [],
        "laws": [laws[law] for law in found.laws if law in laws] if found else [],
        "history": _history(name) if row else [],
        **_run_context(RUN_ON),
    }
    return render(request, "scenarios/page.html", context)


def _text_of(name: str, version: str = "") -> tuple[str, SavedScenario | None]:
    """TOML of a shipped scenario or of a version of a saved one (default: the newest)."""
    if name in catalogue.scenarios():
        return catalogue.scenarios()[name].toml(), None
    rows = saved.versions(name)
    wanted = [row for row in rows if not version or str(row.number) == version]
    if not wanted:
        raise Http404
    return wanted[0].toml, wanted[0]


def _history(name: str) -> list[tuple[SavedScenario, list[str]]]:
    """All versions, newest first, with what each changed (lines of a diff)."""
    rows = saved.versions(name)
    changes = [
        [
            line
            for line in difflib.unified_diff(
                old.toml.splitlines(), new.toml.splitlines(), lineterm="", n=1
            )
            if not line.startswith(("---", "+++"))
        ]
        for new, old in pairwise(rows)
    ]
    return list(zip(rows, [*changes, []], strict=True)) if rows else []


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The editor on a new scenario, or on a copy (`?from=NAME`)."""
    if request.method == "POST":
        return _posted(request)
    name = request.GET.get("from", "")
    if not name:
        return _editor(request, check(_blank()))
    text, _ = _text_of(name, request.GET.get("version", ""))
    return _editor(request, check(_renamed(text, name)), origin=f"copied from {name}")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, name: str) -> HttpResponse:
    """The editor on a saved scenario; a shipped one is opened as a copy."""
    if request.method == "POST":
        return _posted(request)
    if name in catalogue.scenarios():
        return redirect(f"/scenarios/new?from={name}")
    text, _ = _text_of(name, request.GET.get("version", ""))
    return _editor(request, check(text), name=name)


def _blank() -> str:
    taken = saved.names()
    return BLANK.format(name="my-scenario" if "my-scenario" not in taken else _free("my-scenario"))


def _renamed(text: str, name: str) -> str:
    """The TOML under the first free name after `name`."""
    return re.sub(r'(?m)^name = "[^"\n]*"$', f'name = "{_free(name)}"', text, count=1)


def _free(name: str) -> str:
    taken = {*saved.names(), *catalogue.scenarios()}
    stem = re.sub(r"-\d+$", "", name)[:74]
    return next(f"{stem}-{n}" for n in range(2, len(taken) + 3) if f"{stem}-{n}" not in taken)


def _posted(request: HttpRequest) -> HttpResponse:
    """Without JavaScript all buttons come here: press a box, check, save, run."""
    text = request.POST.get("toml", "")[: LIMIT + 1].replace("\r\n", "\n")
    origin = request.POST.get("origin", "")[:120]
    checked = check(text)
    if "press" in request.POST or "mend" in request.POST:
        return _editor(request, _pressed(request, checked)[0], origin=origin)
    action = request.POST.get("action", "check")
    if checked.scenario is None or action not in ("save", "run"):
        status = 400 if checked.problems and action in ("save", "run") else 200
        return _editor(request, checked, origin=origin, status=status, asked=True)
    return keep(request, checked, origin, run=action == "run")


def keep(request: HttpRequest, checked: Checked, origin: str, *, run: bool) -> HttpResponse:
    """Save a valid scenario, and run it if asked to; the editor again when that fails."""
    assert checked.scenario is not None
    name = checked.scenario.name
    shipped = catalogue.scenarios().get(name)
    try:
        if shipped is None or not run or shipped.as_dict() != checked.scenario.as_dict():
            saved.save(checked.text, origin)
        if not run:
            return redirect("scenario", name)
        made = start.create(
            request.POST.get("agent", ""),
            request.POST.get("version", "").strip(),
            name,
            given=checked.scenario,
        )
    except (ScenarioError, HarnessError) as error:
        key = "name" if isinstance(error, ScenarioError) else ""
        failed = Checked(checked.text, checked.tree, None, (Problem(key, str(error)),))
        return _editor(request, failed, origin=origin, status=400)
    return redirect("run", made[0].permalink)


@never_cache
@require_POST
def checks(request: HttpRequest) -> JsonResponse:
    """What the editor asks as one types: problems, the drawing, TOML and tree in step.

    `toml` is the text; or `tree` (JSON), which is written as TOML; `press`/`mend` a box.
    """
    checked, selected = check(request.POST.get("toml", "")[: LIMIT + 1]), None
    if "tree" in request.POST:
        checked = _from_tree(request.POST["tree"])
    elif "press" in request.POST or "mend" in request.POST:
        checked, selected = _pressed(request, checked)
    return JsonResponse(sketch.answer(checked, selected))


def _from_tree(given: str) -> Checked:
    try:
        tree = json.loads(given[: 2 * LIMIT])
        if not isinstance(tree, dict) or not is_flat(tree, LAYERS):
            raise ValueError("no table")
    except (ValueError, RecursionError):
        return Checked("", None, None, (Problem("", "This is no scenario."),))
    return check(to_toml(tree))


def _pressed(request: HttpRequest, checked: Checked) -> tuple[Checked, int | None]:
    """The text after a press on a box of the drawing, and the fault that it is about."""
    word = "press" if "press" in request.POST else "mend"
    place, _, number = request.POST[word].partition("@")
    spot = editing.Spot.read(place)
    if checked.tree is None or spot is None:
        return checked, None
    if word == "mend":
        fault = int(number) if number.isdecimal() and len(number) < 6 else -1
        return check(to_toml(editing.mend_here(checked.tree, spot, fault))), None
    tree, selected = editing.break_here(checked.tree, spot)
    return check(to_toml(tree)), selected


def _editor(
    request: HttpRequest,
    checked: Checked,
    *,
    name: str = "",
    origin: str = "",
    status: int = 200,
    asked: bool = False,
) -> HttpResponse:
    context = {
        "section": "scenarios",
        "name": name,
        "checked": checked,
        "origin": origin,
        "asked": asked,
        "plan": sketch.drawing(checked.tree),
        "schema": sketch.schema(),
        "start": sketch.answer(checked),
        **_run_context(RUN_ON | {key: request.POST[key] for key in RUN_ON if key in request.POST}),
    }
    return render(request, "scenarios/edit.html", context, status=status)


def _run_context(chosen: dict[str, Any]) -> dict[str, Any]:
    return {
        "agents": list(catalogue.drivers().values()),
        "version_choices": choices(),
        "chosen": chosen,
    }


@require_GET
def toml(request: HttpRequest, name: str) -> HttpResponse:
    """The scenario as a file."""
    text, _ = _text_of(name, request.GET.get("version", ""))
    made = HttpResponse(text, content_type="application/toml; charset=utf-8")
    made["Content-Disposition"] = f'attachment; filename="{name}.toml"'
    return made


@require_POST
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Forget a saved scenario with all its versions."""
    if not saved.versions(name):
        return trouble.page(request, 404, f"{name} is not saved.", "Shipped ones stay.")
    saved.delete(name)
    return redirect("scenarios")
