"""Text and JSON that hostile code has written, made into what a caller can print and keep.

A lone surrogate is a str that cannot be encoded: whoever prints it, or writes it to a file, meets
an UnicodeEncodeError far from where it came from.
"""

from __future__ import annotations

import json
import re
from typing import Any

# What Python itself allows since 3.10.7; before, and by json, a long number takes hours.
_DIGITS = 4300
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def printable(text: str) -> str:
    r"""The text, with lone surrogates written out, as in ``\ud800``."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _int(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _printable(data: Any) -> Any:
    """No deeper than what the parser let through."""
    if isinstance(data, str):
        return printable(data)
    if isinstance(data, list):
        return [_printable(item) for item in data]
    if isinstance(data, dict):
        return {printable(key): _printable(value) for key, value in data.items()}
    return data


def opened(said: bytes) -> dict[str, Any] | None:
    """A JSON object, or None when it is none."""
    try:
        data = json.loads(said.decode("utf-8", "replace"), parse_int=_int)
        if _SURROGATE.search(said):
            data = _printable(data)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
