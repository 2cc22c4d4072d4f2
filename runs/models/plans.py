"""What makes runs, and what they add up to: sweeps, cells, watches, saved scenarios."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from runs.models.keys import new_permalink


class Sweep(models.Model):
    """Agents × versions × scenarios × repeats, as runs of their own with a fair order.

    A bisection is a sweep that decides its next runs by what it saw (`search`).
    """

    class State(models.TextChoices):
        GOING = "going"
        PAUSED = "paused"
        ENDED = "ended"
        CANCELLED = "cancelled"

    permalink = models.CharField(max_length=32, unique=True, default=new_permalink)
    state = models.CharField(max_length=12, choices=State.choices, default=State.GOING)
    plan: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """{binaries: [[agent, version]], scenarios: [name], repeat, sets}; of a sweep that runs only
    what is missing also `missing`: [[agent, version, scenario, how many]]"""
    search: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """Of a bisection: {agent, versions, good, bad, look_for, repeat}; of a sweep empty."""
    result: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """Of a bisection: {verdict, last_before, first, reason, steps}"""
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    served_at = models.DateTimeField(null=True, blank=True)
    """When one of its runs was last sent; the one that waited longest is next."""

    def __str__(self) -> str:
        return f"{'bisection' if self.search else 'sweep'} {self.permalink}"


class Cell(models.Model):
    """One binary × one scenario of the matrix, made anew whenever one of its runs ends."""

    agent = models.CharField(max_length=32)
    version = models.CharField(max_length=64)
    scenario = models.CharField(max_length=80, blank=True)
    data: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """:class:`runs.core.matrix.Cell`"""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["agent", "version", "scenario"], name="one_cell"),
        ]


class Watch(models.Model):
    """One agent × one scenario that is run by itself whenever a new version appears."""

    agent = models.CharField(max_length=32)
    scenario = models.CharField(max_length=80)
    on = models.BooleanField(default=False)
    """Opt-in: nothing is asked for, installed or run while it is off."""
    repeat = models.PositiveIntegerField(default=3)
    webhook = models.CharField(max_length=500, blank=True, default="")
    """Where a change of verdict is sent, as JSON; empty: nowhere."""
    version = models.CharField(max_length=64, blank=True, default="")
    """The newest version it knows; only later ones are new."""
    pending = models.CharField(max_length=64, blank=True, default="")
    """The version that is being run now; empty between two."""
    asked_at = models.DateTimeField(null=True, blank=True)
    """When the list of published versions was last asked for."""
    said = models.CharField(max_length=300, blank=True, default="")
    """What it last did, in words."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["agent", "scenario"], name="one_watch"),
        ]

    def __str__(self) -> str:
        return f"watch of {self.agent} {self.scenario}"


class News(models.Model):
    """A change of verdict that a watch saw; shown on the first page until it is put away."""

    watch = models.ForeignKey(Watch, on_delete=models.CASCADE, related_name="news")
    before = models.CharField(max_length=64)
    after = models.CharField(max_length=64)
    words = models.TextField()
    """``diagnosis healthy → false completion; exit 0 → 1``"""
    sent = models.CharField(max_length=300, blank=True, default="")
    """What the webhook answered, in words; empty where there is none."""
    seen = models.BooleanField(default=False)
    at = models.DateTimeField(default=timezone.now)


class SavedScenario(models.Model):
    """One version of a scenario that somebody saved; the newest of a name is in force."""

    name = models.CharField(max_length=80)
    number = models.PositiveIntegerField()
    toml = models.TextField()
    """As it was written, comments and all."""
    origin = models.CharField(max_length=120, blank=True, default="")
    """Where it came from, in words ("copied from sse-cut"); empty: written here."""
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["name", "number"], name="scenario_version"),
        ]

    def __str__(self) -> str:
        return f"scenario {self.name}, version {self.number}"
