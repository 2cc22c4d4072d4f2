"""From the plan to the exports."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from .client import Client


def main() -> int:
    """The exit code is the client's (see :meth:`Client.run`).

    Told to end, it has two seconds to write down what is stored.
    """
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    client = Client(plan)

    def told_to_end(*ignored: object) -> None:
        client.export(0.4)
        client.stop()
        os._exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, told_to_end)
    code = client.run()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    client.export(10.0)
    client.stop()
    return code


if __name__ == "__main__":
    sys.exit(main())
