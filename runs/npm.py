"""Asks npm for the versions of a package, and installs one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from runs import platforms
from runs.driver import Package
from runs.errors import CannotRunHere, UnknownName, VersionCannotRun
from runs.packages import NAME, Job, Published, bare, check
from runs.shelf import read_json
from runs.versions import ordered, valid

_KEYS = re.compile(
    r"registry|@[\w.~-]+:registry|cafile|ca|proxy|https-proxy|noproxy|strict-ssl|"
    r"replace-registry-host|omit-lockfile-registry-resolved|fetch-(retries|timeout)"
)


def npm() -> str:
    """The npm of this machine; CannotRunHere when there is none."""
    found = shutil.which("npm")
    if found is None:
        raise CannotRunHere(
            "npm is not installed.", "Install Node with npm, or register an executable."
        )
    return found


_OF_PLATFORM = re.compile(r"-(darwin|linux|win32|freebsd|android)-[a-z0-9]+(-musl)?$")
"""A version that is a package of one platform, published under the name of the whole."""


@cache
def _configuration(npm_path: str) -> str:
    """What this machine's npm is told about registries, as the text of a fresh .npmrc."""
    given: dict[str, Any] = {}
    with suppress(OSError, ValueError, subprocess.TimeoutExpired):
        shown = subprocess.run(
            [npm_path, "config", "ls", "--json"], capture_output=True, text=True, timeout=60
        )
        given = json.loads(shown.stdout)
    lines = ["audit=false", "fund=false", "update-notifier=false"]
    for name, value in given.items():
        if not _KEYS.fullmatch(name) or value in (None, "", [], [""]):
            continue
        if isinstance(value, list):
            lines += [f"{name}[]={bare(item)}" for item in value]
        else:
            lines.append(f"{name}={bare(value)}")
    return "\n".join(lines) + "\n"


def _job(job: Job) -> str:
    path = npm()
    configuration = job.home / "npmrc"
    configuration.write_text(_configuration(path))
    nothing = job.home / "npmrc-global"
    nothing.touch()
    job.extra = {
        **job.extra,
        "npm_config_userconfig": str(configuration),
        "npm_config_globalconfig": str(nothing),
        "npm_config_cache": str(job.home / "cache"),
    }
    return path


def versions(package: Package, job: Job) -> list[Published]:
    """All versions of an npm package with their dates, oldest first."""
    listed, times = _listed(package.name, job)
    holder, _, form = package.platform.format(
        platform=platforms.here(), version="{version}"
    ).rpartition("@")
    held = set(_listed(holder, job)[0] if holder not in ("", package.name) else listed)
    return [
        Published(
            version,
            times.get(version, ""),
            here=not holder or form.format(version=version) in held,
        )
        for version in listed
        if not _OF_PLATFORM.search(version)
    ]


def _listed(name: str, job: Job) -> tuple[list[str], dict[str, str]]:
    """The versions of one package, oldest first, and their times."""
    argv = [_job(job), "view", name, "time", "versions", "--json", "--fetch-retries=0"]
    job.watch = None
    text = job.run(argv, f"asking npm for the versions of {name}")
    found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    listed = found.get("versions", [])
    listed = [listed] if isinstance(listed, str) else listed
    return ordered(str(item) for item in listed if valid(str(item))), found.get("time", {})


def install(package: Package, version: str, folder: Path, job: Job) -> None:
    """Install one version below `folder` (``node_modules``), without scripts unless allowed."""
    check(package, version)
    argv = [_job(job), "install", "--prefix", str(folder), "--no-save", "--no-package-lock"]
    argv += ["--fetch-retry-mintimeout=2000", "--fetch-retry-maxtimeout=5000", "--loglevel=warn"]
    argv += [*([] if package.scripts else ["--ignore-scripts"])]
    argv += [f"{package.name}@{version}"]
    argv += [extra.replace("{version}", version) for extra in package.extra]
    job.watch = folder.parent
    try:
        job.run(argv, f"installing {version} with npm")
    except UnknownName:
        # Which of the two is missing? What is published but not for this platform is listed.
        if package.extra and version in [item.version for item in versions(package, job)]:
            raise VersionCannotRun(
                f"{package.name}@{version} has no package for this platform.",
                "Choose another version.",
            ) from None
        raise


def check_left_out(package: Package, folder: Path, job: Job) -> None:
    """CannotRunHere when a package for this platform exists but was not fetched.

    npm goes on without an optional package that it could not fetch, and says nothing.
    """
    modules = folder / "node_modules"
    optional = read_json(modules / package.name / "package.json").get("optionalDependencies")
    for name, wanted in optional.items() if isinstance(optional, dict) else ():
        if not name.endswith(f"-{platforms.here()}") or (modules / name).exists():
            continue
        alias = str(wanted).removeprefix("npm:")
        real, _, version = (alias if alias != wanted else f"{name}@{wanted}").rpartition("@")
        if not (NAME.fullmatch(real) and valid(version)):
            continue
        try:
            there = job.run(
                [npm(), "view", f"{real}@{version}", "version"], f"asking npm for {name}"
            ).strip()
        except UnknownName:
            continue
        if there:
            raise CannotRunHere(f"npm left out {name}, which exists.", "Install it again.")
