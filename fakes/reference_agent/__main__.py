"""``python -m fakes.reference_agent``; also runs as a plain script from any folder."""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from fakes.reference_agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
