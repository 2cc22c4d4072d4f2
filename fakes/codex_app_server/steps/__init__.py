"""Kinds of steps of a scripted turn, one a file; each module ends with ``STEP = Step(…)``."""

from __future__ import annotations
