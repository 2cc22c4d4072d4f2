"""Imports: what people attach becomes a run, with the same pages as one that was executed.

    receive (names checked, bytes to disk) → queued run → read: take → join → store → judge

The job is a run of kind ``import`` in the same queue as all others, so that progress,
cancelling and lost workers need nothing of their own. Raw files stay under ``sources/``
by the names that evidence uses. What lies in the files is never trusted.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runs import alive, archives, catalogue, models, start, store, verdict
from runs.errors import HarnessError
from runs.imported import rows_of, write
from runs.transcript import Attached, Case, Limits, Unreadable, case_of, read_files
from runs.transcripts._clocks import epoch
from runs.transcripts._intake import gather
from runs.watch import Watch

LIMITS = Limits()
PIECE = 1 << 20
AT_ONCE = 4 << 20
"""Bytes up to which an import is read in the request that brings it."""
ROWS_KEPT = 500
"""Files and damaged lines that the run's row lists; the events hold all."""
FIELDS = (
    *("agent", "version", "reported_version", "sha256", "scenario", "snapshot", "options"),
    *("summary", "runtime", "sealed", "notes", "event_count"),
)
"""What an import says of itself; status and heartbeat are not its business, and its times are
those of the reading until it is over."""
UPLOAD, UNPACKING = "upload", "unpacking"


def safe_name(name: str) -> PurePosixPath:
    """A relative path that stays where it is put; Unreadable for any other."""
    pure = PurePosixPath(name.replace("\\", "/").removeprefix("./"))
    parts = pure.parts
    if (
        not parts
        or pure.is_absolute()
        or ".." in parts
        or ":" in parts[0]
        or any(ord(letter) < 32 for letter in name)
        or len(parts) > LIMITS.depth
        or any(len(part.encode("utf-8", "replace")) > 200 for part in parts)
        or len(name) > 390
    ):
        raise Unreadable(f"{name[:80]!r} is no name for a file.", "Give it a plain relative name.")
    return pure


def receive(files: Iterable[tuple[str, Iterator[bytes]]]) -> tuple[models.Run, int]:
    """Put uploaded files on disk and make their run (not queued yet); gives it and the bytes.

    Raises Unreadable for a hostile name, no file at all, or too much; nothing stays then.
    """
    permalink = models.new_permalink()
    base = Path(settings.VAR) / "runs" / permalink
    total = count = 0
    try:
        for name, chunks in files:
            target = base / UPLOAD / safe_name(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as out:
                for chunk in chunks:
                    total += len(chunk)
                    if total > LIMITS.total:
                        raise too_large()
                    out.write(chunk)
            count += 1
            if count > LIMITS.files:
                raise too_many()
        if not total:
            raise Unreadable("There is nothing in it.", "Drop files, or paste the text of a log.")
    except FileExistsError as exists:
        shutil.rmtree(base, ignore_errors=True)
        raise twice(Path(str(exists.filename)).name) from None
    except BaseException:
        shutil.rmtree(base, ignore_errors=True)
        raise
    return row(permalink), total


def too_large() -> Unreadable:
    """All files together pass the limit."""
    return Unreadable(
        f"All files together are over {LIMITS.total >> 20} MiB.", "Attach the logs alone."
    )


def too_many() -> Unreadable:
    """There are more files than the limit."""
    return Unreadable(f"More than {LIMITS.files} files.", "Attach the logs alone.")


def twice(name: str) -> Unreadable:
    """Two files have one name."""
    return Unreadable(f"{name!r} is there twice.", "Give the files different names.")


def row(permalink: str, **summary: Any) -> models.Run:
    """The row of an import that is to be read; `summary` says what it is read from."""
    return models.Run.objects.create(
        permalink=permalink,
        kind=models.Run.Kind.IMPORT,
        agent="unknown",
        version="",
        summary=summary,
    )


def begin(run: models.Run, size: int) -> models.Run:
    """Read a small import here and now, queue a large one.

    A small one that cannot be read raises and leaves nothing behind.
    """
    if size > AT_ONCE and start.workers():
        transaction.on_commit(lambda: start.send(run.pk))
        return run
    return _now(run)


def store_paths(
    paths: Iterable[str | Path],
    *,
    complete: bool | None = None,
    thresholds: Mapping[str, float] | None = None,
) -> models.Run:
    """`judge --store`: a run made of these files, folders or archives, read at once.

    `thresholds` are those that differ from the defaults: today's and any later judgement uses them.
    """
    run = row(models.new_permalink(), given=[str(Path(path).absolute()) for path in paths])
    if complete is not None:
        run.summary["complete"] = complete
    if thresholds:
        run.snapshot = {"thresholds": dict(thresholds)}
    run.save(update_fields=["summary", "snapshot"])
    return _now(run)


class Here:
    """Stands for the watch where the import is read by who asked for it: beats as it is told."""

    cancelled = False

    def __init__(self, run: models.Run) -> None:
        self._run = run
        self._beaten = time.monotonic()

    def phase(self, words: str) -> None:
        """Keep the row fresh, so that nobody takes the import for lost."""
        if time.monotonic() - self._beaten > 5:
            self._beaten = time.monotonic()
            rows = models.Run.objects.filter(pk=self._run.pk)
            rows.update(phase=words[:200], heartbeat_at=timezone.now())


def _now(run: models.Run) -> models.Run:
    """Read and judge it here; what cannot be read leaves nothing behind."""
    claimed = start.claim(run.pk, worker="import")
    if claimed is None:
        return run
    with alive.held(claimed.pk):
        try:
            read(claimed, Here(claimed))
        except BaseException:
            verdict.close(claimed, models.Run.Status.ERRORED, {})
            claimed.refresh_from_db()
            start.delete(claimed)
            raise
        verdict.close(claimed, models.Run.Status.ENDED, {})
    claimed.refresh_from_db()
    return claimed


def read(run: models.Run, watch: Watch | Here) -> None:
    """The job: from the attached files to stored events; judging is the caller's next step."""
    base = store.folder(run)
    upload = base / UPLOAD
    given = [Path(path) for path in run.summary.get("given", [])]
    paths = given or (sorted(upload.iterdir()) if upload.is_dir() else [])
    watch.phase("unpacking")
    base.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=base, prefix=UNPACKING) as unpacked:
            intake = gather(paths, Path(unpacked), LIMITS)
            found = archives.recognise(intake.files)
            attached = _keep(base, intake.files, move=not given, archive=found)
    finally:
        shutil.rmtree(upload, ignore_errors=True)
    models.Event.objects.filter(run=run).delete()
    if found is not None:
        watch.phase("reading an archive of Lifeline")
        archives.restore(run, base)
        run.save(update_fields=FIELDS)
        return
    case, zero = _case(run, attached, watch, intake.left_out)
    watch.phase(f"storing {len(case.events)} events")
    write(run, rows_of(run.pk, case.events))
    run.summary = {**_without_given(run), "intake": about(case)}
    _name(run, case, zero)
    run.save(update_fields=FIELDS)
    watch.phase(f"judging {len(case.events)} events")


