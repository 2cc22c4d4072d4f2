"""Celery's name for the Redis that everything else knows by ``REDIS_URL``."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit


def url_of(redis_url: str) -> str:
    """The broker's URL; ``memory://`` where there is no Redis.

    Kombu writes a socket's scheme in its own way, and takes the database from
    ``virtual_host``: a ``db`` it would ignore, and two instances on two databases of one
    Redis would take each other's messages.
    """
    if not redis_url.startswith("unix://"):
        return redis_url or "memory://"
    parts = urlsplit(redis_url)
    query = [
        ("virtual_host" if key == "db" else key, value) for key, value in parse_qsl(parts.query)
    ]
    rest = f"?{urlencode(query)}" if query else ""
    return f"redis+socket://{parts.netloc}{parts.path}{rest}"
