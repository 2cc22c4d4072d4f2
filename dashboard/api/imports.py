"""`/api/imports`: logs as JSON in, a run out."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema, Status
from pydantic import Field, ValidationError

from dashboard import trouble
from dashboard.api.schemas import ErrorOut
from runs import imports, report
from runs.transcript import Unreadable

router = Router(tags=["imports"])
LARGEST = 64 << 20
"""Bytes of one body; larger logs go through the page or `judge --store`."""


class FileIn(Schema):
    """A file by its relative name, as text or as base64 (archives)."""

    name: str
    text: str | None = None
    base64: str | None = None


class ImportIn(Schema):
    """The files of one case."""

    files: list[FileIn] = Field(min_length=1, max_length=imports.LIMITS.files)


class ImportOut(Schema):
    """The run; `intake` says what was recognised, what is missing, what is damaged."""

    permalink: str
    path: str
    status: str
    diagnosis: str | None
    findings: list[dict[str, Any]]
    intake: dict[str, Any]


_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": ImportIn.model_json_schema()}},
    }
}


@router.post(
    "",
    response={201: ImportOut, 413: ErrorOut, 422: ErrorOut},
    summary="Import logs",
    operation_id="import",
    openapi_extra=_BODY,
)
def import_files(request: HttpRequest) -> Any:
    """Read the files as one case and judge it. A large one is queued: follow it like a run."""
    data = request.read(LARGEST + 1)
    if len(data) > LARGEST:
        return _too_large()
    try:
        body = ImportIn.model_validate(json.loads(data))
        run = imports.begin(*imports.receive((one.name, _content(one)) for one in body.files))
    except Unreadable as error:
        return trouble.as_json(422, error.what, error.do)
    except ValidationError as error:
        return trouble.of_shape(error.errors())
    except (ValueError, RecursionError) as error:
        what = f"The body is not understood: {_first(error)}"
        return trouble.as_json(422, what, "Send JSON, as /api/openapi.json describes it.")
    return Status(
        201,
        {
            "permalink": run.permalink,
            "path": f"/runs/{run.permalink}/",
            "status": run.status,
            "diagnosis": run.diagnosis or None,
            "findings": report.findings(run),
            "intake": run.summary.get("intake", {}),
        },
    )


def _too_large() -> HttpResponse:
    return trouble.as_json(
        413, f"The body is over {LARGEST >> 20} MiB.", "Use /import/ or `judge PATH --store`."
    )


def _first(error: Exception) -> str:
    return str(error).splitlines()[0][:200]


def _content(file: FileIn) -> Iterator[bytes]:
    if file.base64 is not None:
        try:
            yield base64.b64decode(file.base64, validate=True)
        except binascii.Error:
            raise Unreadable(
                f"{file.name[:80]!r} is not base64.", "Send text, or fix it."
            ) from None
    else:
        yield (file.text or "").encode("utf-8", "replace")
