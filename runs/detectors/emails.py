"""E-mail addresses, also written in percent signs."""

from __future__ import annotations

import re

from runs.detectors._base import Patterns


class Emails(Patterns):
    """Who somebody is."""

    name = "email"
    title = "E-mail addresses"
    patterns = (
        re.compile(r"[\w.+%'-]{1,64}(?:@|%40)[\w-]{1,63}(?:\.[\w-]{1,63})+", re.UNICODE),
        re.compile(r"\b[\w.+-]{1,64}\s?[\[(]at[\])]\s?[\w-]+(?:\s?[\[(]dot[\])]\s?|\.)\w{2,}"),
    )

    def is_secret(self, value: str) -> bool:
        """``agent@1.0.102`` is a version."""
        return not value.rpartition(".")[2].isdigit()


DETECTOR = Emails()
