"""What the second opinion adds to a run: collecting names in the child, asking, comparing.

Its parts are some microseconds and a run is some ten thousand, so one run cannot show them. They
are measured over a source of many solutions, with and without the opinion, in turns; what is left
when both are subtracted is shared out among the solutions. The fixed part, one question and one
answer through a pipe, is the difference of the same two runs of a single solution.
"""

from __future__ import annotations

import statistics
import struct
import time
from typing import Any

import csandbox
from bench.core import Wrong, policy, request
from bench.measure import Cost, Samples, interleave, timed
from bench.report import Section
from csandbox import _core
from csandbox._check import guard_config

COPIES = 200
#: The most that the opinion should take of one run of a solution.
GOAL_US = 30.0
#: Of the size of the solutions that people send: some 450 bytes, a helper, two loops.
SOLUTION = '''
from typing import List

def separate_groups_{n}(text: str) -> List[str]:
    """Balanced groups of parentheses of `text`, each as a string of its own."""
    result, current, depth = [], [], 0
    for char in text:
        if char == "(":
            depth += 1
            current.append(char)
        elif char == ")":
            depth -= 1
            current.append(char)
            if depth == 0:
                result.append("".join(current))
                current.clear()
    return result
'''
FACT_NAME = 1


def program(copies: int) -> bytes:
    """So many solutions, and one call."""
    text = "".join(SOLUTION.replace("{n}", str(n)) for n in range(copies))
    return (text + "\nprint(len(separate_groups_0('(()) ()')))\n").encode()


def run_of(
    confinement: _core.Policy, guard: _core.Guard, asked: dict[str, Any], both: bool
) -> Cost:
    """One run; the check that comes before it is not timed."""
    checked = _core.check(guard, asked["source"], "submission.py")["checked"]
    wanted = {**asked, "checked": checked if both else None}

    def work() -> None:
        data = _core.run(confinement, wanted)
        if data["verdict"] != "accepted" or data["stdout"] != b"2\n":
            raise Wrong(f"{data['verdict']}: {data['stderr'].decode(errors='replace')}")

    return timed(work)


def compare_us(guard: _core.Guard, repeats: int) -> float:
    """Microseconds of one comparison in the caller, with as many names as a solution has."""
    source = program(1)
    names = ["List", "append", "clear", "join", "len", "print", "result", "char", "depth"] * 3
    facts = b"".join(struct.pack("=II", FACT_NAME, len(n)) + n.encode() for n in names)
    spent = []
    for _ in range(repeats):
        checked = _core.check(guard, source, "submission.py")["checked"]
        began = time.perf_counter()
        found = _core.compare(checked, facts)
        spent.append(time.perf_counter() - began)
        if found:
            raise Wrong(f"the second opinion refuses the program of this measurement: {found}")
    return statistics.median(spent) * 1e6


def added_us(samples: Samples, what: str, copies: int) -> float:
    """Median over the rounds of what the opinion added to each solution, in microseconds of CPU.

    Of CPU time, child included: on a busy machine the wall clock differs by more than all of it.
    """
    both, one = samples[f"{what}, both opinions"], samples[f"{what}, one"]
    pairs = zip(both, one, strict=True)
    return statistics.median(a.cpu_s - b.cpu_s for a, b in pairs) / copies * 1e6


def second(rounds: int) -> Section:
    """Runs with and without the second opinion, in turns."""
    confinement = policy("contest")
    guard = _core.Guard(guard_config(csandbox.Profile.load("contest")))
    single = {**request("contest"), "source": program(1)}
    many = {**request("contest"), "source": program(COPIES)}
    samples = interleave(
        {
            "1 solution, one": lambda: run_of(confinement, guard, single, False),
            "1 solution, both opinions": lambda: run_of(confinement, guard, single, True),
            f"{COPIES} solutions, one": lambda: run_of(confinement, guard, many, False),
            f"{COPIES} solutions, both opinions": lambda: run_of(confinement, guard, many, True),
        },
        rounds,
    )
    each = added_us(samples, f"{COPIES} solutions", COPIES)
    whole = added_us(samples, "1 solution", 1)
    return Section(
        key="second",
        title=f"the second opinion: {len(program(1))} bytes a solution",
        base="1 solution, one",
        samples=samples,
        notes=(
            f"Collecting and comparing: {each:.1f} us of CPU a solution (goal ≤ {GOAL_US:g}: "
            f"{'met' if each <= GOAL_US else 'MISSED'}), of it the comparison in the caller "
            f"{compare_us(guard, 200):.1f} us; with question and answer {whole:.0f} us a run.",
        ),
    )
