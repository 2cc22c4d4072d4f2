"""Long texts that look drawn at random: keys of makers that nobody listed."""

from __future__ import annotations

import math
import re
from collections import Counter

from runs.detectors._base import Patterns

LEAST_LONG = 32
LEAST = 4.0
"""Bits a character of which a text is taken for random; hexadecimal has 4 at most."""
_UUID = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d", re.IGNORECASE
)
"""UUIDs, and moments as file names have them."""
_ID = re.compile(r"(?:[a-z]{1,12}[_-]){1,3}[A-Za-z0-9]+")


class RandomTexts(Patterns):
    """Mixed letters and digits, 32 and longer; ids with a short prefix and UUIDs are none."""

    name = "random"
    title = "Long random texts"
    patterns = (
        re.compile(rf"(?<![\w/+-])(?P<secret>[A-Za-z0-9+/_-]{{{LEAST_LONG},}}={{0,2}})(?![\w/+-])"),
    )

    def is_secret(self, value: str) -> bool:
        """Upper and lower case with digits, and as many bits as chance gives."""
        value = _UUID.sub("", value)
        if len(value) < LEAST_LONG or _ID.fullmatch(value):
            return False
        if max(map(len, value.split("/"))) < 24:  # a path
            return False
        mixed = any(map(str.isupper, value)) and any(map(str.islower, value))
        return mixed and any(map(str.isdigit, value)) and _entropy(value) >= LEAST


def _entropy(value: str) -> float:
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


DETECTOR = RandomTexts()