def _without_given(run: models.Run) -> dict[str, Any]:
    return {key: value for key, value in run.summary.items() if key != "given"}


def _case(
    run: models.Run, attached: list[Attached], watch: Watch | Here, left_out: list[tuple[str, str]]
) -> tuple[Case, float | None]:
    def progress(name: str, done: int, size: int) -> None:
        if watch.cancelled:
            raise HarnessError("The import was cancelled.")
        watch.phase(f"reading {name[-80:]}, {done * 100 // max(size, 1)} %")

    files = read_files(attached, limits=LIMITS, progress=progress)
    watch.phase("joining the files")
    zero = epoch(files)
    case = case_of(files, complete=run.summary.get("complete"), left_out=left_out)
    return case, zero


def _keep(
    base: Path, files: list[Attached], *, move: bool, archive: archives.Manifest | None
) -> list[Attached]:
    """Lay the raw files under ``sources/`` by their names in evidence."""
    kept = []
    for number, file in enumerate(files):
        if archive is not None:
            relative = archives.place(file.name)
        else:
            relative = PurePosixPath("sources") / PurePosixPath(file.name)
        target = base / relative
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            target = base / "sources" / f"+{number}" / target.name
            target.parent.mkdir(parents=True)
        if move or base in file.path.parents:
            shutil.move(file.path, target)
        else:
            shutil.copyfile(file.path, target)
        target.chmod(0o600)
        kept.append(replace(file, path=target))
    return kept


def about(case: Case) -> dict[str, Any]:
    """What the import page says of a case; kept in the run's summary."""
    return {
        "formats": case.formats[:ROWS_KEPT],
        "files": len(case.formats),
        "damage": case.damage[:ROWS_KEPT],
        "damaged": sum(row["damage"] for row in case.formats),
        "missing": case.missing,
        "left_out": [list(pair) for pair in case.left_out[:ROWS_KEPT]],
        "facts": {key: str(value)[:300] for key, value in case.facts.items()},
        "folded": sum(row.get("folded", 0) for row in case.formats),
    }


def _name(run: models.Run, case: Case, zero: float | None) -> None:
    """What the row says it is: agent and version as the files say, their time where they have."""
    agent = str(case.facts.get("agent") or "")
    version = str(case.facts.get("version") or "")
    run.agent = agent if agent in catalogue.drivers() else (agent[:32] or "unknown")
    run.version = version if start.VERSION.fullmatch(version) else ""
    run.reported_version = run.version
    if zero is not None:
        run.started_at = datetime.fromtimestamp(zero, UTC)
        run.ended_at = run.started_at + timedelta(seconds=max(0.0, case.history.end))
