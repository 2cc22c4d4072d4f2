"""A stand-in for ``codex app-server``, to test clients of it.

``python -m fakes.codex_app_server --state-dir DIR app-server`` speaks newline JSON-RPC over
standard input and output, checks what a client sends field by field, answers with the real
server's error texts, and plays the turns of ``DIR/scenario.json``. docs/fake-app-server.md
says how to write scenarios; :mod:`fakes.codex_app_server.harness` is what tests use.

Only the standard library is needed at run time.
"""

from __future__ import annotations
