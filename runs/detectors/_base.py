"""What a detector is: it finds one sort of secret in a text.

A detector is one file in ``detectors/`` that ends with ``DETECTOR = …``. It is pure and
sees one text at a time. What it finds once is replaced wherever it stands.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar, NamedTuple


class Found(NamedTuple):
    """A secret in a text: from `start` to `end` (as in a slice)."""

    start: int
    end: int


class Detector(ABC):
    """One sort of secret."""

    name: ClassVar[str]
    """What stands in its place: ``⟨email-1⟩``."""
    title: ClassVar[str]

    @abstractmethod
    def find(self, text: str) -> Iterable[Found]:
        """Every secret of this sort in the text."""


class Patterns(Detector):
    """Regular expressions; the group ``secret``, where there is one, is the secret."""

    patterns: ClassVar[tuple[re.Pattern[str], ...]]

    def find(self, text: str) -> Iterable[Found]:
        """Every match that :meth:`is_secret` agrees to."""
        for pattern in self.patterns:
            named = "secret" in pattern.groupindex
            for match in pattern.finditer(text):
                start, end = match.span("secret") if named else match.span()
                if start < end and self.is_secret(text[start:end]):
                    yield Found(start, end)

    def is_secret(self, value: str) -> bool:
        """Whether a match is one; for what no pattern can say."""
        return True
