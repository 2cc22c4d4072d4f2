"""The fake provider alone: ``python -m fakes --script delegate-one --fault sse-cut``.

Prints its journal as JSON lines on standard output until it is interrupted; the
first line, ``listening``, has its address and the prompt for an agent. The address
is on standard error as well.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
from typing import Any

from fakes.fault import aim, faults
from fakes.provider import Provider
from fakes.script import make_script, root_prompt, scripts
from fakes.settings import from_text
from fakes.targeting import Target
from fakes.tools import PlainTools

WHERE = "caller=child,attempt=all"


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; gives its exit code (2: a wrong name or setting)."""
    options = _parser().parse_args(arguments)
    try:
        name, settings = _split(options.script)
        kind = scripts().get(name)
        script = make_script(name, from_text(kind, settings, name) if kind else settings)
        aimed = [aim(_fault(text, options.on)) for text in options.fault]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    provider = Provider(
        script, tools=PlainTools(), faults=aimed, model=options.model, record=_print
    )
    asyncio.run(_serve(provider, options.host, options.port, root_prompt(script)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fakes", description=__doc__)
    parser.add_argument("--script", default="delegate-one", help="NAME or NAME:key=value,…")
    parser.add_argument(
        "--fault", action="append", default=[], help="NAME or NAME:key=value,… (repeatable)"
    )
    parser.add_argument("--on", default=WHERE, help=f"what the faults hit (default: {WHERE})")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", default="gpt-5.4")
    return parser


def _split(text: str) -> tuple[str, dict[str, str]]:
    name, _, rest = text.partition(":")
    return name, _pairs(rest)


def _pairs(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",") if pair]
    return {key.strip(): value.strip() for key, _, value in pairs}


def _fault(text: str, on: str) -> dict[str, Any]:
    name, settings = _split(text)
    kind = faults().get(name)
    typed = from_text(kind, settings, name) if kind else settings
    return {"fault": name, "on": from_text(Target, _pairs(on), "on"), **typed}


def _print(record: dict[str, Any]) -> None:
    print(json.dumps(record), flush=True)


async def _serve(provider: Provider, host: str, port: int, prompt: str) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    port = await provider.start(host, port)
    address = f"http://{host}:{port}"
    print(address, file=sys.stderr, flush=True)
    _print({"what": "listening", "at": time.time(), "address": address, "prompt": prompt})
    await stopped.wait()
    await provider.stop()


if __name__ == "__main__":
    sys.exit(main())
