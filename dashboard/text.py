"""Foreign text made harmless; it lives in `runs.text`, where the exports need it too."""

from __future__ import annotations

from runs.text import *  # noqa: F403
