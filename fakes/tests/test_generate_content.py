"""What is special about reading the Gemini dialect: its path, its parts, outputs without ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakes.dialect import BadRequest, ModelRequest, dialects
from fakes.tests.support import Served, http, request_body

SPEAKER = dialects()["generate_content"]
PATH = "/v1beta/models/gemini-2.5-pro:generateContent"


def read(*contents: dict[str, Any], path: str = PATH, **more: Any) -> ModelRequest:
    return SPEAKER.read(path, {}, {"contents": list(contents), **more})


def said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {"n": 1}, **more}}


def output(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


@pytest.mark.parametrize(
    ("path", "model", "stream"),
    [
        (PATH, "gemini-2.5-pro", False),
        ("/v1beta/models/a%2Fb:streamGenerateContent?alt=sse", "a/b", True),
        ("/v1/models/m:streamGenerateContent?key=x&alt=sse", "m", True),
    ],
)
def test_it_takes_model_and_form_from_the_path(path: str, model: str, stream: bool) -> None:
    assert SPEAKER.serves(path.partition("?")[0])
    request = read(path=path)
    assert (request.model, request.stream) == (model, stream)


def test_it_streams_nothing_but_events() -> None:
    with pytest.raises(BadRequest, match="alt=sse"):
        read(path="/v1beta/models/m:streamGenerateContent")


def test_it_tells_whose_words_are_whose_and_leaves_thoughts_out() -> None:
    request = read(
        said("user", {"text": "one"}, {"text": "two"}),
        said("model", {"text": "hm", "thought": True}, {"text": "three"}),
        systemInstruction={"parts": [{"text": "be brief"}]},
    )
    assert [(turn.role, turn.text) for turn in request.turns] == [
        ("system", "be brief"),
        ("user", "one\ntwo"),
        ("assistant", "three"),
    ]


def test_it_joins_outputs_to_their_calls_by_id_and_else_by_name_in_order() -> None:
    request = read(
        said("model", call("task"), call("task"), call("wait", id="w7")),
        said("user", output("wait", {"output": "late"}, id="w7")),
        said("user", output("task", {"output": "first"}), output("task", {"error": "second"})),
        said("user", output("task", {"a": 1, "b": 2})),
    )
    first, second, wait = request.turns[0].tool_calls
    assert len({first.id, second.id, wait.id}) == 3 and first.arguments == {"n": 1}
    assert [(turn.call_id, turn.text) for turn in request.turns[1:]] == [
        ("w7", "late"),
        (first.id, "first"),
        (second.id, "second"),
        ("", '{"a":1,"b":2}'),
    ]


def test_it_names_functions_and_built_in_tools() -> None:
    functions = {"functionDeclarations": [{"name": "task"}, 3, {"name": "wait"}]}
    assert read(tools=[functions, {"googleSearch": {}}, 7]).tools == (
        "task",
        "wait",
        "googleSearch",
    )


async def test_it_answers_400_in_its_own_shape(serve: Callable[..., Any]) -> None:
    served: Served = await serve()
    body = request_body("generate_content", "stream")
    async with http() as client:
        answer = await client.post(served.base + PATH.replace(":gen", ":streamGen"), json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"
