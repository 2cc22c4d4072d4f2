"""omnigent's runner without its server: run by the agent's own Python, inside of the seal.

    python -P alone.py PORT FOLDER        serves the runner's own HTTP for the agent in FOLDER

What the runner would ask its server is answered with 404: nothing is stored, there is no
policy, and no sub-agent can be made. Written into the run, not imported.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from omnigent.runner.app import create_runner_app
from omnigent.runtime.harnesses.process_manager import (
    HarnessProcessManager,
)
from omnigent.spec import load


def no_server(request: httpx.Request) -> httpx.Response:
    """What stands in for the server's answers."""
    return httpx.Response(404, json={"error": "not_found"})


async def main(port: int, folder: Path) -> None:
    """Serve until we are ended."""
    manager = HarnessProcessManager()
    await manager.start()
    spec = load(folder)

    async def resolve(agent: str, session_id: str | None = None) -> Any:
        return spec

    server = httpx.AsyncClient(base_url="http://nobody", transport=httpx.MockTransport(no_server))
    app = create_runner_app(
        process_manager=manager,
        spec_resolver=resolve,
        server_client=server,
        runner_workspace=Path.cwd(),
    )
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")
    await uvicorn.Server(config).serve()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2])))
