"""Private keys, whole or cut off, with real or escaped line ends."""

from __future__ import annotations

import re

from runs.detectors._base import Patterns


class PrivateKeys(Patterns):
    """PEM blocks and what a cut left of them."""

    name = "private-key"
    title = "Private keys"
    everywhere = False
    patterns = (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)"
        ),
        re.compile(r"[A-Za-z0-9+/=\s\\]{16,}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"),
        re.compile(r"PuTTY-User-Key-File-\d:[\s\S]*"),
        re.compile(r"\bPRIVATE[ _-]KEY\b[^A-Za-z0-9]{0,6}(?P<secret>[A-Za-z0-9+/=]{24,})"),
    )


DETECTOR = PrivateKeys()
