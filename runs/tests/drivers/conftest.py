"""A run's context without a run: what a driver is asked to launch from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runs import scenario
from runs.driver import Binary, Context, Driver

MakeContext = Callable[..., Context]


@pytest.fixture
def make_context(tmp_path: Path) -> MakeContext:
    """Makes a context for a driver, its version and its options."""

    def make(driver: Driver, version: str = "", prepared: Path | None = None, **given: Any) -> Any:
        options = driver.read_options(given)
        return Context(
            scenario=scenario.load("sse-cut"),
            options=options,
            base_url="http://127.0.0.1:4321",
            dialect=driver.dialect(options),
            home=tmp_path / "home",
            work=tmp_path / "work",
            temp=tmp_path / "temp",
            logs=tmp_path / "logs",
            binary=Binary(
                agent=driver.name,
                version=version or driver.oldest,
                path=tmp_path / "installed" / "program",
                folder=tmp_path / "installed",
                sha256="0" * 64,
                prepared=prepared,
            ),
            prompt="LIFELINE-ROOT Delegate.",
            model="gpt-5.4",
        )

    return make
