"""Watch a cell: a new version appears, is installed and run by itself, and a change is told.

Off by default: a watch does nothing before somebody turns it on. Every step is small and
can be repeated: look for a new version, run it, and when its runs have ended compare its
cell with that of the version before.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from datetime import timedelta
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.parse import urlsplit

from celery import shared_task
from django.db.models import F, Q
from django.utils import timezone

from runs import binaries, catalogue, grid, notify, saved, start
from runs.core import matrix
from runs.errors import HarnessError
from runs.models import News, Run, Watch
from runs.versions import is_prerelease, key

ASK_EVERY = timedelta(hours=1)
"""How often the list of published versions is asked for."""
TRIES = 5
"""How often a new version is tried whose runs fail for reasons that are not its own."""
FAILED = (Run.Status.ERRORED, Run.Status.LOST)
TIMEOUT = 5.0
"""Seconds that a webhook may take."""


def check_webhook(address: str) -> str:
    """The address, if it may be one; HarnessError in words. Empty: none."""
    address = address.strip()
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        named = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        named, parts = False, urlsplit("")
    if not named or parts.scheme not in ("http", "https") or not address.isprintable():
        raise HarnessError("A webhook is an address with http:// or https://.")
    if parts.username is not None or parts.password is not None:
        raise HarnessError("A webhook's address must not hold a name or password.")
    return address


def create(agent: str, scenario: str, *, repeat: int = 3, webhook: str = "") -> Watch:
    """A watch, off, that knows the newest version of now; HarnessError in words."""
    catalogue.driver(agent)
    if scenario not in saved.known():
        raise HarnessError(f"There is no scenario {scenario!r}.", "See /scenarios/.")
    fields = {"repeat": repeat, "webhook": check_webhook(webhook)}
    watch, _ = Watch.objects.update_or_create(agent=agent, scenario=scenario, defaults=fields)
    return watch


def turn(watch: Watch, on: bool) -> None:
    """On or off; turned on it begins with the newest version that is known now."""
    fields: dict[str, Any] = {"on": on, "said": "on" if on else "off", "asked_at": None}
    if on and not watch.version:
        fields["version"] = _newest(watch.agent, refresh=False)
    Watch.objects.filter(pk=watch.pk).update(**fields)
    watch.refresh_from_db()


def _newest(agent: str, refresh: bool | None) -> str:
    known = [item.version for item in binaries.versions(agent, refresh=refresh) if item.here]
    releases = [version for version in known if not is_prerelease(version)]
    return max(releases or known, key=key, default="")


@shared_task(name="runs.watch", ignore_result=True)
def tick() -> None:
    """Upkeep: settle what ran, and send the looking for new versions to the workers."""
    for watch in Watch.objects.filter(on=True).exclude(pending=""):
        settle(watch)
    due = Q(asked_at__isnull=True) | Q(asked_at__lt=timezone.now() - ASK_EVERY)
    for pk in Watch.objects.filter(due, on=True, pending="").values_list("pk", flat=True):
        try:
            look.apply_async((pk,), queue="runs", retry=False)
        except Exception:  # the broker is away; the next tick tries again
            pass


@shared_task(name="runs.watch_look", ignore_result=True)
def look(pk: int) -> None:
    """Ask for the published versions, and run the newest where it is new."""
    due = Q(asked_at__isnull=True) | Q(asked_at__lt=timezone.now() - ASK_EVERY)
    now = timezone.now()
    if not Watch.objects.filter(due, pk=pk, on=True, pending="").update(asked_at=now):
        return
    watch = Watch.objects.get(pk=pk)
    try:
        newest = _newest(watch.agent, refresh=True)
        new = bool(newest) and (not watch.version or key(newest) > key(watch.version))
        said = f"{newest} is the newest" if newest else "no version is known"
        if new:
            start.create(watch.agent, newest, watch.scenario, repeat=watch.repeat)
            said = f"{newest} appeared: {watch.repeat} runs of it are under way"
        Watch.objects.filter(pk=pk).update(pending=newest if new else "", said=said[:300])
    except HarnessError as error:
        Watch.objects.filter(pk=pk).update(said=f"could not look: {error}"[:300])


def settle(watch: Watch) -> News | None:
    """When all runs of the new version have ended: compare, tell, go on watching."""
    mine = {"agent": watch.agent, "version": watch.pending, "scenario": watch.scenario}
    if Run.objects.filter(**mine, status__in=Run.OPEN).exists():
        return None
    if _failed(watch):
        return None
    spoken = _cells(watch)
    after = spoken.get(watch.pending)
    older = [version for version in spoken if key(version) < key(watch.pending)]
    last = max(older, key=key, default="")
    news = None
    if after is None:
        said = f"{watch.pending} ran without a verdict"
    elif not last:
        said = f"{watch.pending} ran; no version before it has a verdict"
    elif not changed(before := spoken[last], after):
        said = f"{watch.pending} ran; the verdict is that of {last}"
    else:
        words = matrix.change(before, after)
        said = f"{watch.pending} changed: {words}"
        news = News.objects.create(watch=watch, before=last, after=watch.pending, words=words)
    Watch.objects.filter(pk=watch.pk).update(pending="", version=watch.pending, said=said[:300])
    if news and watch.webhook:
        News.objects.filter(pk=news.pk).update(sent=send(watch.webhook, payload(watch, news)))
        news.refresh_from_db()
    watch.refresh_from_db()
    notify.poke_runs()
    return news


def _failed(watch: Watch) -> bool:
    """Whether the new version could not be tried; then it stays new, and is tried again."""
    runs = Run.objects.filter(agent=watch.agent, version=watch.pending, scenario=watch.scenario)
    failed = list(runs.filter(status__in=FAILED).order_by("-pk"))
    own = any(run.error.get("of") == "version" for run in failed)
    if not failed or own or len(failed) >= TRIES * watch.repeat or runs.count() > len(failed):
        return False
    what = str(failed[0].error.get("what") or failed[0].status)
    said = f"{watch.pending} could not be tried: {what}"
    Watch.objects.filter(pk=watch.pk).update(pending="", said=said[:300])
    return True


def changed(before: matrix.Cell, after: matrix.Cell) -> bool:
    """Whether the verdict differs: the usual diagnosis, or which laws are broken."""
    same = matrix.most(matrix.spoken(before)) == matrix.most(matrix.spoken(after))
    return not same or set(before["broken"]) != set(after["broken"])


def _cells(watch: Watch) -> dict[str, matrix.Cell]:
    """By version: the cells of what is watched that have a verdict."""
    stored = grid.stored([watch.agent], scenarios=[watch.scenario])
    return {version: cell for (_, version, _), cell in stored.items() if cell["valid"]}


def payload(watch: Watch, news: News) -> dict[str, Any]:
    """What a webhook gets."""
    return {
        "what": "lifeline.verdict-changed",
        "agent": watch.agent,
        "scenario": watch.scenario,
        "before": news.before,
        "after": news.after,
        "change": news.words,
        "at": news.at.isoformat(),
    }


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect could lead anywhere; it counts as a refusal."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """Follow nothing."""
        return


def send(address: str, body: dict[str, Any]) -> str:
    """POST the JSON; gives what came of it in words and never raises for a network's reason."""
    request = urllib.request.Request(
        check_webhook(address),
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "lifeline"},
        method="POST",
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)
    try:
        with opener.open(request, timeout=TIMEOUT) as answer:
            return f"sent, {answer.status}"
    except urllib.error.HTTPError as error:
        error.close()
        return f"refused, {error.code}"
    except (OSError, HTTPException, ValueError) as error:
        return f"not sent: {type(error).__name__}"


def unseen() -> list[News]:
    """The changes that the first page shows, newest first."""
    return list(News.objects.filter(seen=False).select_related("watch").order_by("-pk")[:5])


def all_watches() -> list[Watch]:
    """Every watch with its last changes."""
    return list(Watch.objects.order_by(F("on").desc(), "agent", "scenario"))
