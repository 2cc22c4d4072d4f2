"""What an event says: the same here and in the browser (`live/words.test.js` reads these cases)."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.tests.sayings import CASES
from runs import sayings
from runs.core.events import Kind


@pytest.mark.parametrize(("kind", "data", "says", "tone"), CASES)
def test_it_says_what_happened(kind: str, data: dict[str, Any], says: str, tone: str) -> None:
    assert (sayings.sentence(kind, data), sayings.tone(kind, data)) == (says, tone)


def test_it_speaks_of_kinds_that_there_are() -> None:
    known = {kind.value for kind in Kind}
    assert known >= set(sayings.SAYS) and known >= set(sayings.LOUD)
