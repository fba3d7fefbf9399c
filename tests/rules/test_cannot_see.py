"""docs/explanation/what-the-guard-cannot-see.md: what passes the guard, the kernel stops."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import csandbox

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "what-the-guard-cannot-see.md"
BLOCKS = re.findall(r"^```python stopped\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)

#: One of each row of the first table: honest by itself, hence not refused.
SEEN_AS_HONEST = [
    "import dataclasses\n@dataclasses.dataclass\nclass A:\n"
    "    x: int = dataclasses.field(default_factory=lambda: 1)\n",
    "import dataclasses\ndataclasses.make_dataclass('A', [('a', int)], namespace={'q': print})\n",
    "import collections\ncollections.namedtuple('T', 'a b', module='os')\n",
    "def f(a: 1): pass\nprint(f.__annotations__)\n",
    "try: raise ValueError from KeyError('k')\nexcept ValueError as z: print(z.__cause__)\n",
    "print(id(0), repr(object()))\n",
    "print(memoryview(bytearray(4)).cast('I')[0])\n",
]


@pytest.mark.parametrize("source", SEEN_AS_HONEST)
def test_what_is_honest_by_itself_passes(source: str) -> None:
    assert csandbox.check(source, profile="minimal").ok


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
