"""What the run page shows; it lives in `runs.facts`, where the exports need it too."""

from __future__ import annotations

from runs.facts import *  # noqa: F403
