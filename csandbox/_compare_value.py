"""Comparisons of plain values: exact types, no recursion, no user's ``==`` anywhere."""

from __future__ import annotations

import math
from typing import Any, Final

#: Names for values, and what they forgive.
VALUE: Final = {
    "exact": "nothing: True is not 1, 1 is not 1.0, a list is not a tuple; nan equals nan, "
    "and -0.0 equals 0.0",
    "numeric": "1 and 1.0 and 1+0j are equal, as with Python's ==; True is still not 1",
    "float": "as numeric, and real numbers within rel or abs; a list equals a tuple",
    "sequence": "as numeric, and a list equals a tuple (JSON knows lists only)",
}

Found = tuple[str, Any, Any]


def _kind(value: Any, name: str) -> object:
    """What two values must share to be compared at all."""
    kind = type(value)
    if name != "exact":
        if kind in (int, float, complex):
            return "number"
        if kind is frozenset:
            return set
        if kind is tuple and name in ("float", "sequence"):
            return list
    return kind


def _scalar(a: Any, b: Any, name: str, rel: float, abs_: float) -> bool:
    if isinstance(a, (float, complex)) or isinstance(b, (float, complex)):
        if a != a and b != b:
            return True
        if name == "float" and not isinstance(a, complex) and not isinstance(b, complex):
            try:
                return math.isclose(a, b, rel_tol=rel, abs_tol=abs_)
            except OverflowError:
                return False
    return bool(a == b)


def different_at(name: str, rel: float, abs_: float, got: Any, expected: Any) -> Found | None:
    """Path and both sides of the first difference; None when there is none."""
    waiting: list[tuple[str, Any, Any]] = [("$", got, expected)]
    while waiting:
        path, a, b = waiting.pop()
        kind = _kind(a, name)
        if kind != _kind(b, name):
            return path, a, b
        if kind in (list, tuple):
            if len(a) != len(b):
                return f"{path} (length {len(a)}, not {len(b)})", a, b
            pairs = zip(a, b, strict=True)
            waiting += [(f"{path}[{i}]", x, y) for i, (x, y) in enumerate(pairs)][::-1]
        elif kind is dict:
            right = {_key(k, name): (k, v) for k, v in b.items()}
            if {_key(k, name) for k in a} != set(right):
                return f"{path} (other keys)", a, b
            waiting += [(f"{path}[{k!r:.40}]", v, right[_key(k, name)][1]) for k, v in a.items()]
        elif kind in (set, frozenset):
            if {_key(item, name) for item in a} != {_key(item, name) for item in b}:
                return path, a, b
        elif not _scalar(a, b, name, rel, abs_):
            return path, a, b
    return None


def _key(item: Any, name: str) -> tuple[object, Any]:
    """A member of a set by what must be shared, so that {True} is not {1}."""
    if isinstance(item, tuple):
        return "tuple", tuple(_key(part, name) for part in item)
    return _kind(item, name), "nan" if item != item else item
