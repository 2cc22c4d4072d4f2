#!/usr/bin/env python3
"""Lifeline's commands. The first one on a machine makes ``.venv`` and installs what is needed.

Only the standard library is used here, and nothing is done where the packages are
already there. All that pip says goes to standard error.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

BASE = Path(__file__).resolve().parent
VENV = BASE / ".venv"
PYTHON = VENV / "bin" / "python"


def main() -> None:
    """Make sure of the packages, then hand over to Django."""
    if sys.version_info < (3, 11):  # noqa: UP036 (this is what says so)
        sys.exit("Lifeline needs Python 3.11 or newer; this is " + sys.version.split()[0] + ".")
    wanted = [BASE / "requirements.txt"]
    if sys.argv[1:2] in (["test"], ["bench"]):
        wanted.append(BASE / "requirements-test.txt")
    if in_own_venv() or not has_all(wanted):
        enter_venv(wanted)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except Exception as error:
        from runs import machine

        trouble = machine.in_words(error)
        if trouble is None:
            raise
        say(f"{trouble.what} {trouble.do}")
        sys.exit(3)


def in_own_venv() -> bool:
    """Whether this is the Python of ``.venv``."""
    return Path(sys.prefix).resolve() == VENV.resolve()


def has_all(files: list[Path]) -> bool:
    """Whether this Python has every package that the files name (in whatever version)."""
    try:
        for name in names(files):
            metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def names(files: list[Path]) -> list[str]:
    """Package names of plain requirement lines; those with a condition are optional."""
    found = []
    for file in files:
        for line in file.read_text().splitlines():
            line = line.partition("#")[0].strip()
            if line and ";" not in line:
                found.append(line.partition("==")[0].partition("[")[0])
    return found


def enter_venv(files: list[Path]) -> None:
    """Bring ``.venv`` up to date; become its Python unless this already is it.

    Where nothing is to be done nothing is written: the folder may be read-only.
    """
    if not all(map(is_installed, files)) or not (in_own_venv() or works(PYTHON)):
        try:
            bring_up(files)
        except OSError as error:
            sys.exit(
                f"{VENV} cannot be made: {error.strerror} ({error.filename}).\nMake room or give "
                "the right to write there, or run this with a Python that has requirements.txt."
            )
    if not in_own_venv():
        os.execv(PYTHON, [str(PYTHON), str(BASE / "manage.py"), *sys.argv[1:]])


def bring_up(files: list[Path]) -> None:
    """Make ``.venv`` unless it is there and works, and install what is missing."""
    with open(BASE / ".venv.lock", "w") as lock:  # noqa: PTH123 (one maker at a time)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not in_own_venv() and not works(PYTHON):
            make_venv()
        for file in files:
            install(file)


def works(python: Path) -> bool:
    """Whether there is a Python of a venv that starts and has pip."""
    if not python.exists():
        return False
    return subprocess.run([python, "-m", "pip", "-V"], capture_output=True).returncode == 0


def make_venv() -> None:
    """Make ``.venv``; a clear message where this Python cannot."""
    say("Making .venv …")
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV], capture_output=True, text=True
    )
    if made.returncode != 0:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        said = made.stdout + made.stderr
        advice = (
            f"Install its venv module (on Debian and Ubuntu: apt install python{version}-venv), or "
            if "ensurepip" in said and "No space left" not in said
            else "Mend that, or "
        )
        sys.exit(
            f"This Python cannot make a virtual environment in {VENV}:\n{said}\n"
            f"{advice}run this inside an environment that has requirements.txt installed."
        )


def stamp_of(file: Path) -> tuple[Path, str]:
    """Where ``.venv`` notes which content of a requirements file it has, and that of this one."""
    return VENV / f"{file.name}.installed", hashlib.sha256(file.read_bytes()).hexdigest()


def is_installed(file: Path) -> bool:
    """Whether this very requirements file was installed into ``.venv`` before."""
    stamp, digest = stamp_of(file)
    return stamp.exists() and stamp.read_text() == digest


def install(file: Path) -> None:
    """Install a requirements file into ``.venv`` unless that was done before."""
    if is_installed(file):
        return
    say(f"Installing {file.name} into .venv (once) …")
    done = subprocess.run(
        [PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", file],
        stdout=sys.stderr,
    )
    if done.returncode != 0:
        sys.exit(
            f"pip could not install {file.name}; what it said stands above.\n"
            "It needs a package index: the network, or one that pip's settings name "
            "(PIP_INDEX_URL). Run this again afterwards."
        )
    stamp, digest = stamp_of(file)
    stamp.write_text(digest)


def say(words: str) -> None:
    """A line on standard error."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
