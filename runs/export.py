"""What an export is: one format in which a run leaves.

A format is one file in ``exports/`` that ends with ``EXPORT = …``. It writes from
:class:`runs.material.Material`, in which all is redacted already, and reads nothing else.
"""

from __future__ import annotations

import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import IO, ClassVar

import runs.exports
from fakes.registry import members
from runs import models, vocabulary
from runs.errors import UnknownName
from runs.material import Material
from runs.redact import Choice, RedactionFailed
from runs.scenario import nearest


class Export(ABC):
    """One format."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What it is, and what opens it."""
    suffix: ClassVar[str]
    """As in ``lifeline-….SUFFIX``."""
    media: ClassVar[str]

    @abstractmethod
    def write(self, material: Material, out: IO[bytes]) -> None:
        """Write the whole export."""


@cache
def exports() -> Mapping[str, Export]:
    """Every format by name."""
    return {each.name: each for each in members(runs.exports, "EXPORT").values()}


def named(name: str) -> Export:
    """One format; UnknownName names the nearest."""
    if name not in exports():
        raise UnknownName(f"There is no export {name!r}.", nearest(name, exports()))
    return exports()[name]


def file_name(run: models.Run, export: Export, choice: Choice) -> str:
    """A name for the file; without anything that could be a secret below level full."""
    if not choice.whole:
        return f"lifeline-{run.permalink}-redacted.{export.suffix}"
    words = f"lifeline-{run.agent}-{run.version}-{run.scenario or 'import'}-{run.permalink}"
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", words) + f".{export.suffix}"


def render(export: Export, material: Material) -> IO[bytes]:
    """The export in a temporary file, at its beginning; it goes when the file is closed.

    RedactionFailed when what was replaced still stands in it: then nothing is given.
    """
    out: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=8 << 20)  # noqa: SIM115
    try:
        export.write(material, out)
        if export.suffix != "zip":
            check(material, out)
        out.seek(0)
    except BaseException:
        out.close()
        raise
    return out


def check(material: Material, out: IO[bytes]) -> None:
    """Look through what was written for secrets that were found in the run."""
    out.seek(0)
    tail = ""
    while piece := out.read(4 << 20):
        words = tail + piece.decode("utf-8", "replace")
        if material.redactor.leak(words, vocabulary.printed()):
            raise RedactionFailed(
                "A secret was still in the export.", "Nothing was exported. Report this."
            )
        tail = words[-500:]
