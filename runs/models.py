"""What is stored. The event list is the truth; all else of a run can be made from it again."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from django.db import models
from django.utils import timezone


def new_permalink() -> str:
    """An unguessable name for a run's address (96 bits)."""
    return secrets.token_urlsafe(12).replace("-", "a").replace("_", "b")


def new_key() -> str:
    """An unguessable name for a share's address (192 bits)."""
    return secrets.token_urlsafe(24).replace("-", "a").replace("_", "b")


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
    """{binaries: [[agent, version]], scenarios: [name], repeat, sets}"""
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
        Sweep, null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
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
    """Our own trouble: {what, do}"""

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


class Share(models.Model):
    """A read-only address of one run in its redacted form; revocable, and it expires."""

    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="shares")
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
