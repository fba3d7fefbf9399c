"""Comparing an answer with what was expected: names, parameters, the first difference.

Names are those of judges. A comparison is given as its name, with parameters in brackets where it
has any: ``"tokens"``, ``"float(rel=1e-6, abs=1e-9)"``. The comparing is the core's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from csandbox import _core
from csandbox._value import ValueLimits

_PARAMETER = re.compile(r"(rel|abs)=([0-9]*\.?[0-9]+|[0-9]+\.?)(e[+-]?[0-9]+)?")
_CALL = re.compile(r"([a-z_]+)(?:\((.*)\))?")
_NUMBERS: Final = {"rel": 1e-6, "abs": 1e-9}  # what most judges of real numbers use
#: Answers are bounded before; what the caller expects may be as large as it likes.
_BOUNDS: Final = ValueLimits(1 << 30, 1 << 27, 1000, 10**8).core()

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

_NUMERIC: Final = {"nan_equal": True, "numeric": True, "sets": True}
#: Names for values, and the core's options for them.
VALUE: Final[dict[str, dict[str, Any]]] = {
    # Nothing is forgiven: True is not 1, 1 is not 1.0, a list is not a tuple. nan equals nan.
    "exact": {"nan_equal": True},
    # As Python's ==, but True is still not 1.
    "numeric": _NUMERIC,
    # As numeric, and a list equals a tuple: JSON knows lists only.
    "sequence": {**_NUMERIC, "sequences": True},
    # As sequence, and real numbers within rel or abs.
    "float": {**_NUMERIC, "sequences": True},
}


@dataclass(frozen=True)
class Difference:
    """Where an answer first differs. The two sides are bounded, escaped excerpts; `where` names
    the place ("line 3, column 7", "$.groups[0]").
    """

    where: str
    got: str
    expected: str
    presentation: bool = False  # of output: only space differs

    def __str__(self) -> str:
        """For people who may see the expected value."""
        return f"{self.where}: got {self.got}, expected {self.expected}"


@dataclass(frozen=True)
class Comparison:
    """A comparison by name with its parameters."""

    name: str
    rel: float = 0.0
    abs: float = 0.0

    @property
    def tolerance(self) -> dict[str, float]:
        """The core's options for it."""
        return {"rel": self.rel, "abs": self.abs} if self.name == "float" else {}

    @property
    def text_options(self) -> dict[str, Any]:
        """The core's options for output: as for values, nan is right where nan was expected."""
        nan = {"nan_equal": True} if self.name in ("float", "json") else {}
        return {**self.tolerance, **nan}


@lru_cache(maxsize=64)
def known_comparison(text: str) -> Comparison:
    """Read a comparison; ValueError names those that exist."""
    if not isinstance(text, str):
        raise TypeError(f"compare must be the name of a comparison, not {type(text).__name__}")
    match = _CALL.fullmatch(text.strip())
    known = sorted({*TEXT, *VALUE})
    if match is None or match[1] not in known:
        raise ValueError(f"unknown comparison {text!r}; known: {', '.join(known)}")
    name, inside = match[1], match[2]
    if name != "float":
        if inside:
            raise ValueError(f"comparison {name!r} takes no parameters, not ({inside})")
        return Comparison(name)
    numbers = dict(_NUMBERS)
    for part in (inside or "").split(","):
        found = _PARAMETER.fullmatch(part.replace(" ", ""))
        if found is None:
            if part.strip():
                raise ValueError(f"float takes rel=… and abs=…, for example rel=1e-6; not {part!r}")
            continue
        numbers[found[1]] = float(found[2] + (found[3] or ""))
    if numbers["rel"] >= 1:
        raise ValueError("float: rel must be below 1; 1 would accept 0 for every number")
    if numbers["abs"] == float("inf"):
        raise ValueError("float: abs must be finite; an infinite one would accept every number")
    return Comparison(name, **numbers)


def _side(place: _core.TextPlace) -> str:
    return "nothing more" if place["at_end"] else f"'{place['text']}'"


def compare_output(compare: str, got: bytes, expected: str | bytes) -> Difference | None:
    """The first difference between what was printed and what was expected; None: equal.

    ValueError when `expected` is not what the comparison needs (no JSON, no yes or no).
    """
    wanted = expected.encode() if isinstance(expected, str) else expected
    comparison = known_comparison(compare)
    found = _core.compare_text(comparison.name, got, wanted, comparison.text_options)
    if found is None:
        return None
    place = found["got"]
    where = found["path"] or f"line {place['line']}, column {place['column']}"
    if not place["line"] and not found["path"]:
        where = "the output"
    more = f" ({found['what']})" if found["what"] else ""
    sides = _side(place), _side(found["expected"])
    return Difference(where + more, *sides, presentation=found["presentation"])


def compare_values(compare: str, got: Any, expected: Any) -> Difference | None:
    """The first difference between two plain values; None: equal."""
    comparison = known_comparison(compare)
    options = {**VALUE[comparison.name], **comparison.tolerance}
    found = _core.compare_value(got, expected, options, _BOUNDS)
    if found is None:
        return None
    sides = found["got"] or "nothing", found["expected"] or "nothing"
    where = found["path"] + ("" if found["reason"] == "value" else f" ({found['reason']})")
    return Difference(where, *sides)
