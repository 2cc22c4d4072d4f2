"""Requests with a mistake each; ``data/refusals.json`` holds what real binaries answered.

``python -m fakes.tests.codex_app_server.mistakes BINARY…`` asks them anew. An answer that is
no refusal is kept as an empty text.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fakes.codex_app_server.make import refusals

DATA = Path(__file__).with_name("data") / "refusals.json"
ID = "01a227a1-4592-7ef0-89ae-8dc6b31573cb"
BASE: dict[str, Any] = {"threadId": ID, "input": []}


def _turn(**keys: Any) -> tuple[str, Any]:
    return "turn/start", {**BASE, **keys}


BEFORE: list[tuple[str, Any]] = [
    ("thread/start", {}),
    ("thread/start", {"dynamicTools": []}),
    ("thread/resume", {}),
    ("no/such/method", {}),
    ("initialize", {}),
    ("initialize", {"clientInfo": {}}),
    ("initialize", {"clientInfo": {"name": "p"}}),
    ("initialize", {"clientInfo": {"name": "p", "version": 1}}),
    ("initialize", None),
]
"""Before the client introduced itself."""
AFTER: list[tuple[str, Any]] = [
    ("initialize", {"clientInfo": {"name": "p", "version": "1"}}),
    (
        "initialize",
        {"clientInfo": {"name": "p", "version": "1"}, "capabilities": {"experimentalApi": "yes"}},
    ),
    ("turn/start", {}),
    ("turn/start", None),
    ("turn/start", "s"),
    ("turn/start", {"threadId": 5, "input": "a"}),
    ("turn/start", {"input": "a", "threadId": 5}),
    ("turn/start", {"threadId": None, "input": []}),
    ("turn/start", {"threadId": True, "input": []}),
    ("turn/start", {"threadId": 1.5, "input": []}),
    ("turn/start", {"threadId": {"a": 1}, "input": []}),
    ("turn/start", {"threadId": [1], "input": []}),
    ("turn/start", {"threadId": ID, "input": {}}),
    ("turn/start", {"threadId": ID, "input": None}),
    _turn(),
    _turn(unknown=1),
    _turn(input=["a"]),
    _turn(input=[{}]),
    _turn(input=[{"type": "txt"}]),
    _turn(input=[{"type": "text"}]),
    _turn(input=[{"type": "skill"}]),
    _turn(input=[{"type": "image"}]),
    _turn(input=[{"type": "image", "url": 4}]),
    _turn(input=[{"type": "text", "text": "a", "text_elements": [{"byteRange": {"start": -1}}]}]),
    _turn(input=[{"type": "text", "text": "a", "text_elements": [{"byteRange": {"end": 1}}]}]),
    _turn(approvalPolicy="on_request"),
    _turn(approvalPolicy=4),
    _turn(approvalPolicy="granular"),
    _turn(approvalPolicy={}),
    _turn(approvalPolicy={"a": 1, "b": 2}),
    _turn(approvalPolicy={"other": 1}),
    _turn(approvalPolicy={"never": None}),
    _turn(approvalPolicy={"granular": {}}),
    _turn(
        approvalPolicy={
            "granular": {"sandbox_approval": True, "rules": True, "mcp_elicitations": True}
        }
    ),
    _turn(approvalsReviewer="x"),
    _turn(approvalsReviewer=4),
    _turn(sandboxPolicy={"type": "no"}),
    _turn(sandboxPolicy="readOnly"),
    _turn(sandboxPolicy={"type": "workspaceWrite", "networkAccess": "yes"}),
    _turn(sandboxPolicy={"type": "externalSandbox", "networkAccess": "x"}),
    _turn(sandboxPolicy={"type": "workspaceWrite", "writableRoots": ["relative"]}),
    _turn(summary="x"),
    _turn(personality="x"),
    _turn(effort=3),
    _turn(outputSchema=5),
    _turn(collaborationMode={"mode": "x"}),
    _turn(responsesapiClientMetadata={"a": "b"}),
    _turn(responsesapiClientMetadata={"a": 1}),
    _turn(responsesapiClientMetadata=None),
    ("turn/steer", {}),
    ("turn/steer", {"threadId": ID}),
    ("turn/steer", {"threadId": ID, "input": []}),
    ("turn/interrupt", {}),
    ("turn/interrupt", {"threadId": ID}),
    ("thread/start", {"sandbox": "readonly"}),
    ("thread/start", {"cwd": 4}),
    ("thread/start", {"ephemeral": "yes"}),
    ("thread/start", {"config": "s"}),
    ("thread/start", {"dynamicTools": []}),
    ("thread/start", {"experimentalRawEvents": True}),
    ("thread/start", {"persistExtendedHistory": True, "sandbox": "x"}),
    ("thread/resume", {"threadId": ID}),
    ("thread/resume", {"threadId": ID, "history": []}),
    ("thread/read", {"threadId": ID}),
    ("thread/compact/start", {}),
    ("thread/compact/start", {"threadId": ID}),
    ("thread/list", {"limit": "a"}),
    ("thread/list", {"limit": -1}),
    ("thread/list", {"limit": 1.5}),
    ("thread/list", {"sortKey": "x"}),
    ("thread/loaded/list", None),
    ("model/list", None),
    ("collaborationMode/list", {}),
]
"""After it did, without the experimental capability."""
INTRODUCTION = ("initialize", {"clientInfo": {"name": "p", "version": "1"}})


def main() -> None:
    """Ask the binaries named on the command line."""
    found: dict[str, list[str]] = json.loads(DATA.read_text()) if DATA.exists() else {}
    for binary in sys.argv[1:]:
        version, texts = refusals(Path(binary), [*BEFORE, INTRODUCTION, *AFTER])
        found[version] = texts
    DATA.parent.mkdir(exist_ok=True)
    DATA.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n")


if __name__ == "__main__":
    main()
