"""Comparing output; most rows are in tests/c/test_compare_text.c."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csandbox import _core
from csandbox._compare import compare_output, known_comparison

pieces = st.sampled_from([b"a", b"b", b" ", b"\n", b"\t", b"\r\n", b"1", b".5", b"\xc3\xa9"])
texts = st.lists(pieces, max_size=12).map(b"".join)


def compare(kind: str, got: bytes, expected: bytes, **options: Any) -> Any:
    return _core.compare_text(kind, got, expected, options)


def lines(text: bytes) -> list[bytes]:
    found = [line.rstrip() for line in text.split(b"\n")]
    while found and not found[-1]:
        found.pop()
    return found


@given(texts, texts)
@settings(max_examples=100, deadline=None)
def test_against_a_plain_model(got: bytes, expected: bytes) -> None:
    models = {
        "exact": lambda text: text.removesuffix(b"\n"),
        "lines": lines,
        "tokens": bytes.split,
        "case_insensitive": lambda text: [t.lower() for t in text.split()],
        "unordered_lines": lambda text: Counter(lines(text)),
    }
    for kind, model in models.items():
        for one, two in ((got, expected), (got, got + b" \n"), (got, got.swapcase())):
            found = compare(kind, one, two)
            assert (found is None) == (model(one) == model(two)), kind
            if found is not None:
                same_words = one.split() == two.split()
                assert found["presentation"] == (same_words and kind in ("exact", "lines"))


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(plain, st.booleans(), st.sampled_from([None, 2]))
@settings(max_examples=40, deadline=None)
def test_json_is_a_value(value: Any, ascii_only: bool, indent: int | None) -> None:
    one = json.dumps(value)
    try:
        two = json.dumps(value, ensure_ascii=ascii_only, indent=indent, sort_keys=True).encode()
    except UnicodeEncodeError:
        return
    assert compare("json", one.encode(), two, nan_equal=True) is None
    assert compare("json", one.encode(), b"[" + two + b"]", nan_equal=True) is not None


def test_json_differences_have_a_path() -> None:
    found = compare("json", b'{"a": [1, {"b": "x"}]}', b'{"a": [1.0, {"b": "y"}]}')
    assert (found["path"], found["got"]["text"], found["expected"]["text"]) == (
        "$.a[1].b",
        "'x'",
        "'y'",
    )
    assert compare("json", b"[1", b"[1]")["what"] == (
        "no JSON: byte 2: ',' or the end of a container was expected"
    )


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e-3), st.floats(0, 1e-3))
@settings(max_examples=60, deadline=None)
def test_float_is_absolute_or_relative(number: float, rel: float, abs_: float) -> None:
    for factor in (1.0, 1 + rel / 2, 1 + 2e-3, 1 - 2e-3):
        other = number * factor
        if not math.isfinite(other):
            continue
        distance = abs(other - number)
        close = other == number or distance <= abs_ or distance <= rel * abs(number)
        got, expected = repr(other).encode(), repr(number).encode()
        assert (compare("float", got, expected, rel=rel, abs=abs_) is None) == close


def test_hostile_text_is_escaped_and_cut() -> None:
    found = compare("exact", b"\x1b[2J\xff" + b"x" * 10**6, b"ok")
    assert found["got"]["text"].startswith("\\x1b[2J\\xff")
    assert len(found["got"]["text"]) < 200


def test_the_callers_mistakes_are_value_errors() -> None:
    with pytest.raises(ValueError, match="no comparison is called 'fuzzy'"):
        compare("fuzzy", b"", b"")
    with pytest.raises(ValueError, match="unknown option 'tolerance'"):
        compare("float", b"", b"", tolerance=1)
    with pytest.raises(ValueError, match="line 2: yes_no compares"):
        compare("yes_no", b"yes", b"yes\nperhaps")
    with pytest.raises(ValueError, match="no JSON was expected"):
        compare("json", b"1", b"one")


MEMORY = """
import resource
from csandbox import _core
from csandbox._compare import compare_output, known_comparison
line = b"some words 1.25 and more \\n"
one = line * (100_000_000 // len(line))
two = one[:-2] + b"x\\n"
kinds = ("exact", "lines", "tokens", "float", "case_insensitive", "unordered_lines")
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
for kind in kinds:
    assert _core.compare_text(kind, one, one, {"rel": 1e-6}) is None
    assert peak() - before < 2048, (kind, peak() - before)
for kind in kinds[:-1]:
    assert _core.compare_text(kind, one, two, {"rel": 1e-6}) is not None
    assert peak() - before < 2048, (kind, peak() - before)
place = _core.compare_text("unordered_lines", one, two, {})
assert peak() - before < 140 * 1024, peak() - before
assert place["expected"]["line"] == one.count(b"\\n"), place
"""


@pytest.mark.slow
def test_large_outputs_take_no_memory() -> None:
    """100 MB against 100 MB: what is allocated does not grow with them."""
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["float", "json"])
def test_nan_is_right_where_it_was_expected(name: str) -> None:
    assert compare_output(name, b"NaN\n", "NaN") is None
    assert compare_output(name, b"NaN\n", "1") is not None
    assert compare_output(name, b"1\n", "NaN") is not None


@pytest.mark.parametrize("got", ["1e999", "Infinity", "-1e999", "[1e400]", "1e308"])
def test_json_numbers_beyond_a_double_are_no_answer(got: str) -> None:
    for expected in ("Infinity", "-Infinity", "1e308", "1", '["Infinity"]'):
        found = compare_output("json", got.encode(), expected)
        assert (found is None) == (got == expected), (got, expected)
    with pytest.raises(ValueError, match="beyond what a double holds"):
        compare_output("json", b"1", "1e999")


def test_parameters_that_would_accept_everything() -> None:
    for text, why in (("abs=1e999", "finite"), ("rel=1", "below 1"), ("abs=1.2.3", "float takes")):
        with pytest.raises(ValueError, match=why):
            known_comparison(f"float({text})")
    assert known_comparison("float(rel=0., abs=.5e-3)").abs == 0.0005
