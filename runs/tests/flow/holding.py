"""A process that holds a lock until it is killed."""

from __future__ import annotations

HOLDS = """
import fcntl, sys, time
held = open(sys.argv[1], "a")
fcntl.flock(held, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""
