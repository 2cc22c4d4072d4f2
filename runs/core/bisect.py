"""Which version came first with it? Halving a list of versions, also for races.

Pure and without memory: :func:`plan` takes what was seen so far and says what to
run next, or the answer. So a bisection can stop and go on at any time. Both ends
are proved first. A step is decided when what was seen there would be rare (p < 0.05)
at one of the two ends and is not at the other; after ten runs without that it cannot
be told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from types import MappingProxyType

SIGNIFICANT = 0.05
MOST = 10
"""Runs of one version before it is called undecidable."""
FAILURES = 3
"""Failed tries of one version, without any that ended, before a bisection gives up there."""

Seen = Sequence[bool | None]
"""What the runs of one version showed, in order; None: that run could not show it."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Run this version so many times more."""

    version: str
    times: int


@dataclass(frozen=True, slots=True)
class Found:
    """It is in `first` and not yet in `last_before`, its neighbour."""

    last_before: str
    first: str


@dataclass(frozen=True, slots=True)
class CannotTell:
    """No answer, and why; the two versions are the closest ones that are known, if any."""

    reason: str
    last_before: str = ""
    first: str = ""


def plan(
    versions: Sequence[str],
    seen: Mapping[str, Seen],
    *,
    repeat: int = 1,
    skipped: frozenset[str] = frozenset(),
    failing: Mapping[str, str] = MappingProxyType({}),
) -> Ask | Found | CannotTell:
    """What comes next.

    `versions` go from the good end (without it) to the bad end (with it), both included,
    in order of publication. `seen` holds the runs so far, `repeat` the fewest runs of a
    version, `skipped` versions that cannot run, `failing` versions that could not be tried for
    reasons that are not theirs, with the reason: at the first of them it ends.
    """
    if len(versions) < 2:
        return CannotTell("There are not two versions between which to look.")
    good, bad = versions[0], versions[-1]
    for end in (good, bad):
        if end in skipped:
            return CannotTell(f"{end} cannot run, and the ends must be proved.")
        if end in failing:
            return CannotTell(f"{end} could not be tried: {failing[end]}")
        known = [one for one in seen.get(end, ()) if one is not None]
        if len(known) < max(repeat, 3):
            if len(seen.get(end, ())) >= MOST:
                return CannotTell(f"{end} gave no answer in {MOST} runs.")
            return Ask(end, max(repeat, 3) - len(known))
    low, high = rate(seen[good]), rate(seen[bad])
    if not ends_differ(seen[good], seen[bad]):
        return CannotTell(
            f"The ends do not differ: {words(seen[good])} in {good}, {words(seen[bad])} in {bad}."
        )
    return _halve(versions, seen, repeat, skipped, failing, low, high)


def _halve(
    versions: Sequence[str],
    seen: Mapping[str, Seen],
    repeat: int,
    skipped: frozenset[str],
    failing: Mapping[str, str],
    low: float,
    high: float,
) -> Ask | Found | CannotTell:
    without, with_it = 0, len(versions) - 1
    unclear: list[str] = []
    while True:
        between = [
            place
            for place in range(without + 1, with_it)
            if versions[place] not in skipped and versions[place] not in unclear
        ]
        if not between:
            return _answer(versions, seen, without, with_it, skipped)
        middle = (without + with_it) / 2
        place = min(between, key=lambda one: (abs(one - middle), one))
        version = versions[place]
        if version in failing:
            why = f"{version} could not be tried: {failing[version]}"
            return CannotTell(why, versions[without], versions[with_it])
        runs = seen.get(version, ())
        known = [one for one in runs if one is not None]
        verdict = decide(known, low, high) if len(known) >= repeat else None
        if verdict is None and len(runs) < MOST:
            return Ask(version, max(1, repeat - len(known)))
        if verdict is None:
            unclear.append(version)
        elif verdict:
            with_it = place
        else:
            without = place


def _answer(
    versions: Sequence[str],
    seen: Mapping[str, Seen],
    without: int,
    with_it: int,
    skipped: frozenset[str],
) -> Found | CannotTell:
    before, first = versions[without], versions[with_it]
    if with_it - without == 1:
        return Found(before, first)
    parts = [
        f"{name} {'could not run' if name in skipped else _unclear(seen.get(name, ()))}"
        for name in versions[without + 1 : with_it]
    ]
    return CannotTell(f"Between {before} and {first}: {', '.join(parts)}.", before, first)


def _unclear(runs: Seen) -> str:
    known = [one for one in runs if one is not None]
    return (
        f"showed it now and then ({words(runs)})"
        if known
        else f"gave no answer in {len(runs)} runs"
    )


def decide(known: Sequence[bool | None], low: float, high: float) -> bool | None:
    """Whether these runs are those of the bad end; None while neither is excluded."""
    n, hits = len(known), sum(one is True for one in known)
    if n == 0:
        return None
    as_good = at_least(hits, n, low)
    as_bad = 1 - at_least(hits + 1, n, high)
    if as_good < SIGNIFICANT <= as_bad:
        return True
    if as_bad < SIGNIFICANT <= as_good:
        return False
    return None


def ends_differ(good: Seen, bad: Seen) -> bool:
    """Whether it is clearly more frequent at the bad end."""
    low, high = rate(good), rate(bad)
    return high > low and decide([one for one in bad if one is not None], low, high) is True


def rate(runs: Seen) -> float:
    """How often it is seen, never quite 0 or 1 after few runs (Jeffreys' half)."""
    known = [one for one in runs if one is not None]
    return (sum(one is True for one in known) + 0.5) / (len(known) + 1)


def at_least(hits: int, n: int, chance: float) -> float:
    """The probability of at least `hits` in `n` independent runs."""
    return sum(comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(hits, n + 1))


def words(runs: Seen) -> str:
    """``2 of 3`` for what a version showed; ``no answer`` when no run could say."""
    known = [one for one in runs if one is not None]
    if runs and not known:
        return "no answer"
    return f"{sum(one is True for one in known)} of {len(known)}"
