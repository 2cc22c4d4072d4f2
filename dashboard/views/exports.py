"""Exports of a run as downloads; redacted where it is asked for."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import trouble
from dashboard.views.run import find
from runs import export, material, repeat
from runs.errors import HarnessError, UnknownName
from runs.redact import Choice, RedactionFailed


def chosen(values: dict[str, list[str]]) -> Choice:
    """The choice of a form or query: ``redact``, ``texts``, ``detector`` (several)."""
    level = (values.get("redact") or ["structure"])[0]
    names = values.get("detector") if level == "custom" else None
    texts = bool(values.get("texts")) or level == "structure"
    return Choice.of(level, texts, names if names is not None or level != "custom" else [])


@never_cache
@require_GET
def export_run(request: HttpRequest, permalink: str, name: str) -> HttpResponseBase:
    """One format as an attachment. ``?redact=full`` gives everything, for oneself."""
    run = find(permalink)
    try:
        format = export.named(name)
        choice = chosen(dict(request.GET.lists()))
        made = material.of(run, choice, command=repeat.command(run))
        file = export.render(format, made)
    except UnknownName as error:
        return trouble.page(request, 404, error.what, error.do)
    except RedactionFailed as error:
        return trouble.page(request, 500, error.what, error.do)
    except HarnessError as error:
        return trouble.page(request, 400, error.what, error.do)
    answer = FileResponse(
        file,
        as_attachment=True,
        filename=export.file_name(run, format, choice),
        content_type=format.media,
    )
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
