"""Seeds for fuzz_value.c: encodings of small values, pairs of them, JSON and printed text.

Usage: value_seeds.py FOLDER
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from csandbox import _core

LIMITS: _core.ValueLimits = {"bytes": 1 << 20, "items": 1 << 16, "depth": 100, "int_digits": 1000}
VALUES = [
    *(None, True, 0, -1, 1 << 70, -(1 << 70), 0.5, float("nan"), 1.0, 2.0**80, 1j, "", "a\0é"),
    *(
        "\ud800",
        b"xyz",
        [],
        [1, 2.0, [True]],
        (),
        (1, (2,)),
        {1, "a", (2, b"")},
        {"a": {"b": [{}]}},
    ),
    *(frozenset({frozenset(), 1}), {(1, 2): {3.5: None}, b"k": {1, 2, 3}}),
]
TEXTS = [
    *(
        b"1 2 3\n4.5e-3 nan\n",
        b"YES\nno\n",
        b"a  \n\nb\n\n",
        b'{"a": [1, -2.5e3, "\\ud83d\\ude00"]}',
    ),
    *(b"[NaN, -Infinity, 123456789012345678901234567890]", b"\xff\xfe \xc3\xa9\n"),
]


def main() -> None:
    """Write one file a seed."""
    folder = Path(sys.argv[1])
    encoded = [_core.encode(value, LIMITS) for value in VALUES]
    pairs = [(one, two) for one, two in itertools.product(encoded, repeat=2) if one and two]
    pairs += list(itertools.product(TEXTS, repeat=2))
    for number, (one, two) in enumerate(pairs):
        split = len(one) * 255 // (len(one) + len(two)) + 1
        data = bytes([number % 32, min(split, 255)]) + one + two
        (folder / f"{number:04}").write_bytes(data)


if __name__ == "__main__":
    main()
