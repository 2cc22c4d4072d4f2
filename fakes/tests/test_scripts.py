"""Scripts, followed to their end by a small agent over real HTTP, in every dialect."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from fakes.dialect import ModelRequest, Reply, ToolCall, Turn, dialects
from fakes.script import Child, Stage, make_script, root_prompt, scripts
from fakes.targeting import ROOT_MARKER, Identity, by_markers, task_marker
from fakes.tests.agent import Agent
from fakes.tests.support import DIALECTS, ROOT, Served, http, request_body, task_prompt
from fakes.tools import PlainTools

QUICK = {
    "parent-polls": {"child_first": 0.2},
    "parent-ends-early": {"child_first": 0.2},
    "parent-goes-on": {"pace": 0.05},
    "parent-cancels": {"child_first": 20.0},
}
LABELS = ("parent", "child", "grandchild", "grandchild")


class Notifier(PlainTools):
    """The tools of an agent that tells its model itself when a child has ended."""

    def wait(self, child: Child) -> ToolCall | None:
        """There is no such tool."""
        return None


class Fetcher(PlainTools):
    """The tools of an agent that announces an end, and whose model fetches the result then."""

    def wait(self, child: Child) -> ToolCall | None:
        """Only what was announced can be fetched."""
        return super().wait(child) if child.announced else None


class HandingIn(PlainTools):
    """The tools of an agent whose sub-agents end by a call."""

    def finish(self, text: str) -> ToolCall:
        """The ``hand_in`` tool."""
        return ToolCall("hand_in", {"text": text})


async def follow(
    serve: Callable[..., Any], name: str, dialect: str, tools: Any = None, **settings: Any
) -> tuple[Served, Agent]:
    """Runs a script to its end."""
    script = make_script(name, {**QUICK.get(name, {}), **settings})
    served: Served = await serve(script=script, tools=tools or PlainTools())
    form = "stream" if dialect == "responses" else "plain"
    async with http(60) as client, asyncio.timeout(60):
        agent = Agent(served, client, dialect, root_prompt(script), form)
        await agent.run()
        for run in agent.runs.values():
            await asyncio.wait([run])
    await served.settled()
    return served, agent


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "tools",
    [PlainTools(), Notifier(), Fetcher(), HandingIn()],
    ids=["waits", "notified", "fetches", "hands in"],
)
@pytest.mark.parametrize("name", scripts())
async def test_it_is_followed_to_its_end(
    serve: Callable[..., Any], name: str, tools: Any, dialect: str
) -> None:
    served, agent = await follow(serve, name, dialect, tools)
    assert agent.texts[-1].startswith("ROOT-OK")
    planned = Counter(LABELS[min(t.path.count(".") + 1, 3)] for t in make_script(name).tasks())
    asked = {r["caller"] for r in served.said("request.received")}
    assert Counter(caller.partition(":")[0] for caller in asked) == planned + Counter({"parent": 1})
    assert {r["attempt"] for r in served.said("request.received")} == {1}
    if name != "parent-cancels":
        assert all(r["complete"] for r in served.said("request.ended"))
        assert [t for t in agent.children.values() if "CHILD-OK" not in t.texts[-1]] == []


async def test_it_hands_out_every_task_once(serve: Callable[..., Any]) -> None:
    _, agent = await follow(serve, "delegate-many", "messages", children=5)
    prompts = sorted(child.prompt for child in agent.children.values())
    assert prompts == sorted(task_prompt(str(n)) for n in range(1, 6))
    assert "5 of 5" in agent.texts[-1]


async def test_it_stops_one_child_and_waits_for_the_other(serve: Callable[..., Any]) -> None:
    _, agent = await follow(serve, "parent-cancels", "responses", siblings=1, child_first=0.2)
    assert agent.texts == ["ROOT-OK 1 of 2 answers seen."]


async def test_it_hands_out_one_task_a_turn(serve: Callable[..., Any]) -> None:
    together, _ = await follow(serve, "delegate-many", "responses", children=3)
    apart, _ = await follow(serve, "delegate-many", "responses", children=3, one_turn=False)
    calls = [len(s.said("request.received", caller="parent")) for s in (together, apart)]
    assert calls[1] - calls[0] == 2


async def test_it_nests_as_deep_as_it_is_told(serve: Callable[..., Any]) -> None:
    served, agent = await follow(serve, "nested", "responses", depth=4, children=2)
    callers = {r["caller"] for r in served.said("request.received")}
    assert len([c for c in callers if c.startswith("grandchild:")]) == 4 + 8 + 16
    assert len([c for c in callers if c.startswith("child:")]) == 2
    assert "2 of 2" in agent.texts[-1]


async def test_it_waits_for_a_milestone_before_it_answers(serve: Callable[..., Any]) -> None:
    served, _ = await follow(
        serve,
        "delegate-many",
        "responses",
        child_first=0.3,
        order=("child:1 after child:2 answered",),
    )
    ended = {r["caller"]: r["at"] for r in served.said("request.ended")}
    started = {r["caller"]: r["at"] for r in served.said("response.started")}
    assert ended["child:2"] <= started["child:1"]


async def test_it_fails_a_child_only_after_another_has_answered(serve: Callable[..., Any]) -> None:
    script = make_script("delegate-many", {"order": ["child:2 after child:1 answered"]})
    served: Served = await serve(
        {"fault": "http-status", "status": 500, "on": {"caller": "child:2"}}, script=script
    )
    async with http() as client:
        await served.post("responses", "plain", ROOT, client)
        first = asyncio.create_task(served.post("responses", "plain", task_prompt("1"), client))
        await first
        assert (
            await served.post("responses", "plain", task_prompt("2"), client)
        ).status_code == 500


async def test_it_ends_the_parent_before_the_children_answer(serve: Callable[..., Any]) -> None:
    served, _ = await follow(serve, "parent-ends-early", "chat_completions", children=3)
    parent = served.said("request.ended", caller="parent")[1]["at"]
    children = [r["at"] for r in served.said("response.started") if r["caller"] != "parent"]
    assert len(children) == 3 and min(children) >= parent + 0.2


async def test_it_asks_a_child_again_after_its_end(serve: Callable[..., Any]) -> None:
    served, agent = await follow(serve, "follow-up", "messages")
    [child] = agent.children.values()
    assert len(child.texts) == 2 and "again" in child.texts[1]
    calls = [r["call"] for r in served.said("request.received", caller="child:1")]
    assert calls == [1, 2]


async def test_it_answers_a_utility_call_harmlessly(serve: Callable[..., Any]) -> None:
    served: Served = await serve()
    async with http() as client:
        for body in (
            request_body("responses", "plain", ROOT, tools=False),
            request_body("responses", "plain", "Make a title."),
        ):
            await client.post(served.base + "/v1/responses", json=body)
    assert [r["caller"] for r in served.said("request.received")] == ["utility", "utility"]


async def test_it_does_not_delegate_for_ever_to_an_agent_that_forgets(
    serve: Callable[..., Any],
) -> None:
    served: Served = await serve()
    said = set()
    async with http() as client:
        for number in range(35):
            answer = await served.post("responses", "plain", f"{ROOT} {number}", client)
            said.add(answer.json()["output"][0]["type"])
    assert said == {"function_call", "message"}
    assert answer.json()["output"][0]["type"] == "message"


async def test_it_tells_a_retry_from_a_new_call(serve: Callable[..., Any]) -> None:
    served: Served = await serve({"fault": "sse-cut", "on": {"attempt": "1-2"}})
    said = [{"role": "user", "content": task_prompt("1")}]
    partial = {"role": "assistant", "content": "CHILD-OK partial"}
    more = {"role": "user", "content": "And now something else."}
    async with http() as client:
        for messages in (said, [*said, partial], said, said, [*said, partial, more]):
            body = {**request_body("chat_completions", "stream"), "messages": messages}
            await client.post(served.base + "/v1/chat/completions", json=body)
    places = [(r["call"], r["attempt"]) for r in served.said("request.received")]
    assert places == [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1)]


@pytest.mark.parametrize("name", scripts())
def test_it_says_what_it_does_and_marks_its_prompts(name: str) -> None:
    script = make_script(name)
    assert name == script.name and script.title and script.sentence.endswith(".")
    assert ROOT_MARKER in root_prompt(script) and "LIFELINE-TASK" not in root_prompt(script)
    for task in script.tasks():
        assert task_marker(task.path) in task.prompt and ROOT_MARKER not in task.prompt
    assert make_script(name, {"per_token": 1, "first": 2}).first == 2.0


@pytest.mark.parametrize(
    ("name", "settings", "named"),
    [
        ("delegate-on", {}, "did you mean 'delegate-one'"),
        ("delegate-many", {"childs": 3}, "did you mean 'children'"),
        ("delegate-many", {"children": 0}, "children must be at least 1"),
        ("delegate-many", {"children": True}, "children must be a whole number"),
        ("child-tool", {"form": "shell"}, "form is one of note, quiet"),
        ("delegate-one", {"order": ["child:2 before child:1"]}, "order"),
        ("delegate-one", {"order": "child:2"}, "order must be a list"),
    ],
)
def test_it_names_what_is_wrong_with_a_script(
    name: str, settings: dict[str, Any], named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        make_script(name, settings)


def test_it_tells_callers_by_their_markers() -> None:
    from fakes.dialect import dialects

    def who(prompt: str, tools: bool = True) -> tuple[int, str, str]:
        body = request_body("responses", "plain", prompt, tools=tools)
        identity = by_markers(dialects()["responses"].read("/", {}, body))
        return identity.depth, identity.key, identity.parent

    assert who(ROOT) == (0, "root", "")
    assert who(ROOT, tools=False) == (-1, "utility", "")
    assert who("Hello") == (-1, "utility", "")
    assert who("Do LIFELINE-TASK-3.") == (1, "3", "root")
    assert who("LIFELINE-TASK-1.2.12 LIFELINE-TASK-4") == (3, "1.2.12", "1.2")
    assert who(f"LIFELINE-TASK-1 {ROOT_MARKER}") == (0, "root", "")


@pytest.mark.parametrize("dialect", ["responses", "chat_completions"])
async def test_it_breaks_the_arguments_of_one_call_of_a_conversation(
    serve: Callable[..., Any], dialect: str
) -> None:
    served: Served = await serve("truncated-arguments")
    async with http() as client:
        agent = Agent(served, client, dialect, task_prompt("1"))
        with pytest.raises(json.JSONDecodeError):
            await agent.run()
        broken = served.said("request.ended")[0]["request"]
        prefix = f"call_{broken}_broken"
        agent.remember("", [(prefix, "work", {"text": "as far as it could be read"})])
        agent.answer([prefix], ["These arguments are no JSON."])
        assert (await agent.turn()).startswith("CHILD-OK")
    await served.settled()
    assert [r["fault"] for r in served.said("request.ended")] == ["truncated-arguments", ""]


def said(*turns: Turn) -> Reply:
    """What the parent of one child says to a conversation, with tools that fetch."""
    request = ModelRequest(
        "messages", "m", True, (Turn("user", ROOT), *turns), ("task",), "/", {}, {}
    )
    stage = Stage(Identity(0, "root"), Fetcher())
    return make_script("delegate-one").reply("parent", request, stage)


def test_it_fetches_what_was_announced_each_time_and_nothing_else() -> None:
    (delegates,) = said().tool_calls
    turns = [Turn("assistant", "", (delegates,)), Turn("tool", "agent_id: a1", call_id="")]
    assert said(*turns).text.startswith("ROOT-WAITS")
    for _ in range(2):
        turns += [Turn("assistant", "ROOT-WAITS"), Turn("user", "There is news.")]
        (fetches,) = said(*turns).tool_calls
        assert fetches.name == "wait"
        turns += [Turn("assistant", "", (fetches,)), Turn("tool", "It failed.", call_id="")]
        assert said(*turns).text.startswith("ROOT-OK")


def test_it_does_not_delegate_again_when_its_calls_are_lost_from_the_conversation() -> None:
    waits = Turn("assistant", "ROOT-WAITS 0 of 1 answers seen.")
    assert said(waits).text.startswith("ROOT-WAITS")
    (fetches,) = said(waits, Turn("user", "There is news.")).tool_calls
    assert fetches.name == "wait"


def test_a_sub_agent_that_must_hand_in_says_its_answer_and_calls() -> None:
    script = make_script("delegate-one")
    said = {}
    for caller, prompt in (("parent", ROOT), ("child:1", task_prompt("1"))):
        body = request_body("messages", "plain", prompt)
        request = dialects()["messages"].read("/v1/messages", {}, body)
        stage = Stage(by_markers(request), HandingIn())
        said[caller] = script.reply(caller, request, stage)
    child, parent = said["child:1"], said["parent"]
    (call,) = child.tool_calls
    assert (call.name, call.arguments) == ("hand_in", {"text": child.text})
    assert child.final and child.text.startswith("CHILD-OK 1.")
    assert not parent.final and parent.tool_calls[0].name == "task"
