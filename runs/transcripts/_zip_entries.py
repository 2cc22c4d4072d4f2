"""The entries of a zip that lacks its table of contents, one after another as they stand.

A zip's table stands behind all entries: of a download that broke off it is what lacks first.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

ENTRY, TABLE, DESCRIPTOR = b"PK\x03\x04", b"PK\x01\x02", b"PK\x07\x08"
_HEAD = struct.Struct("<4s5H3I2H")
_STORED, _DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
_ENCRYPTED, _SIZE_BEHIND, _UTF8 = 0x1, 0x8, 0x800
_LARGE, _LARGE_SIZES = 0xFFFFFFFF, 1
_PIECE = 64 << 10


class Entry:
    """One entry: its name, and its content by `read1`, which raises where that breaks off."""

    def __init__(self, file: IO[bytes]) -> None:
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise EOFError
        _, _, flags, self._method, _, _, self._crc, packed, size, name, more = _HEAD.unpack(head)
        words = file.read(name)
        extra = file.read(more)
        if len(words) < name or len(extra) < more:
            raise EOFError
        if not words.strip(b"/\0"):
            raise zipfile.BadZipFile("an entry has no name")
        self.name = words.decode("utf-8" if flags & _UTF8 else "cp437")
        self.encrypted = bool(flags & _ENCRYPTED)
        self._size_behind = bool(flags & _SIZE_BEHIND)
        self._large, packed = _sizes(extra, packed, size)
        self._file, self._begin, self._sum = file, file.tell(), 0
        self._left: int | None = None if self._size_behind else packed
        self._end: int | None = None if self._size_behind else self._begin + packed
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        self._over = False

    def read1(self, most: int) -> bytes:
        """The next bytes of its content, at most so many; none at its end."""
        if self._method not in (_STORED, _DEFLATED):
            raise zipfile.BadZipFile(f"it is packed by method {self._method}")
        if self._method == _STORED and self._left is None:
            raise zipfile.BadZipFile("its size stands in the table that lacks")
        piece = b""
        while not piece and not self._over:
            piece = self._stored(most) if self._method == _STORED else self._inflated(most)
        self._sum = zlib.crc32(piece, self._sum)
        if self._over and not piece and self._sum != self._crc:
            raise zipfile.BadZipFile("its checksum is another one")
        return piece

    def _stored(self, most: int) -> bytes:
        piece = self._packed(most)
        self._over = self._left == 0
        return piece

    def _inflated(self, most: int) -> bytes:
        packed = self._inflate.unconsumed_tail or self._packed(_PIECE)
        piece = self._inflate.decompress(packed, most)
        if self._inflate.eof:
            self._over = True
            if self._size_behind:
                self._behind(len(self._inflate.unused_data))
        return piece

    def _packed(self, most: int) -> bytes:
        """The next bytes as they stand in the file; raises EOFError where there are none."""
        found = self._file.read(most if self._left is None else min(most, self._left))
        if not found and self._left != 0:
            raise EOFError
        if not found and self._method == _DEFLATED:
            raise zipfile.BadZipFile("it is not whole")
        if self._left is not None:
            self._left -= len(found)
        return found

    def _behind(self, unused: int) -> None:
        """Read what is said behind the content: its sum, and so where the next entry begins."""
        self._file.seek(-unused, io.SEEK_CUR)
        said = self._file.read(4)
        if said == DESCRIPTOR:
            said = self._file.read(4)
        if len(said) < 4:
            raise EOFError
        self._crc = int.from_bytes(said, "little")
        self._end = self._file.tell() + (16 if self._large else 8)

    def skip(self) -> bool:
        """Go to where the next one begins; False where that is not known."""
        if self._end is None and self.name.endswith("/"):
            self.read1(_PIECE)  # a folder may have an end of its own to read
        if self._end is None:
            return False
        self._file.seek(self._end)
        return True


def entries(file: IO[bytes]) -> Iterator[Entry]:
    """Each entry, to be read or left before the next is asked for.

    Raises EOFError where the file ends before its table begins, and BadZipFile where something
    else stands there or the next entry's place is not known.
    """
    while True:
        mark = file.read(4)
        if mark == TABLE:
            return
        if len(mark) < 4:
            raise EOFError
        if mark != ENTRY:
            raise zipfile.BadZipFile("there is no entry where one should begin")
        file.seek(-4, io.SEEK_CUR)
        entry = Entry(file)
        yield entry
        if not entry.skip():
            raise zipfile.BadZipFile("where its next file begins is not known")


def _sizes(extra: bytes, packed: int, size: int) -> tuple[bool, int]:
    """Whether its sizes are large ones, and its packed size."""
    large = False
    while len(extra) >= 4:
        kind, length = struct.unpack("<2H", extra[:4])
        body, extra = extra[4 : 4 + length], extra[4 + length :]
        if kind == _LARGE_SIZES:
            large = True
            place = 8 if size == _LARGE else 0
            if packed == _LARGE and len(body) >= place + 8:
                packed = int.from_bytes(body[place : place + 8], "little")
    return large, packed
