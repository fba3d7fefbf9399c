"""The codec of plain data: what goes in comes out, exactly; anything else is told by its path."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csandbox import _core
from tests.api.value_strategies import LIMITS, form, same, values


def through(value: Any, **changed: int) -> Any:
    limits = {**LIMITS, **changed}
    return _core.decode(_core.encode(value, limits), limits)


@given(values)
@settings(max_examples=30, deadline=None)
def test_what_goes_in_comes_out(value: Any) -> None:
    assert same(through(value), value)


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_a_value_in_its_only_spelling_or_a_value_error(data: bytes) -> None:
    try:
        value = _core.decode(data, LIMITS)
    except ValueError as error:
        assert str(error)
    else:
        if "set(" not in form(value):  # which has no order of its own
            assert _core.encode(value, LIMITS) == data


@given(values, st.data())
@settings(max_examples=30, deadline=None)
def test_an_encoding_with_a_changed_byte_does_no_harm(value: Any, data: st.DataObject) -> None:
    encoded = bytearray(_core.encode(value, LIMITS))
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] = data.draw(st.integers(0, 255))
    try:
        _core.decode(bytes(encoded), LIMITS)
    except ValueError as error:
        assert str(error)


@pytest.mark.parametrize(
    "value",
    [
        *(sign * (1 << bits) + more for bits in (8, 16, 32, 63, 64, 65, 800) for sign in (1, -1)
          for more in (-1, 0, 1)),
        -0.0, math.inf, -math.inf, math.nan, 5e-324, complex(-0.0, math.nan),
        "", "a\0b", "\ud800", "\ud800\udc00", "\U00010000", "é" * 1000, b"", b"\xff" * 300,
        [], (), set(), frozenset(), {}, [[]], ((),), {(): {}}, {None: 0, "": 1, b"": 2, (): 3},
        {1: "a", "1": "b", 2.5: "c", frozenset({1}): "d", (1, (2, "x")): "e"},
        {"b": 1, "a": 2}, [True, 1, 1.0], {frozenset({frozenset(), frozenset({frozenset()})})},
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_corners(value: Any) -> None:
    assert same(through(value), value)


def test_the_format_is_cbor() -> None:
    rows = {
        0: "00", 23: "17", 24: "1818", 1000: "1903e8", 2**64 - 1: "1bffffffffffffffff",
        2**64: "c249010000000000000000", -(2**64): "3bffffffffffffffff",
        -(2**64) - 1: "c349010000000000000000", 1.1: "fb3ff199999999999a", True: "f5",
        None: "f6", "ü": "62c3bc", b"\1": "4101", (1,): "d9c5b08101", 1j: "d9a7f882fb" + "00" * 8
        + "fb3ff0000000000000", frozenset({1}): "d9c5b18101", "\ud800": "d9c5b243eda080",
    }  # fmt: skip
    for value, expected in rows.items():
        assert _core.encode(value, LIMITS).hex() == expected
    assert _core.encode({"a": [1, {2}]}, LIMITS).hex() == "a161618201d901028102"


class Text(str):
    pass


class Number(int):
    pass


class Items(list):  # type: ignore[type-arg]
    def __len__(self) -> int:
        raise AssertionError("code of the object was called")

    __iter__ = __len__  # type: ignore[assignment]


class Other:
    def __getattr__(self, name: str) -> Any:
        raise AssertionError("code of the object was called")


def unfolding(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value, value]
    return value


def own_member() -> dict[str, Any]:
    value: dict[str, Any] = {"a": [1, {}]}
    value["a"][1]["again"] = value
    return value


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ({"groups": [Text("x")]}, TypeError, "at $.groups[0]: Text is a subclass of str"),
        ([0, (1, Number(2))], TypeError, "at $[1][1]: Number is a subclass of int"),
        (Items([1]), TypeError, "at $: Items is a subclass of list"),
        ({"a b": {5: Other()}}, TypeError, 'at $["a b"][5]: Other is no plain data'),
        ({(1, Text("x")): 0}, TypeError, "at $.<key 0>[1]: Text"),
        ({1, Other}, TypeError, "type is no plain data"),
        ([{"x" * 100: object}], TypeError, f"at $[0].{'x' * 40}...: type is no plain data"),
        ({"\x1b[0m": object}, TypeError, 'at $["?[0m"]'),
        ({(1, 2): object}, TypeError, "at $[<tuple>]"),
        (own_member(), ValueError, "at $.a[1].again: a container that contains itself"),
        (unfolding(100), ValueError, "more than 1048576 items"),
        ([[[[]]]] * 3, None, ""),
        (bytearray(b"x"), TypeError, "bytearray is no plain data"),
        (range(3), TypeError, "range is no plain data"),
        (10**6000, ValueError, "an int of more than 5000 digits"),
        (["x" * (1 << 23)], ValueError, "at $[0]: the value is larger than 8388608 bytes"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_plain_data_is_told_by_its_path(value: Any, error: Any, words: str) -> None:
    if error is None:
        assert same(through(value), value)
        return
    with pytest.raises(error) as caught:
        _core.encode(value, LIMITS)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 500


def test_every_limit_lets_through_what_it_says_and_no_more() -> None:
    deep: Any = 0
    for _ in range(3):
        deep = [deep]
    for value, limit, most in [
        (deep, "depth", 3),
        ([1, [2, {3: 4}]], "items", 6),
        ("x" * 100, "bytes", 102),
    ]:
        assert through(value, **{limit: most}) == value
        data = _core.encode(value, LIMITS)
        short = {**LIMITS, limit: most - 1}
        with pytest.raises(ValueError):
            _core.encode(value, short)
        with pytest.raises(ValueError):
            _core.decode(data, short)


def test_digits_are_those_of_the_largest_int_to_within_one() -> None:
    for digits in (1, 19, 20, 21, 100, 4999):
        largest = 10**digits - 1
        assert through(largest, int_digits=digits) == largest
        larger = -(10 ** (digits + 1))
        if digits > 19:  # smaller ones are never looked at: they fit into 64 bits
            with pytest.raises(ValueError, match="digits"):
                _core.encode(larger, {**LIMITS, "int_digits": digits})
            with pytest.raises(ValueError, match="digits"):
                _core.decode(_core.encode(larger, LIMITS), {**LIMITS, "int_digits": digits})


def test_depth_is_bounded_whatever_is_asked() -> None:
    with pytest.raises(ValueError, match="depth"):
        _core.encode(0, {**LIMITS, "depth": 1001})
    value: Any = 7
    for _ in range(999):
        value = (value,)
    got = through({value}, depth=1000).pop()
    for _ in range(999):
        (got,) = got
    assert got == 7


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("", "ends too early"),
        ("82 01", "longer than the data"),
        ("01 02", "behind the value"),
        ("18 01", "shortest form"),
        ("f9 3c00", "does not use"),
        ("fa 3f800000", "does not use"),
        ("f7", "does not use"),
        ("e0", "no CBOR item"),
        ("9f 01 ff", "does not use"),
        ("5f 41 00 ff", "does not use"),
        ("ff", "does not use"),
        ("62 c328", "UTF-8"),
        ("63 eda080", "UTF-8"),
        ("d9c5b2 43 616263", "UTF-8"),
        ("c2 41 01", "not large"),
        ("c2 4a 00010000000000000000", "not large"),
        ("c2 01", "not large"),
        ("c0 01", "tag 0"),
        ("d9c5b0 01", "no array"),
        ("d9a7f8 82 01 02", "pair of floats"),
        ("a2 01 02 01 03", "twice in a dict"),
        ("a2 01 02 f5 03", "twice in a dict"),
        ("d90102 82 01 01", "twice in a set"),
        ("a1 80 01", "list as key"),
        ("a1 a0 01", "dict as key"),
        ("d90102 81 d90102 80", "set as key"),
        ("d90102 81 d9c5b0 81 80", "list as key"),
        ("9b ffffffffffffffff", "longer than the data"),
        ("bb 8000000000000001 01", "longer than the data"),
        ("7b ffffffffffffffff", "no CBOR item"),
        ("84 84 84 84 01 01 01 01 01 01", "longer than the data"),
        ("81" * 201 + "01", "deeper than 200"),
    ],
)
def test_garbage_is_a_value_error_with_its_reason(data: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _core.decode(bytes.fromhex(data), LIMITS)


def test_announcements_take_no_memory() -> None:
    """Nested heads that each claim all the rest would take gigabytes if they were believed."""
    claim = b"\x9a\x00\x0f\xff\x00"
    data = claim * 190 + b"\x01" * ((1 << 20) - 1)
    with pytest.raises(ValueError, match=r"longer than the data|items"):
        _core.decode(data, {**LIMITS, "items": 1 << 40})


def test_keys_that_collide_do_not_stop_the_caller() -> None:
    """hash(k * (2**61 - 1)) is 0 for each k: a dict of them is quadratic work."""
    modulus = sys.hash_info.modulus
    keys = [k * modulus for k in range(1, 100_000)]
    parts = [_core.encode(key, LIMITS) + b"\xf6" for key in keys]
    data = b"\xba" + len(keys).to_bytes(4, "big") + b"".join(parts)
    began = time.monotonic()
    with pytest.raises(ValueError, match="collide"):
        _core.decode(data, LIMITS)
    assert time.monotonic() - began < 60


def test_a_list_that_changes_meanwhile_is_no_crash() -> None:
    """A collection of garbage may run code between two items."""
    import gc

    victims: list[Any] = []

    class Trigger:
        def __del__(self) -> None:
            victims.clear()

    threshold = gc.get_threshold()
    try:
        for size in range(1, 6):
            victims[:] = [1 << 100] * size
            cycle: list[Any] = [Trigger()]
            cycle.append(cycle)
            del cycle
            gc.set_threshold(1)
            try:
                _core.encode(victims, LIMITS)
            except ValueError as error:
                assert "changed" in str(error)
            gc.set_threshold(*threshold)
            gc.collect()
    finally:
        gc.set_threshold(*threshold)
