"""What each version's protocol looks like, condensed: from the installed bundle, or as shipped.

``protocols/VERSION.json`` holds one line a name, so that two of them can be compared by
eye. ``python -m runs.drivers.codex.describe FOLDER VERSION`` makes one from a bundle.
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from pathlib import Path

from runs.core.drift import Description, of_schemas
from runs.drivers.codex.protocol import SIDES

FOLDER = Path(__file__).parent / "protocols"


def shipped() -> list[str]:
    """Versions that are described without an installation."""
    return [path.stem for path in FOLDER.glob("*.json")]


@lru_cache(maxsize=16)
def of_version(version: str, prepared: Path | None) -> Description | None:
    """The description of one version, None where neither a bundle nor a table is there."""
    if prepared is not None:
        try:
            return of_bundle(prepared)
        except (OSError, ValueError):
            pass
    path = FOLDER / f"{version}.json"
    if version not in shipped():
        return None
    found: Description = json.loads(path.read_text())
    return found


def of_bundle(folder: Path) -> Description:
    """The description of a bundle as the binary wrote it."""
    documents = {
        side: json.loads((folder / f"{name}.json").read_text()) for side, name in SIDES.items()
    }
    return of_schemas(documents)


def as_text(description: Description) -> str:
    """As JSON with one line a name."""
    sections = []
    for section, names in description.items():
        lines = [
            f"  {json.dumps(name)}: {json.dumps(dict(sorted(keys.items())))}"
            for name, keys in sorted(names.items())
        ]
        sections.append(f" {json.dumps(section)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(sections) + "\n}\n"


if __name__ == "__main__":
    (FOLDER / f"{sys.argv[2]}.json").write_text(as_text(of_bundle(Path(sys.argv[1]))))
