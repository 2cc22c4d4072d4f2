"""Codex's ``config.toml`` for a run: one loopback provider, no key, nothing that phones home."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from runs.option import LEAVE

PROVIDER = "lifeline"
COUNTS_SESSIONS = (0, 121, 0)
"""The first version that limits the threads of a session under that name."""


def config(base_url: str, model: str, options: Mapping[str, Any], release: tuple[int, ...]) -> str:
    """The whole file. `base_url` is the provider's address without a path."""
    ask = options["permissions"] == "ask"
    lines = [
        f"model = {_text(model)}",
        f"model_provider = {_text(PROVIDER)}",
        f"approval_policy = {_text('on-request' if ask else 'never')}",
        f"sandbox_mode = {_text('read-only' if ask else 'danger-full-access')}",
        "check_for_update_on_startup = false",
        'web_search = "disabled"',
        "",
        f"[model_providers.{PROVIDER}]",
        f"name = {_text(PROVIDER)}",
        f"base_url = {_text(base_url + '/v1')}",
        'wire_api = "responses"',
        "requires_openai_auth = false",
        "supports_websockets = false",
        *_numbers(options),
        "",
        *_limits(options, release),
        "[analytics]",
        "enabled = false",
        "",
        "[feedback]",
        "enabled = false",
        "",
        "[otel]",
        *(f'{name} = "none"' for name in ("exporter", "metrics_exporter", "trace_exporter")),
        "",
        "[features]",
        f"multi_agent_v2 = {_flag(options['multi_agent'] == 'v2')}",
        "plugins = false",
        *([] if options["unbounded_retries"] else ["unbounded_connection_retries = false"]),
    ]
    return "\n".join(lines) + "\n"


def _numbers(options: Mapping[str, Any]) -> list[str]:
    names = ("request_max_retries", "stream_max_retries", "stream_idle_timeout_ms")
    return [f"{name} = {options[name]}" for name in names if int(options[name]) > LEAVE]


def _limits(options: Mapping[str, Any], release: tuple[int, ...]) -> list[str]:
    """How many sub-agents at once (the root not counted), and how deep."""
    found = []
    children, depth = int(options["max_children"]), int(options["max_depth"])
    if children > LEAVE:
        later = release >= COUNTS_SESSIONS
        name = "max_concurrent_threads_per_session" if later else "max_threads"
        found.append(f"{name} = {children}")
    if depth > LEAVE:
        found.append(f"max_depth = {depth}")
    return ["[agents]", *found, ""] if found else []


def _text(value: str) -> str:
    """A TOML text: JSON's escapes are TOML's."""
    return json.dumps(value, ensure_ascii=False)


def _flag(value: bool) -> str:
    return "true" if value else "false"
