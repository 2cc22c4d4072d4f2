"""Plug-ins: a folder of one-file modules, each ending with one constant.

``members(package, "LAW")`` imports every module of the folder and gives their
constants by module name. A module without the constant fails loudly, so that a
half-written plug-in is never silently absent.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


class RegistryError(Exception):
    """A plug-in module does not keep the rules of its folder."""


def members(package: ModuleType, constant: str) -> dict[str, Any]:
    """The constants of all modules in `package`, by module name, in name order.

    Modules and packages whose name starts with an underscore, and ``tests``, are helpers.
    """
    found: dict[str, Any] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if info.name.startswith("_") or info.name == "tests":
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if not hasattr(module, constant):
            raise RegistryError(
                f"{module.__name__} has no {constant}: it must end with {constant} = …"
            )
        found[info.name] = getattr(module, constant)
    return found
