"""docs/explanation/what-the-guard-cannot-see.md: what passes the guard, the kernel stops."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import csandbox

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "what-the-guard-cannot-see.md"
BLOCKS = re.findall(r"^```python stopped\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)

#: One of each row of the first table, by its id: honest by itself, hence not refused.
SEEN_AS_HONEST = {
    "ann-dataclass-default": "import dataclasses\n@dataclasses.dataclass\nclass A:\n"
    "    x: int = dataclasses.field(default_factory=lambda: 1)\n",
    "ann-make-dataclass": "import dataclasses\n"
    "dataclasses.make_dataclass('A', [('a', int)], namespace={'q': print})\n",
    "chain-annotations": "def f(a: 1): pass\nprint(f.__annotations__)\n",
    "ex-cause": "try: raise ValueError from KeyError('k')\n"
    "except ValueError as z: print(z.__cause__)\n",
    "ex-star": "try: raise ExceptionGroup('g', [ValueError()])\n"
    "except* ValueError as z: print(z.exceptions[0].__class__)\n",
    "site-id": "print(id(0))\n",
    "site-input": "print(input())\n",
    "site-memoryview": "print(memoryview(bytearray(4)).cast('I')[0])\n",
}


def test_the_page_lists_what_passes() -> None:
    """`make acceptance` holds the page's list against the corpus."""
    listed = re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text("utf-8"), re.M)
    assert listed == list(SEEN_AS_HONEST)


@pytest.mark.parametrize("name", SEEN_AS_HONEST)
def test_what_is_honest_by_itself_passes(name: str) -> None:
    assert csandbox.check(SEEN_AS_HONEST[name], profile="minimal").ok


@pytest.mark.parametrize("source", BLOCKS)
def test_its_harm_is_stopped_without_the_guard(source: str) -> None:
    result = csandbox.run(source, profile="open")
    assert (result.verdict, result.stdout) == ("accepted", "stopped\n"), result
    assert not Path("/var/tmp/csandbox-cannot-see").exists()


def test_a_recursion_without_end_ends_in_a_verdict() -> None:
    source = "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f() + 1\nf()\n"
    result = csandbox.run(source, profile="open", limits={"cpu_s": 1.0})
    assert result.verdict in {"time_limit", "memory_limit", "runtime_error"}


def test_the_page_has_blocks() -> None:
    assert len(BLOCKS) == 5
