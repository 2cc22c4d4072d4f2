"""Removes old runs by itself: by age and by size, off unless the operator asks for it.

``LIFELINE_KEEP_DAYS``: a run that ended longer ago goes. ``LIFELINE_KEEP_GIB``: while the
folders of all runs are larger together, the oldest goes. A run that is open, that somebody
marked as kept, or that a live share link shows, stays whatever its age and size are.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet, Sum
from django.utils import timezone

from runs import models, start
from runs.errors import HarnessError

log = logging.getLogger(__name__)
AT_ONCE = 200
"""Runs that one look removes at most; the next look goes on."""


def tidy() -> int:
    """Remove what is too old, then what is too much; gives how many runs went."""
    gone = 0
    if settings.KEEP_DAYS:
        before = timezone.now() - timedelta(days=settings.KEEP_DAYS)
        gone += sum(map(_remove, removable().filter(ended_at__lt=before)[:AT_ONCE]))
    if settings.KEEP_GIB:
        gone += _shrink(int(settings.KEEP_GIB * 2**30), AT_ONCE - gone)
    if gone:
        log.info("Removed %d old runs.", gone)
    return gone


def removable() -> QuerySet[models.Run]:
    """Ended runs that nobody keeps or shares, the oldest first."""
    shared = models.Share.objects.filter(
        run__isnull=False, revoked_at__isnull=True, expires_at__gt=timezone.now()
    )
    return (
        models.Run.objects.exclude(status__in=models.Run.OPEN)
        .filter(keep=False, ended_at__isnull=False)
        .exclude(pk__in=shared.values("run_id"))
        .order_by("ended_at", "pk")
    )


def _shrink(limit: int, most: int) -> int:
    """Remove the oldest until all runs together have at most `limit` bytes on disk."""
    size = models.Run.objects.aggregate(size=Sum("size"))["size"] or 0
    gone = 0
    for run in removable()[: max(0, most)]:
        if size <= limit:
            break
        size -= run.size
        gone += _remove(run)
    return gone


def _remove(run: models.Run) -> int:
    try:
        start.delete(run)
    except HarnessError:  # it was started again meanwhile
        return 0
    return 1
