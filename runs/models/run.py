"""A run: its row, its events, the laws' answers and what people say of them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from runs.models.keys import new_permalink


class Run(models.Model):
    """One scenario × one binary, once; or an import, which is the same thing to all pages."""

    class Kind(models.TextChoices):
        RUN = "run"
        IMPORT = "import"

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        ENDED = "ended"
        ERRORED = "errored"
        CANCELLED = "cancelled"
        LOST = "lost"

    OPEN: ClassVar[tuple[str, ...]] = ("queued", "running")

    permalink = models.CharField(max_length=32, unique=True, default=new_permalink)
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.RUN)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.QUEUED)
    phase = models.CharField(max_length=200, blank=True, default="")
    """Where a queued or running run is, in words (installing 40 %, launching, attempt 3 …)."""

    agent = models.CharField(max_length=32)
    version = models.CharField(max_length=64)
    reported_version = models.CharField(max_length=64, blank=True, default="")
    sha256 = models.CharField(max_length=64, blank=True, default="")
    scenario = models.CharField(max_length=80, blank=True, default="")
    snapshot: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """The whole scenario as it was when the run was made."""
    options: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """The driver's options of this run, read and typed."""
    expect = models.CharField(max_length=80, blank=True, default="")
    batch = models.CharField(max_length=32, blank=True, default="", db_index=True)
    """Runs of one `--repeat` or one press share this."""
    sweep = models.ForeignKey(
        "Sweep", null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
    )

    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    """When a message for it was last put into the queue."""
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=120, blank=True, default="")
    cancel_at = models.DateTimeField(null=True, blank=True)

    outcome = models.CharField(max_length=40, blank=True, default="")
    public_outcome = models.CharField(max_length=40, blank=True, default="")
    diagnosis = models.CharField(max_length=48, blank=True, default="")
    exit_code = models.IntegerField(null=True, blank=True)
    broken = models.CharField(max_length=120, blank=True, default="")
    """The broken laws in order, space-separated with spaces at both ends (`` L2 L3 ``)."""
    summary: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """What `runs/report.py` made of the history: agents[], attempts[], retry, a line for lists."""
    facts: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """What the matrix needs of it: {attempts, gaps, told, stdout, session}"""
    sealed: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """{network, files, processes: bool, by: bwrap|minder, why}"""
    runtime: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """{node, payload, platform, python …}"""
    error: models.JSONField[Any, Any] = models.JSONField(default=dict)
    """Our own trouble: {what, do, kind, of}; of ``version`` where no other try ends better."""

    event_count = models.PositiveIntegerField(default=0)
    notes = models.TextField(blank=True, default="")
    tags: models.JSONField[Any, Any] = models.JSONField(default=list)
    keep = models.BooleanField(default=False)
    size = models.BigIntegerField(default=0)
    """Bytes on disk of the run's folder, when it was last cut down."""

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["-id", "status"]),
            models.Index(fields=["agent", "version", "scenario"]),
            models.Index(fields=["status", "heartbeat_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.agent}@{self.version} {self.scenario} ({self.permalink})"

    @property
    def is_open(self) -> bool:
        """Whether it can still change by itself."""
        return self.status in self.OPEN


class Event(models.Model):
    """A row of the run's history; the fields of `runs.core.events.Event`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events", db_index=False)
    seq = models.PositiveIntegerField()
    t = models.FloatField(null=True)
    kind = models.CharField(max_length=32)
    agent = models.CharField(max_length=200, blank=True, default="")
    source = models.CharField(max_length=32)
    file = models.CharField(max_length=400)
    line = models.PositiveIntegerField(null=True)
    pointer = models.CharField(max_length=400, blank=True, default="")
    native = models.CharField(max_length=120, blank=True, default="")
    native_id = models.CharField(max_length=200, blank=True, default="")
    offset = models.BigIntegerField(null=True)
    length = models.BigIntegerField(null=True)
    data: models.JSONField[Any, Any] = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "seq"], name="event_run_seq"),
        ]


class Finding(models.Model):
    """A law's answer, stored for lists and filters; made again by `rejudge`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="findings")
    law = models.CharField(max_length=8)
    verdict = models.CharField(max_length=8)
    agent = models.CharField(max_length=200)
    reason = models.TextField(blank=True, default="")
    because = models.CharField(max_length=8, blank=True, default="")
    label = models.CharField(max_length=48, blank=True, default="")
    evidence: models.JSONField[Any, Any] = models.JSONField(default=list)
    figures: models.JSONField[Any, Any] = models.JSONField(default=dict)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["run", "position"])]


class Opinion(models.Model):
    """What a person says of a finding; survives `rejudge` (by law and agent)."""

    class Word(models.TextChoices):
        CONFIRMED = "confirmed"
        BY_DESIGN = "by design"
        WITHDRAWN = "withdrawn"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="opinions")
    law = models.CharField(max_length=8)
    agent = models.CharField(max_length=200)
    word = models.CharField(max_length=12, choices=Word.choices)
    note = models.TextField(blank=True, default="")
    link = models.URLField(blank=True, default="")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "law", "agent"], name="opinion_of_finding"),
        ]
