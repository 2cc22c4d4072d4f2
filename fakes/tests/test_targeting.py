"""Targets: strict to read, and hitting exactly what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakes.dialect import dialects
from fakes.fault import aim
from fakes.targeting import Target, by_markers
from fakes.tests.support import ROOT, Served, is_request, task_prompt


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"callr": "child"}, "did you mean 'caller'"),
        ({"caller": "chld"}, "did you mean 'child'"),
        ({"caller": "parent:2"}, "only child and grandchild"),
        ({"caller": "child:0"}, "only child and grandchild"),
        ({"attempt": 0}, "attempt"),
        ({"attempt": "3-1"}, "attempt"),
        ({"attempt": "some"}, "attempt"),
        ({"attempt": True}, "attempt"),
        ({"turn": "2"}, "turn"),
        ({"form": "html"}, "form"),
        ({"share": 1.5}, "share"),
        ({"share": float("nan")}, "share"),
        ({"seed": 1.5}, "seed"),
    ],
)
def test_it_names_the_key_that_is_wrong(given: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Target.parse(given)


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ({"fault": "sse-cutt"}, "did you mean 'sse-cut'"),
        ({"fault": "stall", "secnds": 3}, "did you mean 'seconds'"),
        ({"fault": "stall", "seconds": "3"}, "stall: seconds must be a number"),
        ({"fault": "stall", "seconds": -1}, "at least 0"),
        ({"fault": "stall", "after": "end"}, "stall: after is one of"),
        ({"fault": "stall", "on": "child"}, "on must be a table"),
        ({"on": {}}, "name of its fault"),
    ],
)
def test_it_names_what_is_wrong_with_a_fault(fault: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        aim(fault)


def test_it_is_stored_as_it_was_written() -> None:
    for given in (
        {"caller": "child:2", "attempt": 1},
        {"caller": "any-agent", "attempt": "1-3", "turn": 2, "form": "plain"},
        {"caller": "grandchild:1", "share": 0.3, "seed": 7},
        {"caller": "child"},
    ):
        assert Target.parse(given).as_dict() == given


@pytest.mark.parametrize(
    ("given", "hit", "missed"),
    [
        ({"caller": "child"}, ["child:1", "child:2"], ["parent", "grandchild:1", "utility"]),
        ({"caller": "child:2"}, ["child:2"], ["child:1", "child:22", "grandchild:2"]),
        ({"caller": "any-agent"}, ["parent", "child:1", "grandchild:3"], ["utility", "utility:2"]),
        ({"caller": "utility"}, ["utility", "utility:2"], ["parent"]),
    ],
)
def test_it_hits_the_callers_that_it_names(
    given: dict[str, Any], hit: list[str], missed: list[str]
) -> None:
    target = Target.parse(given)
    assert all(target.hits(caller, 1, 1, True) for caller in hit)
    assert not any(target.hits(caller, 1, 1, True) for caller in missed)


@pytest.mark.parametrize(
    ("attempt", "hit"),
    [(1, {1}), ("1-3", {1, 2, 3}), ("2-", {2, 3, 4, 5}), ("all", {1, 2, 3, 4, 5}), ("5", {5})],
)
def test_it_hits_the_attempts_that_it_names(attempt: Any, hit: set[int]) -> None:
    target = Target.parse({"attempt": attempt})
    assert {n for n in range(1, 6) if target.hits("child:1", 1, n, True)} == hit


def test_it_draws_the_same_share_from_the_same_seed() -> None:
    def drawn(seed: int) -> list[bool]:
        target = Target.parse({"share": 0.3, "seed": seed})
        return [target.hits("child:1", call, 1, True) for call in range(1000)]

    assert drawn(7) == drawn(7) != drawn(8)
    assert 250 < sum(drawn(7)) < 350


async def test_it_cuts_the_second_child_twice_and_nobody_else(serve: Callable[..., Any]) -> None:
    served: Served = await serve(
        {"fault": "sse-cut", "on": {"caller": "child:2", "attempt": "1-2"}}, script="delegate-many"
    )
    await served.post("responses", "stream", ROOT)
    for _ in range(3):
        await served.post("responses", "stream", task_prompt("1"))
        await served.post("responses", "stream", task_prompt("2"))
    await served.settled()
    hit = [(r["caller"], r["attempt"]) for r in served.said("fault.fired")]
    assert hit == [("child:2", 1), ("child:2", 2)]
    assert is_request(served, "child:2", attempt=3)["complete"] is True


@pytest.mark.parametrize("form", ["stream", "plain"])
async def test_it_hits_only_the_form_that_it_names(serve: Callable[..., Any], form: str) -> None:
    served: Served = await serve({"fault": "sse-cut", "on": {"form": form}})
    await served.post("messages", "stream")
    await served.post("messages", "plain")
    await served.settled()
    [fired] = served.said("fault.fired")
    [asked] = served.said("request.received", request=fired["request"])
    assert asked["stream"] is (form == "stream")


async def test_it_says_which_faults_never_fired(serve: Callable[..., Any]) -> None:
    served: Served = await serve(
        {"fault": "sse-cut", "on": {"caller": "child"}},
        {"fault": "chunk-cut", "on": {"caller": "grandchild"}},
    )
    await served.post("responses", "stream")
    assert [each.fault.name for each in served.provider.undelivered()] == ["chunk-cut"]


async def test_it_takes_the_first_fault_that_means_something(serve: Callable[..., Any]) -> None:
    served: Served = await serve("no-terminal", "sse-cut")
    await served.post("responses", "plain")
    await served.settled()
    assert [r["fault"] for r in served.said("fault.fired")] == ["sse-cut"]


@pytest.mark.parametrize(
    ("prompt", "task"),
    [("LIFELINE-TASK-1.2 go", "1.2"), (ROOT, ""), (f"{ROOT} LIFELINE-TASK-1", ""), ("hello", "")],
)
async def test_the_journal_names_the_task_of_a_sub_agents_request(
    serve: Callable[..., Any], prompt: str, task: str
) -> None:
    served = await serve()
    await served.post("messages", "plain", prompt)
    (received,) = served.said("request.received")
    assert received["task"] == task


@pytest.mark.parametrize(
    ("prompt", "tools", "depth"),
    [
        ("LIFELINE-TASK-1.2 Answer this.", (), 2),
        ("Give it a title: LIFELINE-TASK-1.2 Answer this.", (), -1),
        ("<about you> LIFELINE-TASK-1.2 Answer this.", ("shell",), 2),
        (f"Give it a title: {ROOT}", (), -1),
    ],
)
def test_a_task_that_is_only_spoken_of_makes_nobody_a_child(
    prompt: str, tools: tuple[str, ...], depth: int
) -> None:
    functions = [{"type": "function", "function": {"name": name}} for name in tools]
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], "tools": functions}
    request = dialects()["chat_completions"].read("/v1/chat/completions", {}, body)
    assert by_markers(request).depth == depth
