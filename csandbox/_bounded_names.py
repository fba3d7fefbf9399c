"""What expressions of tests may name: functions, methods and modules that only compute on data.

Nothing here opens, imports, formats by a template, or reaches an object's attributes; what could
grow without bound from small arguments is left out or bounded in `_bounded_eval`.
"""

from __future__ import annotations

import copy
import itertools
import math
import random
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

MOST_ITEMS: Final = 1_000_000
MOST_BITS: Final = 400_000  # of an int, some 120,000 digits
_MOST_FACTORIAL = 5_000


class NotEvaluable(Exception):
    """The text asks for something that the bounded evaluator does not do; the message says what."""


def bounded(items: Iterable[Any]) -> Iterator[Any]:
    """The items, and NotEvaluable after a million; one that is a long tuple counts for more."""
    left = MOST_ITEMS
    for item in items:
        left -= 1 + (len(item) // 8 if isinstance(item, tuple) else 0)
        if left < 0:
            raise NotEvaluable(f"more than {MOST_ITEMS} items")
        yield item


def _taking_lists(function: Callable[..., Any]) -> Callable[..., list[Any]]:
    def listed(*arguments: Any, **keywords: Any) -> list[Any]:
        return list(bounded(function(*arguments, **keywords)))

    return listed


def _range(*bounds: int) -> range:
    made = range(*bounds)
    try:
        small = len(made) <= MOST_ITEMS
    except OverflowError:
        small = False
    if not small:
        raise NotEvaluable(f"a range of more than {MOST_ITEMS} numbers")
    return made


def _small(function: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*numbers: int) -> Any:
        if any(abs(number) > _MOST_FACTORIAL for number in numbers):
            raise NotEvaluable(f"{function.__name__} of a number above {_MOST_FACTORIAL}")
        return function(*numbers)

    return checked


def _sum(items: Iterable[Any], start: Any = 0) -> Any:
    if not isinstance(start, (int, float, complex)):
        raise NotEvaluable("sum() of what are no numbers")  # it copies all of them again and again
    return sum(items, start)


def _product(function: Callable[..., Any]) -> Callable[..., Any]:
    """For prod and lcm, whose results are as long as all their arguments together."""

    def checked(*numbers: Any, **start: Any) -> Any:
        listed = list(bounded(numbers[0])) if function is math.prod else list(numbers)
        if sum(n.bit_length() for n in listed if isinstance(n, int)) > MOST_BITS:
            raise NotEvaluable(f"{function.__name__} of numbers that are too large together")
        return function(listed, **start) if function is math.prod else function(*listed)

    return checked


def counter(items: Iterable[Any] = ()) -> dict[Any, int]:
    """``collections.Counter`` as a dict."""
    counts: dict[Any, int] = {}
    for item in bounded(items):
        counts[item] = counts.get(item, 0) + 1
    return counts


#: Calls of print in a test say nothing about the submission.
def _print(*_values: Any, **_options: Any) -> None:
    return None


BUILTINS: Final[Mapping[str, Any]] = {
    "abs": abs, "all": all, "any": any, "bin": bin, "bool": bool, "chr": chr, "complex": complex,
    "dict": dict, "divmod": divmod, "enumerate": _taking_lists(enumerate),
    "filter": _taking_lists(filter), "float": float, "frozenset": frozenset, "hex": hex, "int": int,
    "isinstance": isinstance, "len": len, "list": list, "map": _taking_lists(map), "max": max,
    "min": min, "oct": oct, "ord": ord, "print": _print, "range": _range, "repr": repr,
    "reversed": _taking_lists(reversed), "round": round, "set": set, "sorted": sorted, "str": str,
    "sum": _sum, "tuple": tuple, "type": type, "zip": _taking_lists(zip),
}  # fmt: skip

_MATH = {
    name: getattr(math, name)
    for name in [
        "acos",
        "asin",
        "atan",
        "atan2",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "degrees",
        "dist",
        "e",
        "exp",
        "fabs",
        "floor",
        "fmod",
        "frexp",
        "fsum",
        "gcd",
        "hypot",
        "inf",
        "isclose",
        "isfinite",
        "isinf",
        "isnan",
        "isqrt",
        "lcm",
        "ldexp",
        "log",
        "log10",
        "log1p",
        "log2",
        "modf",
        "nan",
        "pi",
        "pow",
        "prod",
        "radians",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "tau",
        "trunc",
    ]
}
_MATH |= {name: _product(getattr(math, name)) for name in ("prod", "lcm")}
_MATH |= {name: _small(getattr(math, name)) for name in ("factorial", "comb", "perm")}

_RANDOM = (
    "random", "randint", "randrange", "choice", "choices", "sample", "shuffle", "uniform", "gauss",
    "seed", "getrandbits",
)  # fmt: skip


def modules(source_of_chance: random.Random) -> dict[str, Mapping[str, Any]]:
    """The modules that a test's text may import, by name; chance is the caller's seed."""
    return {
        "math": _MATH,
        "copy": {"copy": copy.copy, "deepcopy": copy.deepcopy},
        "collections": {"Counter": counter},
        "itertools": {
            name: _taking_lists(getattr(itertools, name))
            for name in ("chain", "combinations", "permutations", "product", "zip_longest")
        },
        "random": {
            **{name: getattr(source_of_chance, name) for name in _RANDOM},
            "Random": random.Random,
        },
        "string": {
            name: getattr(string, name)
            for name in [
                "ascii_letters",
                "ascii_lowercase",
                "ascii_uppercase",
                "digits",
                "hexdigits",
                "octdigits",
                "punctuation",
                "printable",
                "whitespace",
            ]
        },
        "typing": dict.fromkeys(("Any", "Dict", "List", "Optional", "Set", "Tuple"), object),
    }


_STR = (
    "capitalize casefold count endswith find index isalnum isalpha isascii isdecimal isdigit "
    "islower isnumeric isspace istitle isupper join lower lstrip partition removeprefix "
    "removesuffix replace rfind rindex rpartition rsplit rstrip split splitlines startswith strip "
    "swapcase title upper"
)
_SET = "difference intersection isdisjoint issubset issuperset symmetric_difference union copy"

#: Methods by exact type; anything else has none.
METHODS: Final[Mapping[type, frozenset[str]]] = {
    str: frozenset(_STR.split()),
    bytes: frozenset(
        [
            "count",
            "decode",
            "endswith",
            "find",
            "hex",
            "index",
            "join",
            "split",
            "startswith",
            "strip",
        ]
    ),
    list: frozenset(
        [
            "append",
            "clear",
            "copy",
            "count",
            "extend",
            "index",
            "insert",
            "pop",
            "remove",
            "reverse",
            "sort",
        ]
    ),
    tuple: frozenset(("count", "index")),
    dict: frozenset(["copy", "get", "items", "keys", "pop", "setdefault", "update", "values"]),
    set: frozenset([*_SET.split(), "add", "discard", "remove", "update"]),
    frozenset: frozenset(_SET.split()),
    int: frozenset(("bit_length", "bit_count")),
    float: frozenset(("is_integer",)),
    random.Random: frozenset(_RANDOM),
}
