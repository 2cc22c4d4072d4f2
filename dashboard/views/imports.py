"""`/import/`: drop files, a folder or an archive, or paste text; then it is a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from dashboard import trouble
from dashboard.views.run import find
from runs import imports, models, proposal, start, uploads
from runs.errors import HarnessError
from runs.transcript import Unreadable, formats


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """The drop area; a POST brings ``files`` (with ``paths`` as JSON), ``text``, or both.

    ``upload`` names an upload whose pieces came before.
    """
    error = None
    if request.method == "POST":
        try:
            upload = request.POST.get("upload", "")
            got = uploads.finish(upload) if upload else imports.receive(_given(request))
            run = imports.begin(*got)
        except Unreadable as unreadable:
            error = {"what": unreadable.what, "do": unreadable.do}
        else:
            address = reverse("run", args=[run.permalink])
            return JsonResponse({"run": address}) if _script(request) else redirect(address)
        if _script(request):
            return trouble.as_json(422, error["what"], error["do"])
    context = {
        "section": "import",
        "error": error,
        "text": request.POST.get("text", ""),
        "piece": uploads.PIECE,
        "formats": sorted({one.title for one in formats().values()}),
        "recent": models.Run.objects.filter(kind="import").order_by("-pk")[:8],
    }
    return render(request, "imports/page.html", context, status=422 if error else 200)


def _script(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _given(request: HttpRequest) -> Iterator[tuple[str, Iterator[bytes]]]:
    files = request.FILES.getlist("files")
    names = _names(request.POST.get("paths", ""), files)
    for name, file in zip(names, files, strict=True):
        yield name, file.chunks(imports.PIECE)
    text = request.POST.get("text", "")
    if text.strip():
        # A form's line ends are CRLF whatever was pasted.
        yield "pasted.jsonl", iter([text.replace("\r\n", "\n").encode("utf-8", "replace")])


def _names(paths: str, files: list[UploadedFile[bytes]]) -> list[str]:
    """The relative names that the script sends beside the files, which browsers shorten."""
    try:
        found: Any = json.loads(paths) if paths else []
    except (ValueError, RecursionError):
        found = []
    if isinstance(found, list) and len(found) == len(files):
        return [str(name) for name in found]
    return [str(file.name) for file in files]


@require_POST
def piece(request: HttpRequest) -> HttpResponse:
    """Pieces of an upload: ``files``, and ``places`` as JSON with the name and offset of each."""
    files = request.FILES.getlist("files")
    try:
        places = [(str(name), int(at)) for name, at in json.loads(request.POST.get("places", ""))]
        pieces = [
            (name, at, file.chunks(imports.PIECE))
            for (name, at), file in zip(places, files, strict=True)
        ]
    except (ValueError, TypeError, RecursionError):
        return trouble.as_json(
            422, "Each piece needs its file's name and its offset.", "Send both in `places`."
        )
    try:
        name = uploads.put(request.POST.get("upload", ""), pieces)
    except Unreadable as unreadable:
        return trouble.as_json(422, unreadable.what, unreadable.do)
    return JsonResponse({"upload": name})


@require_POST
def reproduce(request: HttpRequest, permalink: str) -> HttpResponse:
    """Start what the import proposes; the run keeps the way to its reproduction."""
    found = find(permalink)
    proposed = proposal.propose(found)
    if proposed is None:
        what = "There is nothing to propose: its agent is not known here."
        return trouble.page(request, 409, what, "Start a run by hand.")
    version = request.POST.get("version", "").strip() or proposed.version
    try:
        (fresh,) = start.create(proposed.agent, version, proposed.scenario.name)
    except HarnessError as error:
        return trouble.page(request, 400, error.what, error.do)
    intake = found.summary.setdefault("intake", {})
    intake["reproductions"] = [fresh.permalink, *intake.get("reproductions", [])][:20]
    models.Run.objects.filter(pk=found.pk).update(summary=found.summary)
    return redirect("run", fresh.permalink)
