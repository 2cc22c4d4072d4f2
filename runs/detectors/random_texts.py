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
_WORD = re.compile(r"(?<=[_-])[a-z]{4,}(?=[_-])")
"""Within an id: chance seldom makes two of them."""
_HEX = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]+")
_ID = re.compile(r"(?P<names>(?:[a-z][a-z0-9]{0,11}[_-]){1,3})(?P<rest>[A-Za-z0-9]+)")
_NAMES = re.compile(
    r"(?:sub)?agent|a?msg|messages?|tool|toolu|call|ses|session|pr?t|parts?|ev(?:en)?t|resp|response|"
    r"re?q|request|turn|conv|conversation|fco?|rs|ws|items?|thread|tasks?|run|runner|job|child|"
    r"retained|native|chat|cmpl|chatcmpl|gen|step|span|trace|batch|file|dir|rollout|sha\d*|md5|hash|"
    r"rev|commit|image|container|build|version|model|user|id|uuid|proc|process|shell|bash|hook|"
    r"rec|entry|node|lane|log|stream|chunk|delta|block|output|result|notice|mail|team|worker"
)
"""What agents name the things that they number; another name before chance is a maker's."""


class RandomTexts(Patterns):
    """Mixed letters and digits, 32 and longer; an agent's ids and UUIDs are none.

    Behind a name that is no agent's, hexadecimal digits are one too (``acme_3f…``).
    """

    name = "random"
    title = "Long random texts"
    patterns = (
        re.compile(rf"(?<![\w/+-])(?P<secret>[A-Za-z0-9+/_-]{{{LEAST_LONG},}}={{0,2}})(?![\w/+-])"),
        re.compile(
            r"(?<![\w+-])(?P<secret>(?:[a-z][a-z0-9]{0,11}[_-]){1,3}[0-9a-f]{32,})(?![\w+-])"
        ),
    )

    def is_secret(self, value: str) -> bool:
        """Upper and lower case with digits, and as many bits as chance gives."""
        value = _UUID.sub("", value)
        if len(value) < LEAST_LONG:
            return False
        if len(_WORD.findall(value)) > 1:
            return False
        named = _ID.fullmatch(value)
        if named and any(map(_NAMES.fullmatch, re.split("[_-]", named["names"]))):
            return False
        if named and len(named["rest"]) >= LEAST_LONG and _HEX.fullmatch(named["rest"]):
            return True
        if max(map(len, value.split("/"))) < 24:  # a path
            return False
        mixed = any(map(str.isupper, value)) and any(map(str.islower, value))
        return mixed and any(map(str.isdigit, value)) and _entropy(value) >= LEAST


def _entropy(value: str) -> float:
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


DETECTOR = RandomTexts()
