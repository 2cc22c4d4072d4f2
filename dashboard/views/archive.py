"""Download a run as one archive, with a manifest that an import reads.

A zip: ``manifest.json`` ``{"lifeline": 1, "what": "run", "run": {…}, "scenario": {…},
"document": {…}, "files": [{"path", "bytes", "sha256"}], "missing": [..]}``, the raw sources
byte for byte under ``sources/`` (unpacked), and the kept bodies under ``bodies/``.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.http import FileResponse, HttpRequest, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import transcripts
from dashboard.views.run import find
from runs import report, store
from runs.models import Run

FORMAT = 1


@never_cache
@require_GET
def archive(request: HttpRequest, permalink: str) -> HttpResponseBase:
    """The archive as an attachment."""
    run = find(permalink)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the response closes it
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        files = [_add(packed, name, chunks) for name, chunks in _contents(run)]
        packed.writestr("manifest.json", json.dumps(manifest(run, files), indent=1))
    file.seek(0)
    name = f"lifeline-{run.agent}-{run.version}-{run.scenario or 'import'}-{run.permalink}.zip"
    answer = FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


def manifest(run: Run, files: list[dict[str, Any]]) -> dict[str, Any]:
    """What the archive says about itself."""
    return {
        "lifeline": FORMAT,
        "what": run.kind,
        "run": {
            "permalink": run.permalink,
            "agent": run.agent,
            "version": run.version,
            "reported_version": run.reported_version,
            "sha256": run.sha256,
            "created_at": run.created_at.isoformat(),
            "started_at": run.started_at.isoformat() if run.started_at else None,
            "ended_at": run.ended_at.isoformat() if run.ended_at else None,
            "options": run.options,
            "sealed": run.sealed,
            "runtime": run.runtime,
            "notes": run.notes,
            "tags": run.tags,
        },
        "scenario": run.snapshot,
        "document": report.document(run),
        "files": files,
        "missing": [] if any(f["path"].startswith("sources/") for f in files) else ["sources"],
    }


def _contents(run: Run) -> Iterator[tuple[str, Iterator[bytes]]]:
    base = store.folder(run)
    for path in transcripts.source_files(run):
        name = path.relative_to(base).as_posix().removesuffix(".zst")
        yield name, transcripts.pieces(path)
    bodies = base / "bodies"
    for path in sorted(bodies.iterdir()) if bodies.is_dir() else ():
        if path.is_file() and not path.is_symlink():
            yield f"bodies/{path.name}", _read(path)


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(transcripts.PIECE):
            yield piece


def _add(packed: zipfile.ZipFile, name: str, chunks: Iterator[bytes]) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    with packed.open(name, "w", force_zip64=True) as entry:
        for chunk in chunks:
            entry.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    return {"path": name, "bytes": size, "sha256": digest.hexdigest()}
