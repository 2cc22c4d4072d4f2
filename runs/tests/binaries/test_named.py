"""Which versions a text names."""

from __future__ import annotations

import pytest

from runs import binaries, named
from runs.errors import UnknownName
from runs.tests.binaries.registry import Registry
from runs.tests.binaries.shelved import put
from runs.tests.binaries.toy import Toy


def test_it_expands_ranges_over_what_is_published(toy: Toy, registry: Registry) -> None:
    assert named.expand("toy", "1.0.9..1.0.10,1.1.0") == ["1.0.9", "1.0.10", "1.1.0"]


def test_latest_is_published_and_nothing_is_what_is_installed(toy: Toy, registry: Registry) -> None:
    put("1.0.9")
    assert named.resolve("toy", "") == "1.0.9"
    assert named.resolve("toy", "latest") == binaries.latest("toy") != "1.0.9"
    assert named.resolve("toy", "1.0.9") == "1.0.9"


def test_latest_may_end_a_range_or_stand_alone(toy: Toy, registry: Registry) -> None:
    last = binaries.latest("toy")
    assert named.expand("toy", "latest") == [last]
    assert named.expand("toy", "1.0.9, 1.0.10..latest") == named.expand(
        "toy", f"1.0.9,1.0.10..{last}"
    )


def test_it_reads_agents_versions_and_ranges() -> None:
    found = named.binaries_of("reference@0.4.0..0.5.0,1.0.0")
    assert found == [("reference", v) for v in ("0.4.0", "0.4.1", "0.5.0", "1.0.0")]
    assert named.binaries_of("reference") == [("reference", "1.1.0")]
    with pytest.raises(UnknownName):
        named.binaries_of("1.0.0")
