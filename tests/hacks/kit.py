"""The kit's files: one technique each, with a twin that looks alike and is right.

A file has a head of ``# key: value`` lines and sections ``=== name``: ``hack`` and ``honest``, each
defining ``solve``; ``hack stdio`` and ``honest stdio`` where the program must differ from that with
a main program after it; ``tests`` (``arguments -> expected``) and ``asserts`` where the usual task
does not fit. In the head, ``isolation`` and ``limits`` are those of `grade`, ``compare`` is for the
programs, and ``nothing passes`` says that not one of its tests may.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import csandbox
from csandbox import Call, CallTest, CheckerTest, StdioTest, load_asserts

FOLDER = Path(__file__).parent
MODES = ("stdio", "call", "assert", "checker")
#: A checker that is source, run in a child of its own on what the submission gave.
CHECKER = """
def check(stdin, stdout, value, expected):
    return type(value) is type(expected) and repr(value) == repr(expected)
"""
#: Squares of the even numbers less the count of the odd ones. No answer is 0, None or the input.
USUAL: tuple[tuple[list[Any], Any], ...] = (
    ([[1, 2, 3, 4]], 18),
    ([[10]], 100),
    ([[7, 7, 7]], -3),
    ([[2, -2, 5, 6]], 43),
    ([[10, 1]], 99),
    ([[2, 1, 1, 1]], 1),
)
MAIN = """

if __name__ == "__main__":
    import sys
    value = solve([int(word) for word in sys.stdin.read().split()])
    print("\\n".join(map(str, value)) if isinstance(value, list) else value)
"""


@dataclass(frozen=True)
class Technique:
    name: str
    head: dict[str, str]
    sections: dict[str, str]

    def source(self, which: str, mode: str) -> str:
        """The program of "hack" or "honest" for a mode."""
        if mode != "stdio":
            return self.sections[which]
        return self.sections.get(f"{which} stdio", self.sections[which] + MAIN)

    @property
    def cases(self) -> list[tuple[list[Any], Any]]:
        if "tests" not in self.sections:
            return [(list(args), value) for args, value in USUAL]
        pairs = [line.split(" -> ") for line in self.sections["tests"].splitlines() if line]
        return [(list(ast.literal_eval(a)), ast.literal_eval(b)) for a, b in pairs]

    @property
    def limits(self) -> csandbox.Limits:
        key, _, value = self.head.get("limits", "cpu_s=2").partition("=")
        # Verdicts here are about CPU time; the clock is for programs that sleep.
        more = {"wall_s": 60.0, "memory_bytes": 128 * csandbox.MiB}
        return csandbox.Limits(**{key: float(value)}, **more)  # type: ignore[arg-type]

    def tests(self, mode: str) -> list[Any]:
        if mode == "stdio":
            compare = self.head.get("compare")
            return [_stdio(args[0], value, compare) for args, value in self.cases]
        if mode == "checker":
            return [
                CheckerTest(CHECKER, call=Call("solve", args), expected=value)
                for args, value in self.cases
            ]
        if mode == "call":
            return [CallTest("solve", args, value) for args, value in self.cases]
        loaded = load_asserts(self.asserts, "solve", aliases=("candidate",))
        assert loaded.whole, loaded.unconverted
        return list(loaded.tests)

    @property
    def asserts(self) -> str:
        """The same tests as data sets write them."""
        if "asserts" in self.sections:
            return self.sections["asserts"]
        lines = ["import math"]
        for number, (args, value) in enumerate(self.cases):
            call = f"candidate({', '.join(map(repr, args))})"
            if isinstance(value, bool):
                lines.append(f"assert {call} is {value}")
            elif isinstance(value, int):
                forms = (
                    f"assert {call} == {value}",
                    f"assert abs({call} - {value}) < 1e-6",
                    f"assert math.isclose({call}, {value})",
                    f"assert {call} in ({value},)",
                )
                lines.append(forms[number % len(forms)])
            elif isinstance(value, list):
                lines.append(f"assert sorted({call}) == {sorted(value)!r}")
                lines.append(f"assert {call} == {value!r}")
            else:
                lines.append(f"assert {call} == {value!r}")
        return "\n".join(lines)


def _stdio(numbers: list[int], value: Any, compare: str | None) -> StdioTest:
    expected = "\n".join(map(str, value)) if isinstance(value, list) else str(value)
    return StdioTest(" ".join(map(str, numbers)), expected + "\n", compare=compare)


@cache
def techniques() -> tuple[Technique, ...]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        head_text, *rest = re.split(r"^=== (.+)\n", path.read_text(), flags=re.MULTILINE)
        head = dict(re.findall(r"^# ([a-z ]+): (.*)$", head_text, re.MULTILINE))
        sections = dict(zip(rest[::2], rest[1::2], strict=True))
        found.append(Technique(path.stem, head, sections))
    return tuple(found)


#: What most reward code looks like: submission, tests, comparison and verdict in one interpreter.
#: The run is "passed" when the process exits with 0.
PLAIN_GRADER = """
import ast

def grade(source, inputs, outputs):
    namespace = {"__name__": "submission"}
    exec(compile(source, "submission.py", "exec"), namespace)
    results = []
    for args, expected in zip(inputs, outputs):
        out = namespace["solve"](*args)
        if out != expected:
            raise AssertionError(args)
        results.append("passed")
    assert all(result == "passed" for result in results)

tests = ast.literal_eval(open("tests.txt").read())
grade(open("submission.txt").read(), [t[0] for t in tests], [t[1] for t in tests])
"""


def plain_verdict(technique: Technique, which: str) -> str:
    """What the plain grader says; the whole of it runs in a confined child."""
    text = repr([(tuple(args), value) for args, value in technique.cases])
    result = csandbox.run(
        PLAIN_GRADER,
        files={"submission.txt": technique.source(which, "call"), "tests.txt": text},
        profile="open",
        limits=csandbox.Limits(cpu_s=10, wall_s=120, memory_bytes=128 * csandbox.MiB),
    )
    return "accepted" if result.exit_code == 0 else "refused"
