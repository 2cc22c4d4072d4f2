"""Template words of the pages about versions: what watches saw."""

from __future__ import annotations

from typing import Any

from django import template

from runs import watching

register = template.Library()


@register.inclusion_tag("watch/_news.html", takes_context=True)
def watch_news(context: dict[str, Any]) -> dict[str, Any]:
    """Changes of verdict that nobody has put away yet."""
    keys = ("rights", "csrf_token", "request")
    return {"news": watching.unseen(), **{key: context.get(key) for key in keys}}
