"""The whole run as a zip that an import reads back to the same judgement.

``manifest.json`` ``{"lifeline": 1, "what", "redacted", "run", "scenario", "document", "intake",
"opinions", "files": [{"path", "bytes", "sha256"}], "missing"}``, ``events.jsonl`` (one event a
line, by number), ``findings.json``; at level full the raw ``sources/`` and ``bodies/``.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any

from runs import vocabulary
from runs.archives import EVENTS, FORMAT, MANIFEST
from runs.export import Export
from runs.material import Material
from runs.redact import RedactionFailed


class Archive(Export):
    """For keeping, for moving to another instance, for a bug report."""

    name = "archive"
    title = "Archive (.zip): can be imported again"
    suffix = "zip"
    media = "application/zip"

    def write(self, material: Material, out: IO[bytes]) -> None:
        """Members one after the other; none is held in memory."""
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
            files = [_add(packed, name, pieces) for name, pieces in material.files()]
            files.append(_add(packed, EVENTS, _looked_at(material, _lines(material))))
            whole = (
                ("findings.json", material.document["findings"]),
                (MANIFEST, manifest(material, files)),
            )
            for name, value in whole:
                text = json.dumps(value, indent=1, ensure_ascii=False)
                _add(packed, name, _looked_at(material, iter([text])))


def manifest(material: Material, files: list[dict[str, Any]]) -> dict[str, Any]:
    """What the archive says about itself."""
    return {
        "lifeline": FORMAT,
        "what": "run" if material.run["executed"] else "import",
        "redacted": "" if material.level == "full" else material.level,
        "run": material.run,
        "scenario": material.scenario,
        "document": material.document,
        "intake": material.intake,
        "opinions": material.opinions,
        "files": files,
        "missing": [] if any(f["path"].startswith("sources/") for f in files) else ["sources"],
    }


def _lines(material: Material) -> Iterator[str]:
    for event in material.events():
        yield json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n"


def _looked_at(material: Material, texts: Iterable[str]) -> Iterator[bytes]:
    """The texts as bytes, each looked through for what should have been replaced."""
    for text in texts:
        if material.redactor.leak(text, vocabulary.printed()):
            raise RedactionFailed(
                "A secret was still in the export.", "Nothing was exported. Report this."
            )
        yield text.encode("utf-8", "replace")


def _add(packed: zipfile.ZipFile, name: str, pieces: Iterator[bytes]) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    with packed.open(name, "w", force_zip64=True) as entry:
        for piece in pieces:
            entry.write(piece)
            digest.update(piece)
            size += len(piece)
    return {"path": name, "bytes": size, "sha256": digest.hexdigest()}


EXPORT = Archive()
