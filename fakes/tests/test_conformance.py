"""What every fault, dialect and script keeps, also those that are yet to be written."""

from __future__ import annotations

import dataclasses
import importlib
import json
import pkgutil
from typing import Any, get_args

import pytest

from fakes import dialects as dialect_folder
from fakes import faults as fault_folder
from fakes import scripts as script_folder
from fakes.dialect import Part, Problem, Reply, ToolCall, dialects
from fakes.fault import aim, faults, make_fault
from fakes.script import scripts
from fakes.settings import Setting, describe, from_text, stored
from fakes.targeting import Target
from fakes.tests.support import CHILD, DIALECTS, FORMS, path_of, request_body

ERROR_CLASSES = {
    *("rate_limit", "auth", "bad_request", "overloaded", "server", "stream", "timeout"),
    *("aborted", "refused", "limit", "other", ""),
}
REPLIES = {
    "text": Reply(text="One two three."),
    "call": Reply(tool_calls=(ToolCall("task", {"prompt": 'Do it: ä \u2028 "x"'}, id="c1"),)),
    "calls": Reply(tool_calls=(ToolCall("a", {}, id="c1"), ToolCall("b", {"n": 1}, id="c2"))),
    "both": Reply(text="I call.", tool_calls=(ToolCall("a", {"k": [1]}, id="c1"),)),
    "nothing": Reply(),
    "limit": Reply(text="One two", stop="length"),
}


@pytest.mark.parametrize(
    ("folder", "constant"),
    [(fault_folder, "FAULT"), (script_folder, "SCRIPT"), (dialect_folder, "DIALECT")],
)
def test_it_names_a_plug_in_as_its_file(folder: Any, constant: str) -> None:
    names = [i.name for i in pkgutil.iter_modules(folder.__path__) if not i.name.startswith("_")]
    assert names
    for name in names:
        module = importlib.import_module(f"{folder.__name__}.{name}")
        assert getattr(module, constant).name.replace("-", "_") == name
        assert module.__doc__ and module.__doc__.strip().endswith(".")


@pytest.mark.parametrize("name", faults())
def test_it_describes_every_fault_for_the_catalogue(name: str) -> None:
    kind = faults()[name]
    assert kind.title and kind.picture
    assert kind.sentence.endswith(".") and kind.seen.endswith(".")
    fault = make_fault(name)
    assert fault.error_class() in ERROR_CLASSES
    assert fault.answers() == 0 or 200 <= fault.answers() <= 599
    known = {*DIALECTS, *FORMS, *(f"{d} {f}" for d in DIALECTS for f in FORMS)}
    assert set(kind.meaningless) <= known and all(kind.meaningless.values())
    assert any(not fault.why_not(d, s) for d in DIALECTS for s in (True, False))


@pytest.mark.parametrize("owner", [*faults().values(), *scripts().values(), Target])
def test_it_describes_every_setting(owner: type[Any]) -> None:
    assert len(describe(owner)) == len(dataclasses.fields(owner))
    for each in describe(owner):
        assert each.help.endswith((".", "faulted."))
        within(each)


def within(each: Setting) -> None:
    """The default is allowed by the setting's own bounds."""
    if each.kind == "choice":
        assert each.default in each.choices
    if each.low is not None:
        assert each.default >= each.low
    if each.high is not None:
        assert each.default <= each.high


@pytest.mark.parametrize("name", faults())
def test_it_stores_a_fault_and_makes_it_again(name: str) -> None:
    fault = make_fault(name)
    entry = {"fault": name, "on": Target().as_dict(), **stored(fault)}
    again = aim(json.loads(json.dumps(entry)))
    assert again.fault == fault and again.target == Target()
    with pytest.raises(dataclasses.FrozenInstanceError):
        fault.anything = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", faults())
def test_it_reads_settings_from_text(name: str) -> None:
    kind = faults()[name]
    texts = {key: str(value) for key, value in stored(make_fault(name)).items()}
    assert make_fault(name, from_text(kind, texts, name)) == make_fault(name)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("reply", REPLIES)
def test_it_streams_every_reply_with_one_end(dialect: str, reply: str) -> None:
    speaker = dialects()[dialect]
    request = speaker.read(path_of(dialect), {}, request_body(dialect, "stream"))
    frames = list(speaker.frames(request, REPLIES[reply], "r1"))
    parts = [frame.part for frame in frames]
    assert parts.count("terminal") == 1 and parts[0] == "start"
    assert set(parts) <= set(get_args(Part))
    assert all(part == "trailer" for part in parts[parts.index("terminal") + 1 :])
    for frame in frames:
        wire = frame.wire()
        assert wire.endswith(b"\n\n") and wire.count(b"\n\n") == 1
        assert wire.count(b"\n") == (3 if frame.event else 2)
    numbers = [f.data["sequence_number"] for f in frames if "sequence_number" in f.data]
    assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_reads_what_it_is_asked(dialect: str) -> None:
    body = request_body(dialect, "stream")
    request = dialects()[dialect].read(path_of(dialect), {"a": "b"}, body)
    assert (request.dialect, request.model, request.stream) == (dialect, "gpt-5.4", True)
    assert [turn.text for turn in request.turns] == [CHILD]
    assert request.tools == ("task", "wait", "work")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
def test_it_reports_errors_in_the_shape_of_the_provider(dialect: str, status: int) -> None:
    speaker = dialects()[dialect]
    body = speaker.error(Problem(status, "some_code", "Some text."), "req_1")
    kind = "status" if dialect == "generate_content" else "type"
    assert body["error"]["message"] == "Some text." and body["error"][kind]
    frame = speaker.error_frame(Problem(status, "some_code", "Some text."), 4)
    assert b"Some text." in frame.wire()
    assert "req_1" in speaker.headers("req_1").values()


def hostile(dialect: str) -> list[Any]:
    """Bodies that no client should send."""
    odd: list[Any] = [None, 3, "x", {}, {"role": 3, "content": [None, 3, {"text": 5}]}, [[]]]
    key = {"responses": "input", "generate_content": "contents"}.get(dialect, "messages")
    bodies = [{key: odd, "tools": odd, "model": 5, "stream": "yes"}, {key: [], "tools": 7}]
    kinds = ("function_call", "function_call_output", "reasoning", "message", "unknown")
    items = [{"type": kind, "arguments": odd, "output": odd, "content": odd} for kind in kinds]
    calls = [None, {"function": None}, {"function": {"arguments": "{"}}]
    parts = [{"functionCall": each, "functionResponse": each} for each in odd]
    bodies += [{key: [{"role": "model", "parts": parts}]}, {key: [{"parts": 7}]}]
    return [*bodies, {key: items}, {key: [{"tool_calls": calls}]}, {key: [], "system": odd}]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_reads_odd_requests_without_trouble(dialect: str) -> None:
    for body in hostile(dialect):
        request = dialects()[dialect].read(path_of(dialect), {}, body)
        assert all(isinstance(turn.text, str) for turn in request.turns)
        assert all(isinstance(tool, str) for tool in request.tools)
