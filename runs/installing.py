"""Installing as a job with a log: asked for on a page, done by a worker, joined by runs.

The folder and its locks (runs/shelf.py) are what counts; the row here is the job that
a page shows. A run that needs the version meanwhile joins it there.
"""

from __future__ import annotations

import time
from datetime import timedelta

from celery import shared_task
from django.db.models import Q
from django.utils import timezone

from runs import binaries, catalogue, models, shelf, start
from runs.errors import HarnessError, UnknownName
from runs.models import Installation

LOG_LIMIT = 64_000
"""Characters of a log that are kept; older lines go first."""
WORDS_KEPT = 4000
"""Characters of npm's or pip's own words that a failed job ends with."""
SAY_EVERY = 0.5
"""Seconds between two writes of progress."""
FORGOTTEN = timedelta(minutes=2)
"""A queued job that nobody took for so long is sent again."""
LONGEST = timedelta(minutes=30)
"""An installing job older than this was left by a worker that is gone."""
OPEN = (Installation.State.QUEUED, Installation.State.INSTALLING)


def request(agent: str, version: str) -> Installation:
    """Queue the installation of a version; one that is queued or going is joined.

    UnknownName: no such agent, or no version of that name. HarnessError: nothing to install.
    """
    driver = catalogue.driver(agent)
    if driver.package.registry == "builtin":
        raise HarnessError(f"{agent} comes with Lifeline.", "There is nothing to install.")
    if not start.VERSION.fullmatch(version):
        raise UnknownName(f"{version!r} is no version.", "Write it as 1.0.81.")
    found, made = Installation.objects.get_or_create(agent=agent, version=version)
    if made or found.state not in OPEN:
        Installation.objects.filter(pk=found.pk).update(
            state=Installation.State.QUEUED,
            progress="waiting for a worker",
            log="",
            error={},
            created_at=timezone.now(),
            ended_at=None,
        )
        send(found.pk)
        found.refresh_from_db()
    return found


def send(pk: int) -> None:
    """Put the job into the queue; where that fails upkeep sends it again."""
    try:
        install.apply_async((pk,), queue="runs", retry=False)
    except Exception:  # the broker is away; the row stays queued
        pass


@shared_task(name="runs.install", ignore_result=True)
def install(pk: int) -> None:
    """Do one queued installation in this process."""
    taken = Installation.objects.filter(pk=pk, state=Installation.State.QUEUED).update(
        state=Installation.State.INSTALLING, progress="beginning"
    )
    if not taken:
        return
    job = Installation.objects.get(pk=pk)
    log = Log(pk)
    try:
        binaries.ensure(job.agent, job.version, log.say)
    except HarnessError as error:
        log.lines += _installers_words(job)
        _end(pk, log, Installation.State.FAILED, {"what": error.what, "do": error.do})
    except Exception as error:
        what = f"Lifeline made a mistake: {type(error).__name__}."
        trouble = {"what": what, "do": "The worker's log says more."}
        _end(pk, log, Installation.State.FAILED, trouble)
        raise
    else:
        _end(pk, log, Installation.State.READY, {})


def _installers_words(job: Installation) -> list[str]:
    """The end of what npm or pip wrote, which says why."""
    path = shelf.Slot(job.agent, job.version).log
    try:
        of_this_job = path.stat().st_mtime >= job.created_at.timestamp()
        return path.read_text(errors="replace")[-WORDS_KEPT:].splitlines() if of_this_job else []
    except OSError:
        return []


def _end(pk: int, log: Log, state: str, error: dict[str, str]) -> None:
    log.flush()
    now = timezone.now()
    Installation.objects.filter(pk=pk).update(state=state, error=error, ended_at=now, progress="")


class Log:
    """Takes lines of progress and writes them into the job, not more often than it must."""

    def __init__(self, pk: int) -> None:
        self.pk = pk
        self.lines: list[str] = []
        self.written = 0.0

    def say(self, line: str) -> None:
        """One line; a counter that only grows replaces the line before it."""
        line = line.replace("\n", " ")[:400]
        if self.lines and _counts(self.lines[-1]) and _counts(self.lines[-1]) == _counts(line):
            self.lines[-1] = line
        else:
            self.lines.append(line)
        if time.monotonic() - self.written >= SAY_EVERY:
            self.flush()

    def flush(self) -> None:
        """Write what was said."""
        self.written = time.monotonic()
        last = self.lines[-1] if self.lines else ""
        Installation.objects.filter(pk=self.pk).update(
            progress=last[:200], log="\n".join(self.lines)[-LOG_LIMIT:]
        )


def _counts(line: str) -> str:
    """What a counting line counts: ``installing 1.0.85 with npm`` of ``…: 82 MB``."""
    before, colon, after = line.rpartition(": ")
    return before if colon and after.endswith(("MB", "%")) else ""


def tidy() -> None:
    """Send again what nobody took; mark as failed what a lost worker left."""
    now = timezone.now()
    for job in Installation.objects.filter(
        state=Installation.State.QUEUED, created_at__lt=now - FORGOTTEN
    ):
        Installation.objects.filter(pk=job.pk).update(created_at=now)
        send(job.pk)
    left = Q(state=Installation.State.INSTALLING, created_at__lt=now - LONGEST)
    Installation.objects.filter(left).update(
        state=Installation.State.FAILED,
        ended_at=now,
        error={"what": "Its worker ended while it installed.", "do": "Install it again."},
    )


def jobs(agent: str = "") -> list[models.Installation]:
    """Newest first; of one agent or of all."""
    found = Installation.objects.order_by("-created_at")
    return list((found.filter(agent=agent) if agent else found)[:20])
