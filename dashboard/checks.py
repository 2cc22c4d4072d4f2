"""What keeps an exposed instance from starting without a token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from dashboard.guard import is_loopback

MIN_TOKEN = 16


def exposure_problem(host: str, token: str, names: Sequence[str] = (), read_token: str = "") -> str:
    """Why this instance must not start, or ""; `host` is the address that it will listen on."""
    if token and len(token) < MIN_TOKEN:
        return f"LIFELINE_TOKEN is shorter than {MIN_TOKEN} characters."
    if read_token and not token:
        return "LIFELINE_READ_TOKEN is set without LIFELINE_TOKEN."
    if read_token and read_token == token:
        return "LIFELINE_READ_TOKEN and LIFELINE_TOKEN are the same."
    if read_token and len(read_token) < MIN_TOKEN:
        return f"LIFELINE_READ_TOKEN is shorter than {MIN_TOKEN} characters."
    if token:
        return ""
    if not is_loopback(host):
        return f"{host} can be reached by others, and LIFELINE_TOKEN is not set."
    if names:
        return f"LIFELINE_NAMES names {names[0]}, and LIFELINE_TOKEN is not set."
    return ""


@register()
def exposed_without_token(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Django's check framework runs this before `up` and every other command."""
    why = exposure_problem(settings.HOST, settings.TOKEN, settings.NAMES, settings.READ_TOKEN)
    hint = "Set LIFELINE_TOKEN to a long secret, or listen on 127.0.0.1."
    return [Error(why, hint=hint, id="lifeline.E001")] if why else []
