"""A Python script that repeats the scenario without Lifeline; for a bug report."""

from __future__ import annotations

from typing import IO

from runs.export import Export
from runs.material import Material
from runs.standalone import script_of


class StandaloneScript(Export):
    """For whoever has only Python and the agent's binary."""

    name = "script"
    title = "Standalone Python script that repeats it"
    suffix = "py"
    media = "text/x-python"

    def write(self, material: Material, out: IO[bytes]) -> None:
        """The script; HarnessError says why a run cannot be made one."""
        out.write(script_of(material.repeat).encode())


EXPORT = StandaloneScript()
