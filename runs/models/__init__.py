"""What is stored. The event list is the truth; all else of a run can be made from it again."""

from __future__ import annotations

from runs.models.around import Installation, Share, Worker
from runs.models.keys import new_key, new_permalink
from runs.models.plans import Cell, News, SavedScenario, Sweep, Watch
from runs.models.run import Event, Finding, Opinion, Run

__all__ = [
    "Cell",
    "Event",
    "Finding",
    "Installation",
    "News",
    "Opinion",
    "Run",
    "SavedScenario",
    "Share",
    "Sweep",
    "Watch",
    "Worker",
    "new_key",
    "new_permalink",
]
