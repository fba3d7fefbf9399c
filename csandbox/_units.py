"""Byte units, and reading quantities as people write them on a command line ("2s", "512MiB")."""

from __future__ import annotations

import math
import re

KiB = 1024
MiB = 1024 * KiB
GiB = 1024 * MiB

# Powers of 1000 and of 1024 are kept apart (IEC 80000-13), so "MB" and "MiB" mean what they say.
_BYTE_UNITS = {
    "": 1, "b": 1,
    "k": KiB, "kib": KiB, "kb": 1000,
    "m": MiB, "mib": MiB, "mb": 1000**2,
    "g": GiB, "gib": GiB, "gb": 1000**3,
}  # fmt: skip
_SECOND_UNITS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z]*)", re.ASCII)


def shorten(text: str, most: int = 80) -> str:
    """The text for a message, cut where it is longer than anybody reads."""
    return text if len(text) <= most else text[:most] + "…"


def _split(text: str, units: dict[str, float], what: str, example: str) -> tuple[float, float]:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{shorten(text)!r} is not {what}; write for example {example}")
    unit = units.get(match.group(2).lower())
    if unit is None:
        known = ", ".join(name for name in units if name)
        unknown = f"{shorten(text)!r}: unknown unit {shorten(match.group(2))!r}"
        raise ValueError(f"{unknown}; known units: {known}")
    number = float(match.group(1))
    if math.isinf(number * unit):
        raise ValueError(f"{shorten(text)!r} is too large for any limit")
    return number, unit


def parse_seconds(text: str) -> float:
    """Seconds from "2", "1.5s", "250ms", "1m" or "1h"; ValueError names the text."""
    number, unit = _split(text, _SECOND_UNITS, "a time", "2s or 250ms")
    return number * unit


def parse_bytes(text: str) -> int:
    """Bytes from "4096", "64k", "512MiB" or "1GB"; ValueError names the text.

    A bare k, m or g is a power of 1024, as in ulimit and docker.
    """
    units = {name: float(factor) for name, factor in _BYTE_UNITS.items()}
    number, unit = _split(text, units, "a size", "512MiB")
    size = number * unit
    if size != int(size):
        raise ValueError(f"{shorten(text)!r} is not a whole number of bytes")
    return int(size)


def format_bytes(size: int) -> str:
    """A size for people: "512 MiB", "1.5 KiB", "12 B"."""
    for unit, name in ((GiB, "GiB"), (MiB, "MiB"), (KiB, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size} B"
