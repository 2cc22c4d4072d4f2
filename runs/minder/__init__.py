"""The minder: the first process of a run, inside the seal. Standard library only.

It makes the provider's listening socket, answers names, notes who the agent
tries to reach, starts the agent without any privilege, reports its end exactly,
and leaves no descendant alive. It is started as a script by `runs.process`, with
its control socket as its only tie to us: when that closes, it ends everything.
"""

from __future__ import annotations
