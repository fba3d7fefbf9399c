"""Comparing values: exact types, paths of the first difference, tolerances, no `==` of anybody."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csandbox import _core
from tests.api.value_strategies import LIMITS, equal, values

NAN = math.nan


def compare(got: Any, expected: Any, **options: Any) -> Any:
    return _core.compare_value(got, expected, options, LIMITS)


@given(values)
@settings(max_examples=30, deadline=None)
def test_a_value_equals_itself(value: Any) -> None:
    try:
        assert compare(value, value, nan_equal=True) is None
    except ValueError as error:
        assert "twice in a dict" in str(error)  # of several nans nobody knows which is which


@given(values, values)
@settings(max_examples=30, deadline=None)
def test_different_values_differ(one: Any, two: Any) -> None:
    assert (compare([one], [two], nan_equal=True) is None) == equal(one, two)


@given(st.lists(st.integers(-3, 3) | st.booleans() | st.sampled_from([0.0, 1.0, -2.0, 0.5, 2j])))
@settings(max_examples=30, deadline=None)
def test_numeric_is_pythons_equality_but_for_bool(numbers: list[Any]) -> None:
    for one in numbers:
        for two in numbers:
            same = one == two and isinstance(one, bool) == isinstance(two, bool)
            assert (compare(one, two, numeric=True) is None) == same


@given(st.integers(-(1 << 1000), 1 << 1000) | st.floats(allow_nan=False))
@settings(max_examples=60, deadline=None)
def test_numeric_is_exact_for_large_numbers(number: Any) -> None:
    try:
        others = [float(number), number * 1.0]
    except OverflowError:
        others = []
    if isinstance(number, int) or math.isfinite(number):
        others += [int(number), int(number) + 1, -int(number)]
    for other in others:
        assert (compare({number}, {other}, numeric=True) is None) == (number == other)


@pytest.mark.parametrize(
    ("got", "expected", "options", "difference"),
    [
        (True, 1, {}, ("type", "$", "True", "1")),
        (True, 1, {"numeric": True}, ("type", "$", "True", "1")),
        (1, True, {"abs": 5}, ("type", "$", "1", "True")),
        (1, 1.0, {}, ("type", "$", "1", "1.0")),
        (1, 1.0, {"numeric": True}, None),
        (1, 1 + 0j, {"numeric": True}, None),
        (1.0, 1.05, {"abs": 0.1}, None),
        (1, 2, {"abs": 1}, None),
        (1, 2.1, {"abs": 1}, ("value", "$", "1", "2.1")),
        (100.0, 101.0, {"rel": 0.01}, None),
        (101.1, 100.0, {"rel": 0.01}, ("value", "$", "101.1", "100.0")),
        (1e308, -1e308, {"rel": 0.5}, ("value", "$", "1e+308", "-1e+308")),
        (math.inf, 1e308, {"rel": 0.5}, ("value", "$", "inf", "1e+308")),
        (math.inf, math.inf, {}, None),
        (10**400, 10**400 + 1, {"rel": 0.1}, ("value", "$", "", "")),
        ([1j + 1], [1.01 + 1j], {"abs": 0.1}, None),
        ("1", 1, {"numeric": True}, ("type", "$", "'1'", "1")),
        ("a", b"a", {}, ("type", "$", "'a'", "b'a'")),
        (None, False, {}, ("type", "$", "None", "False")),
        ([], (), {}, ("type", "$", "[]", "()")),
        ([(1,)], ([1],), {"sequences": True}, None),
        ({1}, frozenset({1}), {}, ("type", "$", "{1}", "frozenset({1})")),
        ({1}, frozenset({1}), {"sets": True}, None),
        (NAN, NAN, {}, ("value", "$", "nan", "nan")),
        (NAN, -NAN, {"nan_equal": True}, None),
        ({NAN}, {NAN}, {}, ("missing", "$", "", "nan")),
        ({NAN, math.nan * 2}, {NAN}, {"nan_equal": True}, ("value", "$", "{nan, nan}", "{nan}")),
        (-0.0, 0.0, {}, None),
        ({-0.0: 1}, {0.0: 1}, {}, None),
        ([1, [2, 3]], [1, [2, 4]], {}, ("value", "$[1][1]", "3", "4")),
        ([1, 2], [1, 2, 3], {}, ("length", "$", "2 items", "3 items")),
        ({"a": {"b c": [0]}}, {"a": {"b c": [1]}}, {}, ("value", "$.a['b c'][0]", "0", "1")),
        ({1: 0, (1, 2): 5}, {(1, 2): 6, 1: 0}, {}, ("value", "$[(1, 2)]", "5", "6")),
        ({"a": 1}, {"a": 1, "b": 2}, {}, ("missing", "$.b", "", "2")),
        ({"a": 1, "c": 3}, {"a": 1}, {}, ("extra", "$.c", "3", "")),
        ({1: 0}, {True: 0}, {}, ("missing", "$[True]", "", "0")),
        ({1, 2}, {1, 3}, {}, ("missing", "$", "", "3")),
        ({1, 2, 3}, {1, 2}, {}, ("extra", "$", "3", "")),
        ({1.0}, {1}, {}, ("missing", "$", "", "1")),
        ({1.0000001}, {1}, {"abs": 1}, ("missing", "$", "", "1")),  # exact in sets
        ([{"x": 1.0}], [{"x": 1.1}], {"abs": 0.2}, None),
        ("a\n'\x1b\u202e", "b", {}, ("value", "$", "'a\\n\\'\\x1b\\u202e'", "'b'")),
    ],
    ids=lambda value: repr(value)[:20],
)  # fmt: skip
def test_rows(got: Any, expected: Any, options: Any, difference: Any) -> None:
    found = compare(got, expected, **options)
    if difference is None:
        assert found is None
        return
    reason, path, one, two = difference
    assert (found["reason"], found["path"]) == (reason, path)
    if one or two:
        assert (found["got"], found["expected"]) == (one, two)


def test_what_is_shown_is_bounded() -> None:
    found = compare([["x" * 10**4, 1] * 10], [{"y": "z" * 10**4}])
    assert max(map(len, found.values())) <= 250
    assert found["got"].endswith("...")
    assert len(compare({"k" * 10**4: 1}, {})["path"]) < 250


def test_a_difference_deep_inside_has_a_bounded_path() -> None:
    def nested(leaf: int) -> Any:
        value: Any = leaf
        for _ in range(190):
            value = [value]
        return value

    found = compare(nested(1), nested(2))
    assert found["path"].startswith("$[0][0]") and found["path"].endswith("...")


def test_keys_that_collide_for_python_are_no_matter_here() -> None:
    """compare_encoded makes no Python object: its hash has a key, so 10**5 of them take no time."""
    keys = [k * sys.hash_info.modulus for k in range(1, 100_000)]
    parts = [_core.encode(key, LIMITS) for key in keys]
    head = b"\xd9\x01\x02\x9a" + len(keys).to_bytes(4, "big")
    one, two = head + b"".join(parts), head + b"".join(reversed(parts))
    assert _core.compare_encoded(one, two, {}, LIMITS) is None
    found = _core.compare_encoded(one, head + b"".join(parts[:-1]) + b"\x05", {}, LIMITS)
    assert found is not None and found["reason"] == "missing" and found["expected"] == "5"


def test_garbage_is_a_value_error_that_names_the_side() -> None:
    good = _core.encode([1], LIMITS)
    with pytest.raises(ValueError, match="got: byte 0"):
        _core.compare_encoded(b"\xff", good, {}, LIMITS)
    with pytest.raises(ValueError, match="expected: byte 1"):
        _core.compare_encoded(good, b"\x01\x01", {}, LIMITS)
    with pytest.raises(ValueError, match=r"got: .*twice in a dict"):
        _core.compare_encoded(b"\xa2\x01\x01\x01\x02", b"\xa1\x01\x01", {}, LIMITS)
    with pytest.raises(TypeError, match=r"got: at \$\[0\]: object"):
        compare([object()], [1])


@pytest.mark.parametrize(
    "options", [{"abs": -1}, {"rel": NAN}, {"rel": math.inf}, {"tolerance": 1}, {"abs": "x"}]
)
def test_wrong_options_are_errors(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        compare(1, 1, **options)
