"""The second opinion by its two parts, timed where they can be: in this process, by solution.

What a run pays for it is the child's walk over the code objects and the caller's comparison with
what the parser saw; that the facts travel on the pipe of the handshake is part of every run
(`second` has it, by difference). The walk is the child's own C code, built here as a library.
"""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import csandbox
from bench.report import Figure, Section
from bench.second import program
from bench.solutions import programs
from bench.where import ROOT, _compiler
from csandbox import _core
from csandbox._check import guard_of

#: The most that the second opinion should take of one run of a solution.
GOAL_US = 30.0
REPEATS = 20


def library() -> Callable[[CodeType, int], tuple[bytes, float]]:
    """The walk as a function of (code, repeats): the packed facts, nanoseconds of one walk."""
    made = ROOT / "build" / "bench-walk.so"
    made.parent.mkdir(exist_ok=True)
    include = sysconfig.get_paths()["include"]
    sources = [Path(__file__).with_name("walk.c"), ROOT / "ext" / "child_facts.c"]
    flags = ["-std=gnu11", "-O2", "-shared", "-fPIC", "-D_GNU_SOURCE=", f"-I{include}"]
    flags += [f"-I{ROOT / 'ext'}", "-DPy_LIMITED_API=0x030A0000"]
    subprocess.run([*_compiler(), *flags, "-o", made, *sources], check=True)
    collect: Any = ctypes.PyDLL(str(made)).collect
    collect.argtypes = (ctypes.py_object, ctypes.c_long)
    collect.restype = ctypes.py_object
    found: Callable[[CodeType, int], tuple[bytes, float]] = collect
    return found


def _compare_us(checked: object, facts: bytes) -> float:
    began = time.thread_time_ns()
    for _ in range(REPEATS):
        if _core.compare(checked, facts):
            raise RuntimeError("the second opinion refuses a solution")
    return (time.thread_time_ns() - began) / REPEATS / 1e3


def walk(rounds: int, folder: Path | None) -> Section:
    """Each solution in turn, walked and compared, a number of rounds; the median of each."""
    guard = guard_of(csandbox.Profile.load("contest"))
    sources = [program(1)] if folder is None else [text.encode() for text in programs(folder)]
    collect = library()
    asked = []
    for source in sources:
        checked = _core.check(guard, source, "solution.py")["checked"]
        code = compile(source, "solution.py", "exec")
        asked.append((checked, code, collect(code, 1)[0]))
    walks: list[list[float]] = [[] for _ in asked]
    compares: list[list[float]] = [[] for _ in asked]
    for _ in range(rounds):
        for at, (checked, code, facts) in enumerate(asked):
            walks[at].append(collect(code, REPEATS)[1] / 1e3)
            compares[at].append(_compare_us(checked, facts))
    each = [
        (statistics.median(one), statistics.median(other))
        for one, other in zip(walks, compares, strict=True)
    ]
    both = sorted(sum(pair) for pair in each)
    what = "a solution like HumanEval's" if folder is None else f"{len(each)} HumanEval solutions"
    return Section(
        key="walk",
        title=f"the second opinion, by its parts, in microseconds of CPU: {what}",
        base="",
        figures=(
            Figure("walk over the code objects", statistics.median(a for a, _ in each), "us"),
            Figure("comparison in the caller", statistics.median(b for _, b in each), "us"),
            Figure("both, median solution", statistics.median(both), "us", most=GOAL_US),
            Figure("both, the longest solution", both[-1], "us"),
        ),
    )
