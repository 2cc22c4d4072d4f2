"""Template words: chips, durations, sizes and foreign text made visible."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dashboard import joining
from runs import text, words

register = template.Library()

register.filter("visible", text.visible)
register.filter("one_line", text.one_line)
register.filter("seconds", words.seconds)
register.filter("size", words.size)
register.filter("law_name", words.law_name)
register.filter("guard_words", words.guard)
register.filter("status_tone", words.status_tone)
register.filter("verdict_tone", words.verdict_tone)


@register.simple_tag
def chip(tone: str, word: object, extra: str = "") -> SafeString:
    """A chip: shape and colour by tone, the word beside it."""
    return format_html(
        '<span class="chip {} {}"><span class="clip">{}</span></span>',
        tone,
        extra,
        text.one_line(word, 80),
    )


@register.simple_tag
def diagnosis_chip(name: str, extra: str = "") -> SafeString:
    """The diagnosis as a chip; nothing while there is none."""
    word, tone = words.diagnosis(name)
    return chip(tone, word, extra) if word else SafeString("")


@register.simple_tag
def copyable(value: object, shown: object = "") -> SafeString:
    """An id that is copied on a press (base.js); plain text without JavaScript."""
    return format_html(
        '<button type="button" class="copy mono" data-copy="{}" title="Copy {}">{}</button>',
        text.visible(value),
        text.one_line(value, 80),
        text.one_line(shown or value),
    )


@register.simple_tag
def moment(when: datetime | None) -> SafeString:
    """A date as `<time>`; base.js turns it into local time where that clock is chosen."""
    if when is None:
        return SafeString("–")
    return format_html(
        '<time datetime="{}" data-moment>{} UTC</time>',
        when.isoformat(timespec="milliseconds"),
        when.strftime("%Y-%m-%d %H:%M:%S"),
    )


@register.simple_tag
def since(value: float | None) -> SafeString:
    """A time since the run's start; base.js shows it on the chosen clock (`data-t`, seconds)."""
    if value is None:
        return SafeString('<span class="faint">–</span>')
    return format_html('<span data-t="{}">{}</span>', f"{value:.6f}", f"{value:.3f}")


@register.simple_tag
def modules(*entries: str) -> SafeString:
    """The scripts of a page with these entry modules: one file where they were joined."""
    tags = ((static(name),) for name in joining.scripts(entries))
    return format_html_join("\n", '<script type="module" src="{}"></script>', tags)


@register.filter
def item(mapping: Any, key: Any) -> Any:
    """`mapping[key]`, None where it is missing."""
    try:
        return mapping[key]
    except (KeyError, IndexError, TypeError):
        return None


@register.filter
def as_set(value: Any) -> str:
    """A setting's value as it stands in a scenario: `false`, `0`, `"text"` only where empty."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return text.one_line(value) if value != "" else '""'


@register.filter
def grouped(value: Any) -> str:
    """A count with thousands separators."""
    return f"{value:,}" if isinstance(value, int) else str(value)


@register.filter
def coded(value: object) -> SafeString:
    """A sentence of ours with its `names` as code."""
    escaped = conditional_escape(str(value))
    return mark_safe(re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped))
