"""What a broken compressed file still gives: all that comes out before it breaks off."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, cast

import zstandard

from runs.transcripts._limits import MIB

GZ, ZST, XZ, BZ = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh"
TROUBLE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    OSError,
    EOFError,
    zlib.error,
    zstandard.ZstdError,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
    UnicodeError,
)
PIECE = 128 << 10
"""Bytes that are asked for at once: of a piece in which it breaks off nothing comes out."""
_SKIPPED = range(0x184D2A50, 0x184D2A60)
_RAW, _RLE = 0, 1


class Broken(Exception):
    """It gives no more; says why."""


def opened(file: IO[bytes], head: bytes) -> IO[bytes]:
    """A compressed file's content, by its first bytes."""
    if head.startswith(GZ):
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if head.startswith(XZ):
        return lzma.LZMAFile(file)
    if head.startswith(BZ):
        return bz2.BZ2File(file)
    return io.BufferedReader(
        zstandard.ZstdDecompressor(max_window_size=128 * MIB).stream_reader(file)
    )


def pieces(source: IO[bytes]) -> Iterator[bytes]:
    """All that comes out; raises Broken where more should. Trouble of our own disk stays ours."""
    read = cast(Any, source).read1
    while True:
        try:
            piece: bytes = read(PIECE)
        except TROUBLE as bad:
            if is_ours(bad):
                raise
            short = isinstance(bad, EOFError) or "unexpected end" in str(bad)
            raise Broken(
                "it breaks off" if short else f"from there on it is damaged: {bad}"
            ) from bad
        if not piece:
            return
        yield piece


def is_ours(bad: BaseException) -> bool:
    """Whether it is a trouble of this machine, not of the file (a place before its beginning)."""
    if not isinstance(bad, OSError) or isinstance(bad, gzip.BadGzipFile):
        return False
    return bad.errno not in (None, 0, errno.EINVAL)


def zstd_is_whole(file: IO[bytes]) -> bool:
    """Whether every frame has its last block: the library ends a cut one without a word."""
    file.seek(0, io.SEEK_END)
    size = file.tell()
    file.seek(0)
    while 0 <= file.tell() < size:
        magic = int.from_bytes(file.read(4), "little")
        if magic in _SKIPPED:
            file.seek(int.from_bytes(file.read(4), "little"), io.SEEK_CUR)
        elif magic != int.from_bytes(ZST, "little") or not _frame(file, size):
            return False
    return file.tell() == size


def _frame(file: IO[bytes], size: int) -> bool:
    """Go over one frame, block by block, without unpacking it."""
    kind = int.from_bytes(file.read(1), "little")
    alone, checked = bool(kind & 0x20), bool(kind & 0x04)
    content = (1 if alone else 0, 2, 4, 8)[kind >> 6]
    file.seek((0 if alone else 1) + (0, 1, 2, 4)[kind & 3] + content, io.SEEK_CUR)
    last = False
    while not last:
        head = file.read(3)
        if len(head) < 3:
            return False
        block = int.from_bytes(head, "little")
        last = bool(block & 1)
        file.seek(1 if block >> 1 & 3 == _RLE else block >> 3, io.SEEK_CUR)
    if checked:
        file.seek(4, io.SEEK_CUR)
    return file.tell() <= size
