"""Download a run as one archive, everything in it; the format is `runs/exports/archive.py`."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard.views.run import find
from runs import export, material
from runs.redact import Choice


@never_cache
@require_GET
def archive(request: HttpRequest, permalink: str) -> HttpResponseBase:
    """The archive as an attachment."""
    run, format, choice = find(permalink), export.named("archive"), Choice.of("full")
    file = export.render(format, material.of(run, choice))
    name = export.file_name(run, format, choice)
    answer = FileResponse(file, as_attachment=True, filename=name, content_type=format.media)
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
