"""What a Python package's index says beside the names of versions: when each was published.

pip lists the versions that fit this machine and tells no dates. The index itself, asked in
the JSON form of its simple API, gives the upload time of every file, and so also the versions
that have no file for this machine. An index that does not speak it costs the dates, not the list.
"""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from runs.packages import Published
from runs.versions import key, ordered, valid

ACCEPT = "application/vnd.pypi.simple.v1+json"
TIMEOUT = 30.0
"""Seconds that an index may take."""
LIMIT = 64 << 20
"""Bytes of an answer that are read."""
_ENDINGS = (".tar.gz", ".zip", ".tar.bz2")


def complete(name: str, fitting: Iterable[str], settings: Mapping[str, str]) -> list[Published]:
    """The versions that pip listed, with dates, and those that do not fit, oldest first.

    `settings` are pip's, as environment variables (``PIP_INDEX_URL``, ``PIP_CERT``, …).
    """
    fits = {key(version): version for version in fitting}
    dates: dict[str, str] = {}
    for address in _indexes(settings):
        for version, date in _dates(_answer(address, name, settings)).items():
            said = fits.get(key(version), version)
            dates[said] = min(filter(None, (dates.get(said, ""), date)), default="")
    return [
        Published(version, dates.get(version, ""), here=version in fits.values())
        for version in ordered({*fits.values(), *dates})
    ]


def _indexes(settings: Mapping[str, str]) -> list[str]:
    main = settings.get("PIP_INDEX_URL") or ("" if "PIP_NO_INDEX" in settings else _default())
    every = [main, *settings.get("PIP_EXTRA_INDEX_URL", "").split()]
    return [address for address in every if address.startswith(("http://", "https://"))]


@cache
def _default() -> str:
    """The index that pip asks where nothing else is configured."""
    code = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


def _answer(address: str, name: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """The index's page of the package; empty when it cannot be had."""
    place = f"{address.rstrip('/')}/{re.sub(r'[-_.]+', '-', name).lower()}/"
    handlers: list[urllib.request.BaseHandler] = []
    try:
        context = ssl.create_default_context(cafile=settings.get("PIP_CERT"))
        handlers.append(urllib.request.HTTPSHandler(context=context))
        if settings.get("PIP_PROXY"):
            proxy = settings["PIP_PROXY"]
            handlers.append(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
        request = urllib.request.Request(place, headers={"Accept": ACCEPT})
        with urllib.request.build_opener(*handlers).open(request, timeout=TIMEOUT) as answer:
            found = json.loads(answer.read(LIMIT))
    except (OSError, ValueError, RecursionError):  # the dates are not worth a failure
        return {}
    return found if isinstance(found, dict) else {}


def _dates(answer: Mapping[str, Any]) -> dict[str, str]:
    """By version: when its first file was uploaded; withdrawn files do not count."""
    found: dict[str, str] = {}
    files = answer.get("files")
    for file in files if isinstance(files, list) else ():
        if not isinstance(file, dict) or file.get("yanked"):
            continue
        version = _version(str(file.get("filename", "")))
        date = str(file.get("upload-time", ""))[:32]
        if valid(version):
            found[version] = min(filter(None, (found.get(version, ""), date)), default="")
    return found


def _version(filename: str) -> str:
    """``omnigent-0.12.0-py3-none-any.whl`` or ``omnigent-0.12.0.tar.gz`` → ``0.12.0``."""
    if filename.endswith(".whl"):
        parts = filename.split("-")
        return parts[1] if len(parts) >= 5 else ""
    for ending in _ENDINGS:
        if filename.endswith(ending):
            return filename.removesuffix(ending).rpartition("-")[2]
    return ""
