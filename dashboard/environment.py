"""The environment's variables, read strictly: a wrong one ends the program in one clear line."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import dj_database_url

DATABASES = ("postgresql", "postgres", "sqlite")
REDISES = ("redis", "rediss", "unix")


def wrong(words: str) -> NoReturn:
    """Say what is wrong and end: a wrong call."""
    print(words, file=sys.stderr, flush=True)
    raise SystemExit(2)


def number(name: str, default: float, least: float = 0) -> float:
    """A number of at least `least`."""
    given = os.environ.get(name, "").strip()
    try:
        value = float(given or default)
    except ValueError:
        value = math.nan
    if not least <= value < math.inf:
        wrong(f"{name} is {given!r}; it takes a number of at least {least:g}.")
    return value


def whole(name: str, default: int, least: int = 0) -> int:
    """A whole number of at least `least`."""
    value = number(name, default, least)
    if value != int(value):
        wrong(f"{name} is {os.environ[name]!r}; it takes a whole number.")
    return int(value)


def switch(name: str) -> bool:
    """``1`` or nothing."""
    given = os.environ.get(name, "").strip()
    if given not in ("", "0", "1"):
        wrong(f"{name} is {given!r}; it takes 1 (yes) or 0 (no).")
    return given == "1"


def pairs(name: str) -> dict[str, str]:
    """``key:value,key:value``"""
    found = {}
    for item in filter(None, os.environ.get(name, "").split(",")):
        key, colon, value = (part.strip() for part in item.partition(":"))
        if not (key and colon and value):
            wrong(f"{name} has {item!r}; it takes pairs like codex:mac, with commas between.")
        found[key] = value
    return found


def database(default: Path) -> dict[str, Any]:
    """Django's settings of the database that ``DATABASE_URL`` names (a password is not shown).

    Without one it is the SQLite file `default`, whose path may have any letters.
    """
    url = os.environ.get("DATABASE_URL", "").strip()
    if not url:
        return {**dj_database_url.parse("sqlite:///x"), "NAME": str(default)}
    try:
        scheme = urlsplit(url).scheme
        if scheme in DATABASES:
            return dict(dj_database_url.parse(url))
    except ValueError as error:
        wrong(f"DATABASE_URL cannot be read: {str(error).partition(':')[0]}.")
    wrong(
        f"DATABASE_URL begins with {scheme!r}; it takes postgresql://user:password@host/name "
        "(or sqlite:///PATH)."
    )


def redis(url: str) -> str:
    """The address of a Redis, as given."""
    if url and urlsplit(url).scheme not in REDISES:
        wrong(f"REDIS_URL begins with {urlsplit(url).scheme!r}; it takes redis:// or unix://.")
    return url


def folder(name: str, default: Path) -> Path:
    """A folder, made private where it is not there yet; it must take files."""
    path = Path(os.environ.get(name, "").strip() or default).expanduser().resolve()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        wrong(f"The folder {path} cannot be made: {error.strerror}. Set {name} to another one.")
    if not os.access(path, os.W_OK | os.X_OK):
        wrong(f"This user may not write to {path}. Set {name} to a folder of its own.")
    return path


def binaries() -> Path:
    """Where installed agents are kept; the folder is made when the first one is."""
    number("LIFELINE_BINARIES_GIB", 20)
    if given := os.environ.get("LIFELINE_BINARIES", "").strip():
        return Path(given)
    try:
        return Path.home() / ".cache" / "lifeline" / "binaries"
    except RuntimeError:
        wrong("This user has no home folder. Set LIFELINE_BINARIES to a folder of its own.")
