"""Searching in transcripts: the raw lines of each run's sources, newest run first.

There is no index: the files are read within a budget of time, and the answer says how
far it got and where to go on. Nothing is dropped silently.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import zstandard
from django.db.models import QuerySet

from dashboard.filters import Term
from runs import store, words
from runs.models import Run

BUDGET = 1.5
"""Seconds that one page of a search may read."""
PIECE = 1 << 20


def search(
    runs: QuerySet[Run], terms: Sequence[Term], limit: int
) -> tuple[list[Run], int | None, str]:
    """Up to `limit` of the runs whose transcripts hold all terms.

    Gives them, the id after which the search stopped early (None: it saw every run),
    and how far it got in words.
    """
    started, seen = time.monotonic(), 0
    found: list[Run] = []
    for run in runs.iterator(chunk_size=200):
        seen += 1
        if _matches(run, terms):
            found.append(run)
        if len(found) >= limit:
            return found, None, f"searched {words.plural(seen, 'run')}"
        if time.monotonic() - started > BUDGET:
            return found, run.pk, f"searched {words.plural(seen, 'run')}, there are older ones"
    return found, None, f"searched all {words.plural(seen, 'run')}"


def _matches(run: Run, terms: Iterable[Term]) -> bool:
    return all(holds(run, term.value) != term.negated for term in terms)


def holds(run: Run, needle: str) -> bool:
    """Whether any raw source of the run holds the text, upper and lower case alike."""
    wanted = needle.lower().encode()
    return any(_file_holds(path, wanted) for path in source_files(run))


def source_files(run: Run) -> Iterator[Path]:
    """The plain files of the run's sources; links and special files are left out."""
    base = store.folder(run) / "sources"
    if not base.is_dir():
        return
    for path in sorted(base.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path


def pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a source in pieces, unpacked where it is packed; nothing where it is damaged."""
    with path.open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file) if path.suffix == ".zst" else file
        try:
            while piece := reader.read(PIECE):
                yield piece
        except zstandard.ZstdError:
            return


def _file_holds(path: Path, wanted: bytes) -> bool:
    tail = b""
    for piece in pieces(path):
        window = tail + piece.lower()
        if wanted in window:
            return True
        tail = window[-len(wanted) + 1 :] if len(wanted) > 1 else b""
    return False
