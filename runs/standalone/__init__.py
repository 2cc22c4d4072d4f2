"""A script that repeats one scenario without Lifeline: only Python and the agent's binary.

The script holds the answers as tapes (:mod:`runs.tapes`), tells callers apart by the markers
in their prompts, and starts the agent by its own command line. It is the modules of this
folder joined into one file: what is given, the conversation, the provider, the agent.
"""

from __future__ import annotations

import ast
import pprint
import re
import sys
from pathlib import Path
from typing import Any

from fakes.script import root_prompt
from runs import catalogue, pythons
from runs.driver import Binary, Context, Driver, Launch
from runs.errors import NotApplicable
from runs.repeat import Repeat
from runs.scenario import Scenario
from runs.tape import NotPossible
from runs.tapes import MODEL, tapes

PARTS = ("given", "conversation", "provider", "agent")
_PLACES = {name: Path(f"/@{name}@") for name in ("HOME", "WORK", "TEMP", "LOGS", "FOLDER")}
_PLACES["AGENT"] = Path("/@BIN@/@AGENT@")
_IMPORTS = (ast.Import, ast.ImportFrom)
OWN_BIN = str(_PLACES["FOLDER"] / "venv" / "bin")
"""Where an agent that is a Python package has its Python: beside its binary."""


def script_of(repeat: Repeat | None) -> str:
    """The script's text; NotPossible says why there is none."""
    if repeat is None or not repeat.scenario:
        raise NotPossible("No scenario is known that would repeat it.")
    if not repeat.version:
        raise NotPossible("The logs do not say which version of the agent wrote them.")
    found = Scenario.read(dict(repeat.scenario))
    driver, version = catalogue.driver(repeat.agent), repeat.version
    try:
        options = driver.read_options(repeat.options)
    except ValueError as wrong:
        raise NotPossible(f"Its options are not understood: {wrong}") from None
    start, options = launch(driver, version, found, options)
    values = {
        "TITLE": f"{repeat.agent} {version} · {found.name}",
        "QUESTION": found.question,
        "LAUNCH": start,
        "TAPES": tapes(driver, version, found, options),
        "DEADLINE": found.guards.deadline,
    }
    text = joined()
    for name, value in values.items():
        written = pprint.pformat(value, width=120, sort_dicts=False)
        # Inside of brackets the depth of a line says nothing; it is half of what tapes weigh.
        written = re.sub(r"^ +", " ", written, flags=re.MULTILINE)
        place = re.search(rf"^{name}(?:: [^=\n]+)? = (.*)$", text, re.MULTILINE)
        assert place is not None  # `given` has every one of them
        text = text[: place.start(1)] + written + text[place.end(1) :]
    return text


def joined() -> str:
    """The parts as one module: the head of the first, each import once, none of each other."""
    head, imports, bodies = "", set(), []
    for part in PARTS:
        text = Path(__file__).with_name(f"{part}.py").read_text(encoding="utf-8")
        first, *others = [one for one in ast.parse(text).body if isinstance(one, _IMPORTS)]
        lines = text.splitlines(keepends=True)
        head = head or "".join(lines[: first.end_lineno])
        imports |= {ast.unparse(one) for one in others}
        bodies.append("".join(lines[others[-1].end_lineno :]).strip("\n"))
    outer = (one for one in imports if not one.startswith(f"from {__name__}"))
    listed = "\n".join(sorted(outer, key=lambda one: (one.startswith("from"), one)))
    return "\n\n\n".join((f"{head}\n{listed}", *bodies)) + "\n"


def launch(
    driver: Driver, version: str, scenario: Scenario, options: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The agent's command line, environment and files, and the options that they are made from.

    Signs stand for what the host decides. An agent that is spoken to is started in the form
    that needs no conversation, where it has one.
    """
    made = _launched(driver, version, scenario, options)
    if made.stdin == "pipe" and driver.alone:
        options = {**options, **driver.alone}
        try:
            catalogue.check_meaning(driver.name, version, scenario, options)
        except NotApplicable as why:
            raise NotPossible(why.what) from None
        made = _launched(driver, version, scenario, options)
    argv, agent = list(made.argv), str(_PLACES["AGENT"])
    if made.stdin == "pipe":
        raise NotPossible(f"{driver.name} is driven by a conversation, not by its command line.")
    if not any(agent in text for text in (*argv, *made.files.values())):
        raise NotPossible(f"{driver.name} is not started by its binary alone.")
    start: dict[str, Any] = {
        "agent": driver.name,
        "version": version,
        "argv": [_signed(word) for word in argv],
        "env": {name: _signed(value) for name, value in made.env.items()},
        "files": {str(path): _signed(text) for path, text in made.files.items()},
    }
    if start["argv"][0] not in (agent, "@PYTHON@", "/@BIN@/python"):
        raise NotPossible(f"{driver.name} is started by {argv[0]}, which is not part of it.")
    if str(_PLACES["FOLDER"]) in str(start):
        raise NotPossible(f"{driver.name} needs files of its installation beside the binary.")
    return start, options


def _signed(text: str) -> str:
    """With signs in place of the Python that runs Lifeline, and of the agent's own."""
    text = text.replace(OWN_BIN, "/@BIN@")
    for python in (str(pythons.ours()), sys.executable):
        text = re.sub(rf"{re.escape(python)}(?![\w.])", "@PYTHON@", text)
    return text


def _launched(driver: Driver, version: str, scenario: Scenario, options: dict[str, Any]) -> Launch:
    binary = Binary(
        agent=driver.name,
        version=version,
        path=_PLACES["AGENT"],
        folder=_PLACES["FOLDER"],
        sha256="",
    )
    context = Context(
        scenario=scenario,
        options=options,
        base_url="http://127.0.0.1:@PORT@",
        dialect=driver.dialect(options),
        home=_PLACES["HOME"],
        work=_PLACES["WORK"],
        temp=_PLACES["TEMP"],
        logs=_PLACES["LOGS"],
        binary=binary,
        prompt=root_prompt(catalogue.build_script(scenario)),
        model=MODEL,
    )
    try:
        return driver.launch(context)
    except Exception as trouble:
        raise NotPossible(f"{driver.name} cannot be started without Lifeline: {trouble}") from None
