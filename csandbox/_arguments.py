"""Arguments of one kind, checked in one place; each error names the argument that is wrong."""

from __future__ import annotations

import os
from collections.abc import Iterable

_LONGEST_SHOWN = 200


def shown(value: object) -> str:
    """``repr(value)`` for a message, cut, and whatever the value's own repr does."""
    try:
        text = repr(value)
    except Exception:  # an int of 5000 digits, or an object whose repr fails
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


def path_text(value: object, name: str) -> str:
    """A path that the system can be asked for. Raises TypeError, or ValueError: empty, NUL, …"""
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        kind = type(value).__name__
        raise TypeError(f"{name} must be a path (str or os.PathLike), not {kind} ({shown(value)})")
    if not path:
        raise ValueError(f"{name} must be a path, not empty")
    if "\0" in path:
        raise ValueError(f"{name} must not hold a NUL: {shown(path)}")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} holds a lone surrogate: {shown(path)}") from error
    return path


def absolute_path(value: str | os.PathLike[str], name: str) -> str:
    """`path_text` made absolute. Raises ValueError also where the current folder was removed."""
    path = path_text(value, name)
    try:
        return os.path.abspath(path)
    except OSError as error:  # only a relative path asks for it
        raise ValueError(
            f"{name} is relative ({shown(path)}) and the current folder cannot be found "
            f"({error.strerror}); pass an absolute path"
        ) from error


def several(values: Iterable[str], name: str, example: str) -> tuple[str, ...]:
    """The items of an iterable that is no string; TypeError for anything else."""
    if not isinstance(values, (str, bytes, bytearray)):
        try:
            return tuple(values)
        except TypeError:
            pass
    kind = type(values).__name__
    raise TypeError(
        f"{name} must be a sequence of strings such as {example}, not {kind} ({shown(values)})"
    )


def count(value: int, name: str, most: int) -> int:
    """A whole number from 1 to `most`; ValueError for anything else."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ValueError(f"{name} must be a whole number from 1 to {most}, not {shown(value)}")
    return value


def seconds(value: float, name: str, most: float) -> float:
    """A time above 0, at most `most` seconds; ValueError for anything else, nan included."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value <= most:
        raise ValueError(f"{name} must be seconds above 0, at most {most:g}, not {shown(value)}")
    return float(value)


def flag(value: bool, name: str) -> bool:
    """The value; TypeError when it is not True or False, since any string would be true."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {shown(value)}")
    return value
