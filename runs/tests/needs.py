"""What a machine may lack: a test that needs it is skipped with the reason.

With ``LIFELINE_REQUIRE_ALL=1`` it fails, so that no hole is hidden where all has to be there.
"""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def lack(reason: str) -> NoReturn:
    """End the test that runs, in the way of this machine."""
    if os.environ.get("LIFELINE_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def program(*names: str) -> str:
    """The path of the first of these programs that is here."""
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    lack(f"{names[0]} is not on this machine's PATH")
