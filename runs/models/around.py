"""Around runs: links that share one, jobs that install, workers that listen."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from runs.models.keys import new_key


class Share(models.Model):
    """A read-only address of one run in its redacted form; revocable, and it expires."""

    run = models.ForeignKey("Run", null=True, on_delete=models.SET_NULL, related_name="shares")
    """None once the run was deleted: the address then answers as a revoked one."""
    key = models.CharField(max_length=48, unique=True, default=new_key)
    title = models.CharField(max_length=300, blank=True, default="")
    """What "my links" shows, made when the link was; private."""
    level = models.CharField(max_length=12)
    choices: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """Of level ``custom``: {texts: bool, detectors: [name]}"""
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    seen = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"share of {self.title}"

    @property
    def is_live(self) -> bool:
        """Whether the address still answers."""
        return (
            self.revoked_at is None and self.run_id is not None and self.expires_at > timezone.now()
        )


class Installation(models.Model):
    """A job that installs or removes one version of one agent, with its log."""

    class State(models.TextChoices):
        QUEUED = "queued"
        INSTALLING = "installing"
        READY = "ready"
        FAILED = "failed"

    agent = models.CharField(max_length=32)
    version = models.CharField(max_length=64)
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    progress = models.CharField(max_length=200, blank=True, default="")
    log = models.TextField(blank=True, default="")
    error: models.JSONField[Any, Any] = models.JSONField(default=dict)
    pinned = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["agent", "version"], name="one_installation"),
        ]


class Worker(models.Model):
    """A process that takes runs from the queue; alive while its beat is fresh."""

    name = models.CharField(max_length=120, unique=True)
    concurrency = models.PositiveIntegerField(default=1)
    platform = models.CharField(max_length=40, blank=True, default="")
    beat_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name
