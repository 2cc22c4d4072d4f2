"""``python -m fakes.codex_app_server``; also runs as a plain script from any folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from fakes.codex_app_server.cli import main

if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # a turn that still plays must not keep the process
