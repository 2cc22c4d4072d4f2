"""A hostile agent: daemons in sessions of their own, TERM ignored, environment scrubbed."""

from __future__ import annotations

import os
import signal
import sys
import time

token, end = sys.argv[1], sys.argv[2]
signal.signal(signal.SIGTERM, signal.SIG_IGN)
SLEEP = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def daemon(scrub):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.setpgid(0, 0)
    os.execve(sys.executable, ["x", "-S", "-c", SLEEP, token], {} if scrub else dict(os.environ))


daemon(False)
daemon(True)
if os.fork() == 0:  # a child of ours in the same session, stopped
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(600)
time.sleep(0.3)
print("ready", flush=True)
if end == "exit":
    os._exit(7)
time.sleep(600)
