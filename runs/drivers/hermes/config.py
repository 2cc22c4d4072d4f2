"""Hermes' configuration: its provider, and nothing that looks around or installs things."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runs.driver import Context


def config_files(context: Context, home: Path, mode: str, **more: Any) -> Mapping[Path, str]:
    """Its files. `home` is HERMES_HOME, `mode` how it reaches its model, `more` further tables."""
    config: dict[str, Any] = {
        "model": {
            "provider": "custom",
            "base_url": f"{context.base_url}/v1",
            "api_key": "dummy",
            "default": context.model,
            "api_mode": mode,
            "context_length": 200_000,
        },
        "security": {"allow_lazy_installs": False},
        **more,
    }
    return {
        home / "config.yaml": json.dumps(config, indent=1) + "\n",  # JSON is YAML.
        home / ".update_check": _no_update(context.binary.version),
    }


def _no_update(version: str) -> str:
    """What it remembers of having asked for a newer version a moment ago."""
    return json.dumps({"ts": time.time(), "behind": 0, "rev": None, "ver": version})
