"""The script's main part: starts the agent, waits, ends it with all it started, sums up."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from runs.standalone.given import DEADLINE, LAUNCH, QUESTION, TAPES, TITLE
from runs.standalone.provider import STARTED, TRIES, listen

PRCTL = ctypes.CDLL(None).prctl if sys.platform.startswith("linux") else None


def bound() -> None:
    """In the agent, before it begins: PR_SET_PDEATHSIG, it ends even with a script killed."""
    if PRCTL:
        PRCTL(1, signal.SIGKILL, 0, 0, 0)


def start(agent: str, port: int, folder: Path) -> subprocess.Popen[bytes]:
    """The agent's process by its own command line, in a home of its own."""
    places = {name: str(folder / name.lower()) for name in ("HOME", "WORK", "TEMP", "LOGS")}
    for path in places.values():
        Path(path).mkdir()

    def fill(text: str) -> str:
        for name, path in places.items():
            text = text.replace(f"/@{name}@", path)
        text = text.replace("/@BIN@/@AGENT@", agent).replace("/@BIN@", str(Path(agent).parent))
        return text.replace("@PYTHON@", sys.executable).replace("@PORT@", str(port))

    for path, text in LAUNCH["files"].items():
        Path(fill(path)).parent.mkdir(parents=True, exist_ok=True)
        Path(fill(path)).write_text(fill(text), encoding="utf-8")
    kept = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    env |= {"HOME": places["HOME"], "TMPDIR": places["TEMP"]}
    env |= {name: fill(value) for name, value in LAUNCH["env"].items()}
    if PRCTL:
        PRCTL(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what the agent leaves behind is ours
    return subprocess.Popen(
        [fill(word) for word in LAUNCH["argv"]], cwd=places["WORK"], env=env,
        stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=bound,
    )  # fmt: skip


def end(process: subprocess.Popen[bytes]) -> None:
    """The agent and all that it started: what is not in its group is our child by then."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    lists = Path("/proc/self/task").glob
    while left := [int(pid) for one in lists("*/children") for pid in one.read_text().split()]:
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def summed_up() -> int:
    """Say what each caller was answered; gives the exit code of the script."""
    for caller in dict.fromkeys(row[0] for row in TRIES):
        rows = [row for row in TRIES if row[0] == caller]
        pairs = [(rows[n], rows[n + 1]) for n in range(len(rows) - 1)]
        gaps = [f"{b[4] - a[5]:.2f}" for a, b in pairs if a[5] and b[1] == a[1]]
        broken = sum(bool(row[3]) for row in rows)
        print(f"{caller:>8}: {len(rows)} requests, {broken} broken, gaps {', '.join(gaps) or '-'}",
              file=sys.stderr)  # fmt: skip
    if any(row[3] for row in TRIES) or TRIES and "('fault', " not in repr(TAPES):
        return 0
    what = "for a broken answer" if TRIES else "the provider"
    print(f"Not repeated: it never asked {what}.", file=sys.stderr)
    return 1


def main() -> int:
    """Repeat it; gives the exit code."""
    agent = sys.argv[1] if len(sys.argv) > 1 else shutil.which(LAUNCH["agent"])
    if not agent or not Path(agent).exists():
        print(f"usage: {sys.argv[0]} /path/to/{LAUNCH['agent']}   (version {LAUNCH['version']})")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by way of what ends the agent
    print(f"{TITLE}\n{QUESTION}", file=sys.stderr)
    port, code = listen(), ""
    with tempfile.TemporaryDirectory(prefix="repro-") as folder:
        process = start(str(Path(agent).resolve()), port, Path(folder))
        try:
            code = str(process.wait(timeout=DEADLINE))
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            code = f"none: it still ran after {time.monotonic() - STARTED:.0f} s"
        finally:
            end(process)
    print(f"\nexit code {code}", file=sys.stderr)
    return summed_up()


if __name__ == "__main__":
    sys.exit(main())
