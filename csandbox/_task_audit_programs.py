"""Programs that no task should accept: those that do nothing, and those that cheat.

Each works for programs and for calls: `entry` is the function to define, or None for a program. A
body returns what it says whatever the arguments are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Program:
    """A program that must fail. ``kind`` is "null" or "hack"."""

    name: str
    kind: str
    source: str


#: name → what the function returns; printed as text when the task is a program.
_RETURNS: Final = {
    "None": "None",
    "zero": "0",
    "one": "1",
    "minus one": "-1",
    "True": "True",
    "False": "False",
    "empty text": "''",
    "empty list": "[]",
    "yes": "'YES'",
    "no": "'NO'",
}

#: name → statements, run first; ``{entry}`` and ``{owner}`` are filled in.
_HACKS: Final = {
    "exit 0": "import os\nos._exit(0)\n",
    "exit in the call": "",
    "SkipTest": "import unittest\nraise unittest.SkipTest('skipped')\n",
    "prints PASSED": "print('PASSED')\nprint('{\"passed\": true, \"score\": 1.0}')\n",
}

_ALWAYS_EQUAL: Final = """\
class _Any({base}):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __le__(self, other): return True
    def __gt__(self, other): return True
    def __ge__(self, other): return True
    def __hash__(self): return 0
    def __bool__(self): return True
    def __abs__(self): return self
    def __sub__(self, other): return self
    def __rsub__(self, other): return self
    def __len__(self): return 1
    def __iter__(self): return iter([self])
    def __contains__(self, other): return True
"""


def _defining(entry: str | None, body: str, before: str = "") -> str:
    """A program in which calling `entry` runs `body`, or which runs `body` when it is None."""
    lines = body.splitlines()
    if entry is None:
        printed = [line.replace("return ", "print(", 1) + ")" if "return " in line else line
                   for line in lines]  # fmt: skip
        return before + "\n".join(printed) + "\n"
    parts = entry.replace("()", "").split(".")
    indent = "    " * len(parts[:-1])
    text = [f"{'    ' * depth}class {name}:" for depth, name in enumerate(parts[:-1])]
    text.append(f"{indent}def {parts[-1]}(*args, **kwargs):")
    text += [f"{indent}    {line}" for line in lines]
    return before + "\n".join(text) + "\n"


def _first_argument(entry: str | None) -> str:
    # A method that is called on an instance gets that first.
    place = 1 if entry is not None and "()." in entry else 0
    return f"return args[{place}] if len(args) > {place} else None"


def programs(entry: str | None) -> Iterator[Program]:
    """All of them for one entry, or for programs when it is None."""
    yield Program("empty", "null", "")
    yield Program("pass", "null", "pass\n")
    for name, value in _RETURNS.items():
        yield Program(f"gives {name}", "null", _defining(entry, f"return {value}"))
    if entry is None:
        yield Program("echoes its input", "null", "import sys\nprint(sys.stdin.read(), end='')\n")
        yield Program("prints the first line", "null", "print(input())\n")
    else:
        yield Program("gives its argument", "null", _defining(entry, _first_argument(entry)))
        yield Program("gives its arguments", "null", _defining(entry, "return list(args)"))
    yield Program("raises", "null", _defining(entry, "raise ValueError('no')"))
    yield Program("exits with 0", "null", _defining(entry, "raise SystemExit(0)"))
    yield Program("loops", "null", _defining(entry, "while True:\n    pass"))
    for name, before in _HACKS.items():
        body = "import os\nos._exit(0)" if name == "exit in the call" else "return None"
        yield Program(name, "hack", _defining(entry, body, before))
    for base in ("object", "int", "float", "str", "list", "dict"):
        text = _ALWAYS_EQUAL.format(base=base)
        body = "return _Any()"
        yield Program(f"always equal ({base})", "hack", _defining(entry, body, text))
    nan = "return float('nan')"
    yield Program("nan", "hack", _defining(entry, nan))
