"""What omnigent finds in its home: our agent with its sub-agents, and the plan of its parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from runs.driver import Context
from runs.drivers.omnigent.tools import worker

AGENT: Final = "lifeline"
TOKEN: Final = "dummy"
REST: Final = 60.0
"""Seconds for which our client stays at least when a runner is back: within as many a parent has
to be told (L3)."""
OFF: Final = {
    "OMNIGENT_AUTH_ENABLED": "0",
    "OMNIGENT_DISABLE_KEYRING": "1",
    "OMNIGENT_DISABLE_TELEMETRY": "1",
    "OMNIGENT_DISABLE_CATALOG_LOOKUP": "1",
    "OMNIGENT_NO_UPDATE_CHECK": "1",
    "OMNIGENT_SKIP_ONBOARD": "1",
    "NO_COLOR": "1",
}
"""No accounts, no key ring, nothing that looks for a network."""


def place(context: Context) -> Path:
    """Where our files lie."""
    return context.home / "lifeline"


def agents(context: Context) -> dict[Path, str]:
    """The agent's folder: a configuration, and one below it for each depth of sub-agents."""
    found: dict[Path, str] = {}
    folder, depth = place(context) / "agent", int(context.options["depth"])
    for level in range(depth + 1):
        name, below = worker(level) if level else AGENT, worker(level + 1)
        agent = _agent(context, name, [below] if level < depth else [])
        found[folder / "config.yaml"] = json.dumps(agent, indent=1)
        folder = folder / "agents" / below
    return found


def _agent(context: Context, name: str, below: list[str]) -> dict[str, Any]:
    """One agent's configuration (JSON is YAML as well)."""
    auth = {"type": "api_key", "api_key": "dummy", "base_url": f"{context.base_url}/v1"}
    broken = {"parent-broken": AGENT, "child-broken": worker(1)}
    if broken.get(context.options["setup"]) == name:
        auth = {"type": "provider", "name": "nowhere"}
    missing = context.options["setup"] == "child-without-command" and name == worker(1)
    harness = "pi" if missing else "openai-agents"
    found: dict[str, Any] = {
        "spec_version": 1,
        "name": name,
        "description": "An agent of a test.",
        "prompt": "You are an agent of a test.",
        "executor": {
            "type": "omnigent",
            "model": context.model,
            "auth": auth,
            "config": {"harness": harness, "use_responses": False},
        },
    }
    if below:
        found["tools"] = {"agents": below}
    return found


def plan(context: Context) -> dict[str, Any]:
    """What the program inside starts and asks."""
    python = str(context.binary.folder / "venv" / "bin" / "python")
    data = context.home / "data"
    server = [str(context.binary.path), "server", "--host", "127.0.0.1", "--port", "{port}"]
    server += ["--no-open", "--agent", str(place(context) / "agent")]
    server += ["--database-uri", f"sqlite:///{data / 'chat.db'}"]
    server += ["--artifact-location", str(data / "artifacts")]
    alone = context.options["form"] == "runner"
    folder = str(place(context) / "agent")
    ask = f"from omnigent.runner.identity import token_bound_runner_id as f; print(f({TOKEN!r}))"
    deed, when = what_happens(context.options)
    return {
        "agent": AGENT,
        "server": server,
        "alone": alone,
        "runner": [python, "-P", str(place(context) / "alone.py"), "{port}", folder]
        if alone
        else [python, "-P", "-m", "omnigent.runner._entry"],
        "runner_env": {
            "OMNIGENT_RUNNER_TUNNEL_BINDING_TOKEN": TOKEN,
            "OMNIGENT_RUNNER_WORKSPACE": str(context.work),
        },
        "identity": [python, "-P", "-c", ask],
        "version": [python, "-P", "-c", "from omnigent.version import VERSION; print(VERSION)"],
        "message": context.prompt,
        "second": "The operator has a second message: go on.",
        "setup": context.options["setup"],
        "deed": deed,
        "when": when,
        "rest": REST,
        "logs": str(context.logs),
        "exports": str(context.logs / "exports"),
    }


def what_happens(options: Mapping[str, Any]) -> tuple[str, str]:
    """What our client does to the run, and at which moment; empty: nothing."""
    for deed in ("restart", "kill", "speak", "interrupt"):
        if options[deed] != "never":
            return deed, str(options[deed])
    return "", ""
