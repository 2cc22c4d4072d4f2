"""Binaries of agents: what is published, what is installed, installing, registering, removing.

``ensure`` is what a run calls: it gives a :class:`Binary`, installing and preparing it
first where that has not been done. Needs neither Django nor a database. One process at
a time works on a version; whoever asks meanwhile joins it and hears its progress.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runs import catalogue, install, registered, shelf
from runs.driver import Binary, Driver, Say
from runs.errors import CannotRunHere, HarnessError, UnknownName, UnknownVersion
from runs.packages import Published
from runs.scenario import nearest
from runs.shelf import Slot
from runs.versions import is_prerelease, key, ordered, plain

FRESH = 6 * 3600.0
"""Seconds for which a list of versions is used without asking again."""
JUST_USED = 120.0
"""Seconds after its last use in which a version is not removed to make room."""


def _never() -> bool:
    return False


def _quiet(line: str) -> None:
    """Says nothing."""


# What is published


def versions(agent: str, *, refresh: bool | None = None) -> list[Published]:
    """The versions that can be driven, oldest first, from the package's own list.

    `refresh`: True asks the registry now, False never, None when the kept list is old.
    Without a network it gives what was kept; HarnessError only when there is nothing.
    """
    driver = catalogue.driver(agent)
    if driver.package.registry == "builtin":
        return [Published(version, date) for version, date in driver.published()]
    kept = shelf.read_json(shelf.root() / agent / "versions.json")
    age = time.time() - float(kept.get("at", 0))
    absent = set(kept.get("elsewhere", []))
    found = [
        Published(str(version), str(date), here=version not in absent)
        for version, date in kept.get("versions", [])
    ]
    if refresh or (refresh is None and age > FRESH):
        try:
            found = install.fetch_versions(driver.package, _quiet)
        except HarnessError:
            if not found and not shelf.slots(agent):
                raise
        else:
            _keep_list(agent, found)
    known = {item.version for item in found}
    here = [slot.version for slot in shelf.slots(agent) if plain(slot.version) == slot.version]
    found += [Published(version) for version in here if version not in known]
    found = [item for item in found if _drivable(driver, item.version)]
    return sorted(found, key=lambda item: key(item.version))


def _keep_list(agent: str, found: list[Published]) -> None:
    with contextlib.suppress(OSError):
        shelf.write_json(
            shelf.root() / agent / "versions.json",
            {
                "at": time.time(),
                "versions": [[item.version, item.date] for item in found],
                "elsewhere": [item.version for item in found if not item.here],
            },
        )


def _drivable(driver: Driver, version: str) -> bool:
    return key(version) >= key(driver.oldest)


def newest(agent: str) -> str:
    """The newest installed version that can start, else the newest published one."""
    driver = catalogue.driver(agent)
    if driver.package.registry == "builtin":
        here = [item.version for item in versions(agent) if driver.can_start(item.version)]
    else:
        here = [slot.version for slot in shelf.slots(agent) if _starts(slot)]
        here = [version for version in here if plain(version) == version]
    return _newest_of(driver, here) or latest(agent)


def latest(agent: str) -> str:
    """The newest release that is published for this platform, whatever is installed."""
    published = [item.version for item in versions(agent) if item.here]
    if chosen := _newest_of(catalogue.driver(agent), published):
        return chosen
    raise CannotRunHere(
        f"No version of {agent} is installed or known.", f"See `binaries list {agent}`."
    )


def _newest_of(driver: Driver, candidates: list[str]) -> str:
    drivable = [version for version in candidates if _drivable(driver, version)]
    releases = [version for version in drivable if not is_prerelease(version)]
    return ordered(releases or drivable)[-1] if drivable else ""


def _starts(slot: Slot) -> bool:
    return slot.manifest().get("starts") is not False


# What is installed


@dataclass(frozen=True, slots=True)
class Installed:
    """One version on this machine's disk. Sizes in bytes, times in epoch seconds (0: never)."""

    agent: str
    version: str
    path: str
    size: int
    sha256: str
    installed_at: float
    used_at: float
    in_use: bool
    pinned: bool
    registered: bool
    starts: bool


def installed(agent: str = "") -> list[Installed]:
    """What is installed or registered, of one agent or of all, oldest version first."""
    names = [agent] if agent else sorted({*shelf.agents(), *registered.agents()})
    found = []
    for name in names:
        slots = {slot.version: slot for slot in shelf.slots(name)}
        slots |= {label: Slot(name, label) for label in registered.of(name)}
        for version in ordered(slots):
            found.append(_installed(slots[version]))
    return found


