"""An agent whose package is a shell script: all that installing needs of a driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from runs.driver import Binary, Context, Driver, Launch, Package, Say, Source
from runs.errors import VersionCannotRun


class Toy(Driver):
    """Installed from npm, prepared by writing one file."""

    name: ClassVar[str] = "toy"
    title: ClassVar[str] = "Toy"
    package: ClassVar[Package] = Package("npm", "@lifeline/toy")
    oldest: ClassVar[str] = "1.0.0"
    dialects: ClassVar[tuple[str, ...]] = ("responses",)
    allowed_tools: ClassVar[frozenset[str]] = frozenset()
    prepares = True
    prepared: ClassVar[list[str]] = []

    def executable(self, folder: Path) -> Path:
        path = folder / "node_modules" / "@lifeline" / "toy" / "toy"
        if not path.is_file() or (path.parent / "elsewhere").exists():
            raise VersionCannotRun("This version has no package for this platform.")
        return path

    def needs_prepare(self) -> bool:
        return self.prepares

    def prepare(self, binary: Binary, folder: Path, say: Say) -> None:
        self.prepared.append(binary.version)
        (folder / "payload").write_text(binary.version)

    def launch(self, context: Context) -> Launch:
        raise NotImplementedError

    def sources(self, context: Context) -> Iterable[Source]:
        return ()

    def tools(self, options: Mapping[str, Any], version: str) -> Any:
        raise NotImplementedError


class PythonToy(Toy):
    """The same from a Python package index."""

    name: ClassVar[str] = "pytoy"
    package: ClassVar[Package] = Package("pypi", "lifeline-toy")

    def executable(self, folder: Path) -> Path:
        return folder / "venv" / "bin" / "lifeline-toy"
