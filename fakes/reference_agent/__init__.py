"""A small, honest agent CLI of our own: it delegates, retries, tells, and ends.

It is a real process that speaks HTTP to a provider in four dialects, so that
every fault is met as a client meets it. By default it keeps every law; on
request (``--misbehave NAME``) it breaks exactly one named thing, see
``misbehaviours.toml``. Nothing outside the standard library is used.
"""

from __future__ import annotations
