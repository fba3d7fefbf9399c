"""Comparing an answer with what was expected: names, parameters, the first difference.

Names are those of judges. A comparison is given as its name, with parameters in brackets where it
has any: ``"tokens"``, ``"float(rel=1e-6, abs=1e-9)"``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from csandbox._compare_text import TEXT, first_difference
from csandbox._compare_value import VALUE, different_at

_PARAMETER = re.compile(r"(rel|abs)=([0-9.]+(?:e[+-]?[0-9]+)?)")
_CALL = re.compile(r"([a-z_]+)(?:\((.*)\))?")
_NUMBERS: Final = {"rel": 1e-6, "abs": 1e-9}  # what most judges of real numbers use
_SHOWN = 200


@dataclass(frozen=True)
class Difference:
    """Where an answer first differs. The two sides are bounded excerpts; `where` names the place
    ("line 3, column 7", "$.groups[0]").
    """

    where: str
    got: str
    expected: str

    def __str__(self) -> str:
        """For people who may see the expected value."""
        return f"{self.where}: got {self.got}, expected {self.expected}"


@dataclass(frozen=True)
class Comparison:
    """A comparison by name with its parameters."""

    name: str
    rel: float = 0.0
    abs: float = 0.0


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
        numbers[found[1]] = float(found[2])
    if numbers["rel"] >= 1:
        raise ValueError("float: rel must be below 1; 1 would accept 0 for every number")
    return Comparison(name, **numbers)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an int with more digits than CPython prints
        text = f"a {type(value).__name__} that is too large to show"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def compare_output(compare: str, got: bytes, expected: str | bytes) -> Difference | None:
    """The first difference between what was printed and what was expected; None: equal."""
    wanted = expected.encode() if isinstance(expected, str) else expected
    comparison = known_comparison(compare)
    if comparison.name not in TEXT:
        raise ValueError(f"comparison {comparison.name!r} is for values, not for output")
    found = first_difference(comparison.name, comparison.rel, comparison.abs, got, wanted)
    return None if found is None else Difference(found[0], _shown(found[1]), _shown(found[2]))


def compare_values(compare: str, got: Any, expected: Any) -> Difference | None:
    """The first difference between two plain values; None: equal."""
    comparison = known_comparison(compare)
    if comparison.name not in VALUE:
        raise ValueError(f"comparison {comparison.name!r} is for output, not for values")
    found = different_at(comparison.name, comparison.rel, comparison.abs, got, expected)
    return None if found is None else Difference(found[0], _shown(found[1]), _shown(found[2]))
