"""Where the files lie that were built together with `_core`."""

from __future__ import annotations

from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from csandbox import _core
from csandbox._errors import SetupError


@lru_cache(maxsize=4)
def beside_core(name: str) -> str:
    """Path of ``_child``, ``_janitor``, …; none of them is imported here. Raises SetupError."""
    folder = Path(_core.__file__ or __file__).resolve().parent
    for suffix in dict.fromkeys((".abi3.so", *EXTENSION_SUFFIXES)):
        path = folder / f"{name}{suffix}"
        if path.is_file():
            return str(path)
    raise SetupError(
        step="startup",
        message=f"csandbox is incompletely installed: no {name} in {folder}; install it again",
    )