def _installed(slot: Slot) -> Installed:
    facts = slot.manifest()
    named = registered.of(slot.agent).get(slot.version)
    return Installed(
        agent=slot.agent,
        version=slot.version,
        path=named or str(slot.folder / str(facts.get("executable", ""))),
        size=int(facts.get("size", 0)),
        sha256=str(facts.get("sha256", "")),
        installed_at=float(facts.get("at", 0)),
        used_at=slot.used_at(),
        in_use=slot.in_use(),
        pinned=slot.pinned,
        registered=named is not None,
        starts=_starts(slot),
    )


@contextlib.contextmanager
def hold(binary: Binary) -> Iterator[None]:
    """While a run uses it: nothing removes it, in this process or another."""
    builtin = catalogue.driver(binary.agent).package.registry == "builtin"
    if builtin and not binary.registered:
        yield
        return
    with Slot(binary.agent, binary.version).hold():
        yield


def remove(agent: str, version: str) -> int:
    """Remove an installation, or forget a registered executable (which stays where it is).

    Gives the bytes freed. UnknownName when it is not installed; HarnessError while in use.
    """
    slot = Slot(agent, version)
    forgotten = registered.forget(agent, version)
    if not forgotten and not slot.manifest():
        known = [item.version for item in installed(agent)]
        raise UnknownName(f"{agent}@{version} is not installed.", nearest(version, known))
    return slot.remove()


def pin(agent: str, version: str, on: bool = True) -> None:
    """Keep a version whatever the disk budget says, or no longer. UnknownName: not installed."""
    slot = Slot(agent, version)
    if not slot.manifest():
        raise UnknownName(f"{agent}@{version} is not installed.", "Install it first.")
    slot.pin(on)


def budget() -> int:
    """Bytes that installed binaries may take together: ``LIFELINE_BINARIES_GIB``; 0: no limit."""
    try:
        return int(float(os.environ.get("LIFELINE_BINARIES_GIB", "20")) * (1 << 30))
    except ValueError:
        return 20 << 30


def make_room(keep: Slot | None = None) -> list[str]:
    """Remove the longest unused until the budget is kept; gives what was removed.

    Never what is in use, pinned, registered, just used, or `keep`.
    """
    limit, removed = budget(), []
    every = [item for item in installed() if not item.registered]
    total = sum(item.size for item in every)
    for item in sorted(every, key=lambda item: max(item.used_at, item.installed_at)):
        if not limit or total <= limit:
            break
        slot = Slot(item.agent, item.version)
        if item.pinned or slot == keep or time.time() - item.used_at < JUST_USED:
            continue
        with contextlib.suppress(HarnessError):  # in use
            total -= slot.remove()
            removed.append(f"{item.agent}@{item.version}")
    return removed


# Installing


def ensure(
    agent: str, version: str, say: Say = _quiet, *, stop: Callable[[], bool] = _never
) -> Binary:
    """The binary, installed and prepared. `version` may be empty: see :func:`newest`.

    UnknownVersion: there is none. VersionCannotRun: it has no package for this platform, needs
    a newer Node, does not start. CannotRunHere: no npm, no network, a full disk. `stop` is
    asked whether to give up.
    """
    driver = catalogue.driver(agent)
    version = version or newest(agent)
    named = registered.of(agent).get(version)
    if named is None and driver.package.registry == "builtin":
        return _builtin(driver, version)
    slot = Slot(agent, version)
    slot.touch()
    if named is None and plain(version) != version:
        raise UnknownVersion(
            f"{agent}@{version} is not registered here.", "See `binaries register`."
        )
    if named is None and not _drivable(driver, version):
        raise UnknownVersion(
            f"{agent}@{version} is older than {driver.oldest}, the first that can be driven."
        )
    binary = install.read(slot, named)
    if binary is None and named is not None:
        raise UnknownVersion(f"{agent}@{version} is no longer at {named}.", "Register it again.")
    if binary is None or (driver.needs_prepare() and binary.prepared is None):
        install.install(driver, slot, named, say, stop)
        make_room(keep=slot)
        binary = install.read(slot, named)
    if binary is None:
        raise HarnessError(f"{agent}@{version} vanished while it was installed.", "Try again.")
    return binary


def _builtin(driver: Driver, version: str) -> Binary:
    known = [item for item, _ in driver.published()]
    if version not in known:
        raise UnknownVersion(f"{driver.name} has no version {version!r}.", nearest(version, known))
    path = driver.executable(Path(__file__).resolve().parent.parent)
    return Binary(
        agent=driver.name,
        version=version,
        path=path,
        folder=path.parent,
        sha256=shelf.sha256(path),
    )


def register(agent: str, path: str | Path) -> Binary:
    """Take an executable that the operator named on the command line; it stays where it is.

    Its version's name is what it reports, with a mark (``1.0.102-local.ab12cd34``); of a
    client the mark alone.
    """
    driver = catalogue.driver(agent)
    return ensure(agent, registered.add(driver, Path(path)))
