"""Hermes with its own model calls: one prompt on the command line, or its gateway's live feed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runs import pythons
from runs.driver import Context, Launch, Source
from runs.drivers._log import printed
from runs.drivers.hermes.config import config_files
from runs.option import Option
from runs.transcript import named

OWN = Path(__file__).parent
HOOKS = (
    *("on_session_start", "on_session_end", "subagent_start", "subagent_stop"),
    *("pre_tool_call", "post_tool_call", "api_request_error"),
)
OPTIONS = (
    Option(
        "form",
        "choice",
        "oneshot",
        "How it is given its prompt: on its command line, or over the gateway of its interface, "
        "which tells live what happens and takes late results.",
        ("oneshot", "gateway"),
    ),
    Option("retries", "int", 3, "Tries of a request; -1: its own number."),
    Option(
        "stale_timeout",
        "float",
        5.0,
        "Seconds without a byte after which it gives a stream up; -1: its own, which are minutes.",
    ),
    Option(
        "spawn_depth",
        "int",
        1,
        "How deep sub-agents may nest; from 2 on each is asked for as one that delegates, too.",
    ),
    Option(
        "interrupt",
        "choice",
        "none",
        "Whom the client stops while a sub-agent works (gateway only).",
        ("none", "child"),
    ),
)


def is_gateway(options: Mapping[str, Any]) -> bool:
    """Whether it is driven over its gateway."""
    return str(options["form"]) == "gateway"


def chat_launch(context: Context, home: Path) -> Launch:
    """Hermes below a program of ours that follows its database. `home` is HERMES_HOME."""
    python = context.binary.path.with_name("python")
    command: tuple[str, ...] = (str(context.binary.path), "--accept-hooks", "-z", context.prompt)
    if is_gateway(context.options):
        command = (str(python), "-m", "tui_gateway.entry")
    depth = f"max_spawn_depth={int(context.options['spawn_depth'])}"
    version = f"{shlex.quote(str(python))} -c 'import hermes_cli; print(hermes_cli.__version__)'"
    files = {
        **config_files(context, home, "chat_completions", **_hooks(context)),
        context.home / "inside.py": (OWN / "inside.py").read_text(encoding="utf-8"),
        context.home / "hook.py": (OWN / "hook.py").read_text(encoding="utf-8"),
    }
    return Launch(
        argv=(
            *(*_python(), str(context.home / "inside.py"), version),
            *(str(home / "state.db"), str(context.logs / "state.jsonl"), depth, "--", *command),
        ),
        env={"HERMES_HOME": str(home), "NO_COLOR": "1", **_timeouts(context.options)},
        files=files,
        stdin="pipe" if is_gateway(context.options) else "none",
    )


def _python() -> tuple[str, ...]:
    """The Python that runs Lifeline, with nothing of this machine's own."""
    return (str(pythons.ours()), "-B", "-E", "-s", "-S", "-X", "utf8")


def _timeouts(options: Mapping[str, Any]) -> dict[str, str]:
    seconds = float(options["stale_timeout"])
    if seconds < 0:
        return {}
    names = ("STREAM_STALE_TIMEOUT", "LOCAL_STREAM_STALE_TIMEOUT", "STREAM_READ_TIMEOUT")
    return {f"HERMES_{name}": f"{seconds:g}" for name in names}


def _hooks(context: Context) -> dict[str, Any]:
    """Its hooks, each of which is our program, and how often it tries."""
    log = context.logs / "hooks.jsonl"
    hook = shlex.join((*_python(), str(context.home / "hook.py"), str(log)))
    tries = int(context.options["retries"])
    return {
        "agent": {"api_max_retries": tries} if tries >= 0 else {},
        "delegation": {"max_spawn_depth": int(context.options["spawn_depth"])},
        "hooks": {name: [{"command": hook, "timeout": 30}] for name in HOOKS},
        "hooks_auto_accept": True,
    }


def chat_sources(context: Context) -> Iterable[Source]:
    """What it prints, what it stores, its hooks and the logs of its delegations."""
    if is_gateway(context.options):
        yield Source(name="rpc", reader=named("hermes-tui-rpc").reader, stream="stdout")
    else:
        yield Source(name="stdout", reader=printed, stream="stdout")
    yield Source(name="session", reader=named("hermes-state-rows").reader, glob="logs/state.jsonl")
    yield Source(name="hooks", reader=named("hermes-hook-payloads").reader, glob="logs/hooks.jsonl")
    yield Source(
        name="log",
        reader=named("hermes-delegation-log").reader,
        glob="home/.hermes/cache/delegation/live/*/task-*.log",
    )
