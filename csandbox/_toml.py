"""Reading a profile file. TOML is in the standard library from CPython 3.11 on."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from csandbox._errors import ProfileError

# A profile is some 10 KiB; the bound keeps a wrong path (a device, a huge log) from filling memory.
_MAX_BYTES = 1 << 20


def _parser() -> Any | None:
    """tomllib, else tomli with the same two names, else None."""
    for name in ("tomllib", "tomli"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def load_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The file's content as a dict.

    Raises ProfileError (path set) when the file cannot be read, is no TOML, or when CPython 3.10
    has no TOML reader installed.
    """
    name = os.fspath(path)
    try:
        with Path(name).open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ProfileError(
            f"{name}: cannot read the profile: {error.strerror}", path=name
        ) from error
    if len(raw) > _MAX_BYTES:
        raise ProfileError(f"{name}: larger than 1 MiB, so this is not a profile", path=name)
    parser = _parser()
    if parser is None:
        raise ProfileError(
            f"{name}: CPython 3.10 cannot read TOML by itself; run `python -m pip install tomli` "
            "or use a built-in profile, which needs no reader",
            path=name,
        )
    try:
        parsed: dict[str, Any] = parser.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, ValueError) as error:
        raise ProfileError(f"{name}: not valid TOML: {error}", path=name) from error
    return parsed
