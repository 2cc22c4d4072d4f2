"""The words and tones of the pages; it lives in `runs.words`, where the exports need it too."""

from __future__ import annotations

from runs.words import *  # noqa: F403
