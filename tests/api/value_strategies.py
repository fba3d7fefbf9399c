"""Plain data for hypothesis, and a form of it that is equal when the data is."""

from __future__ import annotations

import struct
from typing import Any

from hypothesis import strategies as st

LIMITS = {"bytes": 1 << 23, "items": 1 << 20, "depth": 200, "int_digits": 5000}

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats()
    | st.complex_numbers()
    | st.text(st.characters())
    | st.text(st.characters(categories=("Cs", "Ll")))
    | st.binary()
)
keys = st.recursive(
    scalars, lambda inner: st.lists(inner).map(tuple) | st.frozensets(inner), max_leaves=4
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(keys, inner)
        | st.sets(keys)
        | st.frozensets(keys)
    ),
    max_leaves=12,
)


def _bits(number: float) -> str:
    return struct.pack(">d", number).hex()


def form(value: Any, bits: Any = _bits, ordered: bool = True) -> Any:
    """A value as text that tells types, floats as `bits` says, and the order of dicts."""
    kind = type(value)
    if kind is float:
        return bits(value)
    if kind is complex:
        return f"complex({bits(value.real)} {bits(value.imag)})"
    if kind is dict:
        pairs = [(form(k, bits, ordered), form(v, bits, ordered)) for k, v in value.items()]
        return f"dict({pairs if ordered else sorted(pairs)})"
    if kind in (set, frozenset):
        return f"{kind.__name__}({sorted(form(item, bits, ordered) for item in value)})"
    if kind in (list, tuple):
        return f"{kind.__name__}({[form(item, bits, ordered) for item in value]})"
    return repr(value)


def same(one: Any, two: Any) -> bool:
    """Equal to the last bit, with the same types and the same order of dicts."""
    return bool(form(one) == form(two))


def equal(one: Any, two: Any) -> bool:
    """Equal as answers are: -0.0 is 0.0, every nan is every nan, dicts have no order."""

    def word(number: float) -> str:
        return "nan" if number != number else _bits(number + 0.0)

    return bool(form(one, word, False) == form(two, word, False))
