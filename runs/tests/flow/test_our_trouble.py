"""What goes wrong in a file of ours is told with its place, for who has just written it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from runs.errors import HarnessError
from runs.execute import _check_answers


def test_an_answer_that_could_not_be_given_says_where_it_broke() -> None:
    provider: Any = SimpleNamespace(trouble=[])
    try:
        str(cast(Any, 2).delay)
    except AttributeError as error:
        provider.trouble.append(error)
    with pytest.raises(HarnessError, match=r"'delay' \(test_our_trouble\.py:\d+\)") as told:
        _check_answers(provider)
    assert "a fault" in told.value.do
