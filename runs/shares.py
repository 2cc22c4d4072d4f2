"""Share links: a redacted copy of one run under an address of its own.

The copy is made when the link is, so that what is served is what the preview showed. It
lies under ``var/shares``; a link that was revoked or has expired loses it.
"""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from runs import export, material, models, repeat
from runs.errors import HarnessError
from runs.redact import Choice

FORMATS = ("html", "archive")
LONGEST = 365
"""Days that a link lives at most."""


def folder() -> Path:
    """Where the copies lie."""
    return Path(settings.VAR) / "shares"


def path_of(share: models.Share, name: str) -> Path:
    """One copy of a share."""
    return folder() / f"{share.pk}.{export.named(name).suffix}"


def create(run: models.Run, choice: Choice, days: int) -> models.Share:
    """Make a link and its copies; RedactionFailed or HarnessError, and then there is none."""
    if choice.whole:
        raise HarnessError("A share link never serves everything.", "Choose what is replaced.")
    if run.is_open:
        raise HarnessError("The run still goes on.", "Share it when it has ended.")
    if not 1 <= days <= LONGEST:
        raise HarnessError(f"A link lives 1 to {LONGEST} days.")
    made = material.of(run, choice, command=repeat.command(run), unlinked=True)
    share = models.Share.objects.create(
        run=run,
        title=f"{run.agent} {run.version} · {run.scenario or 'import'}",
        level=choice.level,
        choices={"texts": choice.texts, "detectors": list(choice.names)},
        expires_at=timezone.now() + timedelta(days=days),
    )
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in FORMATS:
            with export.render(export.named(name), made) as found:
                descriptor = os.open(path_of(share, name), os.O_CREAT | os.O_WRONLY, 0o600)
                with os.fdopen(descriptor, "wb") as out:
                    shutil.copyfileobj(found, out)
    except BaseException:
        forget(share)
        share.delete()
        raise
    return share


def revoke(share: models.Share) -> None:
    """The address answers 410 from now on, and its copies are gone."""
    models.Share.objects.filter(pk=share.pk, revoked_at__isnull=True).update(
        revoked_at=timezone.now()
    )
    forget(share)


def forget(share: models.Share) -> None:
    """Remove the copies."""
    for name in FORMATS:
        path_of(share, name).unlink(missing_ok=True)
