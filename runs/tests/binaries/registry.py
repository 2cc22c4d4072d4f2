"""A package registry on loopback that the machine's real npm installs from."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

SCRIPT = "#!/bin/sh\necho 'toy {version}'\n"


def tarball(version: str, manifest: Mapping[str, Any], files: Mapping[str, str]) -> bytes:
    """An npm package as one compressed archive."""
    buffer = io.BytesIO()
    texts = {"package.json": json.dumps(manifest), "toy": SCRIPT.format(version=version), **files}
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in texts.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(text.encode()), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


class Registry:
    """Serves what was published to it; remembers what it was asked, and with which headers."""

    def __init__(self) -> None:
        self.packages: dict[str, dict[str, Any]] = {}
        self.archives: dict[str, bytes] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.pause = 0.0
        """Seconds that an archive keeps its asker waiting."""
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                registry.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def publish(
        self, name: str, version: str, *, files: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        """Put one version of a package into the registry."""
        manifest = {"name": name, "version": version, "bin": {"toy": "toy"}, **more}
        archive = tarball(version, manifest, files or {})
        place = f"/{name}/-/{version}.tgz"
        self.archives[place] = archive
        digest = base64.b64encode(hashlib.sha512(archive).digest()).decode()
        package = self.packages.setdefault(
            name, {"name": name, "dist-tags": {}, "versions": {}, "time": {}}
        )
        package["dist-tags"]["latest"] = version
        package["time"][version] = f"2026-01-{len(package['versions']) + 1:02}T00:00:00.000Z"
        package["versions"][version] = {
            **manifest,
            "dist": {"tarball": f"{self.url}{place[1:]}", "integrity": f"sha512-{digest}"},
        }

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """One GET."""
        path = unquote(handler.path)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.asked.append((path, headers))
        archive = self.archives.get(path)
        if archive is not None:
            time.sleep(self.pause)
        found = self.packages.get(path[1:])
        body = archive or json.dumps(found or {"error": "not found"}).encode()
        handler.send_response(200 if archive or found else 404)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def downloads(self, version: str) -> int:
        """How often the archive of that version was fetched."""
        return sum(path.endswith(f"/{version}.tgz") for path, _ in self.asked)

    def close(self) -> None:
        """Stop serving: nobody listens there any more."""
        self.server.shutdown()
        self.server.server_close()
