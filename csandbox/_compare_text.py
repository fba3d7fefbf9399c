"""Comparisons of printed text. Linear, and only over bytes that are already here."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, Final

_SPACE = b" \t\r\n\v\f"
#: Names for output, and what they forgive.
TEXT: Final = {
    "exact": "nothing, but one newline at the end",
    "lines": "space at the end of lines, and empty lines at the end",
    "tokens": "how much space stands between words",
    "float": "as tokens, and numbers within rel or abs",
    "unordered_lines": "as lines, and their order",
    "json": "how the same JSON value is written",
    "case_insensitive": "as tokens, and upper or lower case",
    "yes_no": "as case_insensitive; the answer must be made of yes and no",
}
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")

Found = tuple[str, Any, Any]


def first_difference(name: str, rel: float, abs_: float, got: bytes, want: bytes) -> Found | None:
    """Place and both sides of the first difference; None when there is none."""
    if name == "exact":
        return _pairs(_units(_one_newline(got)), _units(_one_newline(want)), "line", rel, abs_)
    if name in ("lines", "unordered_lines"):
        left, right = _lines(got), _lines(want)
        if name == "unordered_lines":
            if Counter(left) == Counter(right):
                return None
            left, right = sorted(left), sorted(right)
            found = _pairs(left, right, "line", rel, abs_)
            return None if found is None else ("lines in sorted order, " + found[0], *found[1:])
        return _pairs(left, right, "line", rel, abs_)
    if name == "json":
        return _json(got, want)
    left, right = got.split(), want.split()
    if name in ("case_insensitive", "yes_no"):
        left, right = [t.lower() for t in left], [t.lower() for t in right]
        if name == "yes_no" and not {*left} <= {b"yes", b"no"}:
            return "the whole output", got[:80], want[:80]
    return _pairs(left, right, "word", rel, abs_, numbers=name == "float")


def _one_newline(text: bytes) -> bytes:
    return text[:-1] if text.endswith(b"\n") else text


def _units(text: bytes) -> list[bytes]:
    return text.split(b"\n")


def _lines(text: bytes) -> list[bytes]:
    lines = [line.rstrip(_SPACE) for line in text.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _close(left: bytes, right: bytes, rel: float, abs_: float) -> bool:
    if not _NUMBER.fullmatch(left) or not _NUMBER.fullmatch(right):
        return False  # nan and inf are no numbers here, so they are equal only as words
    a, b = float(left), float(right)
    return math.isfinite(a) and math.isfinite(b) and abs(a - b) <= max(abs_, rel * abs(b))


def _pairs(
    left: list[bytes],
    right: list[bytes],
    unit: str,
    rel: float,
    abs_: float,
    *,
    numbers: bool = False,
) -> Found | None:
    for place, (a, b) in enumerate(zip(left, right, strict=False), 1):
        if a != b and not (numbers and _close(a, b, rel, abs_)):
            column = next(
                (i for i, (x, y) in enumerate(zip(a, b, strict=False), 1) if x != y),
                min(len(a), len(b)) + 1,
            )
            return f"{unit} {place}, column {column}", _text(a), _text(b)
    if len(left) != len(right):
        place = min(len(left), len(right))
        return (
            f"{unit} {place + 1}",
            _text(left[place]) if place < len(left) else "nothing more",
            _text(right[place]) if place < len(right) else "nothing more",
        )
    return None


def _text(line: bytes) -> str:
    return line[:200].decode("utf-8", "replace")


def _json(got: bytes, want: bytes) -> Found | None:
    from csandbox._compare_value import different_at

    try:
        left = json.loads(got)
    except (ValueError, RecursionError) as error:
        return "the whole output", f"no JSON ({type(error).__name__})", _text(want)
    return different_at("exact", 0.0, 0.0, left, json.loads(want))
