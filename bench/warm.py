"""A run in a warm pool, one at a time, against what a bare warm interpreter needs for the same."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import csandbox
from bench.bare import Bare
from bench.core import OUTPUT, SOURCE, Wrong, base_python, policy, request
from bench.measure import Cost, interleave, summary, timed
from bench.report import Figure, Section
from bench.rivals import rivals
from csandbox import _core
from csandbox._core_pool import WARM_MODULES
from csandbox._default_pool import pool_spec

PROFILE = "compute"
FLOOR = "bare fork+compile+exec+exit"
OURS = "pool.run"
#: So that a spare is ready when the measured call comes; not part of what is measured.
READY_S = 20.0
NUMPY = b"import numpy as np\nprint(np.arange(3).sum())"
NUMPY_OUTPUT = b"3\n"
TIMED_IMPORT = (
    "import time\nbegan = time.perf_counter()\nimport numpy\nprint(time.perf_counter() - began)"
)
#: Of the size and shape of a HumanEval task with its tests, and ours.
SOLUTIONS = [
    '''from typing import List


def running_extremes(numbers: List[int]) -> List[tuple]:
    """ For each prefix of the list: its smallest and its largest number.
    >>> running_extremes([3, 1, 2])
    [(3, 3), (1, 3), (1, 3)]
    """
    found = []
    low = high = None
    for number in numbers:
        low = number if low is None else min(low, number)
        high = number if high is None else max(high, number)
        found.append((low, high))
    return found


def check(candidate):
    assert candidate([]) == []
    assert candidate([1]) == [(1, 1)]
    assert candidate([3, 1, 2]) == [(3, 3), (1, 3), (1, 3)]
    assert candidate([1, 2, 3]) == [(1, 1), (1, 2), (1, 3)]
    assert candidate([-1, 5, -7, 5]) == [(-1, -1), (-1, 5), (-7, 5), (-7, 5)]


check(running_extremes)
''',
    '''import math


def smallest_factors(limit: int):
    """ The smallest prime factor of each number from 2 to limit.
    >>> smallest_factors(6)
    {2: 2, 3: 3, 4: 2, 5: 5, 6: 2}
    """
    found = {}
    for number in range(2, limit + 1):
        for factor in range(2, math.isqrt(number) + 1):
            if number % factor == 0:
                found[number] = factor
                break
        else:
            found[number] = number
    return found


def check(candidate):
    assert candidate(1) == {}
    assert candidate(6) == {2: 2, 3: 3, 4: 2, 5: 5, 6: 2}
    assert candidate(49)[49] == 7
    assert sum(1 for n, f in candidate(100).items() if n == f) == 25
    assert candidate(200)[187] == 11


check(smallest_factors)
''',
    '''def words_by_length(text: str) -> dict:
    """ The words of a text, sorted, by their length; punctuation does not count.
    >>> words_by_length("to be, or not")
    {2: ['be', 'or', 'to'], 3: ['not']}
    """
    cleaned = "".join(c if c.isalnum() else " " for c in text.lower())
    found = {}
    for word in sorted(set(cleaned.split())):
        found.setdefault(len(word), []).append(word)
    return dict(sorted(found.items()))


def check(candidate):
    assert candidate("") == {}
    assert candidate("to be, or not") == {2: ["be", "or", "to"], 3: ["not"]}
    assert candidate("A a. A!") == {1: ["a"]}
    assert candidate("one two; three") == {3: ["one", "two"], 5: ["three"]}
    assert candidate("x1 y22-z") == {1: ["z"], 2: ["x1"], 3: ["y22"]}


check(words_by_length)
''',
]


def programs(data: Path | None, most: int = 40) -> list[bytes]:
    """HumanEval's own with their tests when `data` has them, else ours."""
    path = None if data is None else data / "datasets" / "humaneval.jsonl.gz"
    if path is None or not path.is_file():
        return [text.encode() for text in SOLUTIONS]
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = [
        f"{row['prompt']}{row['canonical_solution']}{row['test']}\ncheck({row['entry_point']})\n"
        for row in rows
        if "test" in row
    ] or SOLUTIONS
    return [text.encode() for text in texts[:: max(1, len(texts) // most)]]


def expect(printed: bytes, output: bytes) -> None:
    """Raise Wrong unless the program printed what it should."""
    if printed != output:
        raise Wrong(f"printed {printed!r}, not {output!r}")


def from_pool(pool: csandbox.Pool, source: bytes, output: bytes) -> Callable[[], Cost]:
    """A candidate: the public face, guard and all, with a spare ready."""

    def work() -> None:
        result = pool.run(source)
        if not result.ok:
            raise Wrong(f"{result!r}: {result.stderr} {result.error}")
        expect(result.stdout_bytes, output)

    def measure() -> Cost:
        pool.wait_ready(READY_S)
        return timed(work)

    return measure


@contextmanager
def core_pool() -> Iterator[tuple[Callable[[], Cost], Callable[[], object]]]:
    """A candidate: the core alone, without guard and face; and how to wait until it is at rest."""
    profile = csandbox.Profile.load(PROFILE)
    pool = _core.Pool(policy(PROFILE), pool_spec(profile, workers=1, spares=2))
    asked = request(PROFILE)

    def work() -> None:
        data = pool.run(asked)
        if data["verdict"] != "accepted":
            raise Wrong(f"{data['verdict']}: {data['stderr']!r} {data['error']}")
        expect(data["stdout"], OUTPUT)

    def measure() -> Cost:
        pool.wait_ready(READY_S)
        return timed(work)

    try:
        yield measure, lambda: pool.wait_ready(READY_S)
    finally:
        pool.close()


@contextmanager
def bare() -> Iterator[Bare]:
    """A bare interpreter with the modules that a zygote has."""
    server = Bare(base_python(), list(WARM_MODULES))
    try:
        yield server
    finally:
        server.close()


def from_bare(server: Bare, source: bytes, output: bytes) -> Callable[[], Cost]:
    """A candidate: fork, compile, execute, exit."""
    return lambda: timed(lambda: expect(server.run(source), output))


def _isolated() -> Cost:
    def work() -> None:
        done = subprocess.run(
            [base_python(), "-I", "-c", SOURCE.decode()], capture_output=True, check=True
        )
        expect(done.stdout, OUTPUT)

    return timed(work)


def _fresh() -> Cost:
    def work() -> None:
        expect(csandbox.run(SOURCE, profile=PROFILE, fresh=True).stdout_bytes, OUTPUT)

    return timed(work)


def warm(rounds: int) -> Section:
    """`pool.run("print(1)")` with a spare ready, against the floor and Monty."""
    with (
        csandbox.Pool(PROFILE) as pool,
        core_pool() as (core, rested),
        bare() as server,
        rivals() as found,
    ):
        quick = {name: found.measure[name] for name in ("monty",) if name in found.measure}
        samples = interleave(
            {
                FLOOR: from_bare(server, SOURCE, OUTPUT),
                OURS: from_pool(pool, SOURCE, OUTPUT),
                "core alone (no guard, no face)": core,
                **quick,
            },
            rounds,
            before=lambda: (pool.wait_ready(READY_S), rested()),
        )
    ours = summary(samples[OURS])
    figures = [Figure("p99 of pool.run by its p50", ours["p99_ms"] / ours["p50_ms"], "x", 3.0)]
    if "monty" in samples:
        theirs = summary(samples["monty"])["p50_ms"]
        figures.append(Figure("p50 of pool.run by Monty's", ours["p50_ms"] / theirs, "x", 1.0))
    return Section(
        key="warm",
        title="warm run of print(1), one at a time, a spare ready",
        base=FLOOR,
        samples=samples,
        goals={OURS: (0.0, 0.4)},
        figures=figures,
        notes=found.notes,
        cpu=False,
    )


def peers(rounds: int) -> Section:
    """The same run in whatever else people use for it; slow ones and all."""
    with csandbox.Pool(PROFILE) as pool, bare() as server, rivals() as found:
        samples = interleave(
            {
                FLOOR: from_bare(server, SOURCE, OUTPUT),
                OURS: from_pool(pool, SOURCE, OUTPUT),
                "csandbox.run, fresh": _fresh,
                "python3 -I -c": _isolated,
                **found.measure,
            },
            rounds,
            before=lambda: pool.wait_ready(READY_S),
        )
    return Section(
        key="peers",
        title="print(1) in whatever else people use; caches are as the others leave them",
        base=FLOOR,
        samples=samples,
        notes=found.notes,
        cpu=False,
    )


def solution(rounds: int, data: Path | None) -> Section:
    """A solution with its tests, in the profile made for them."""
    texts = programs(data)
    with csandbox.Pool("contest") as pool, bare() as server:
        calls = {
            FLOOR: [from_bare(server, text, b"") for text in texts],
            OURS: [from_pool(pool, text, b"") for text in texts],
        }
        turn = dict.fromkeys(calls, 0)

        def next_of(name: str) -> Cost:
            turn[name] += 1
            return calls[name][turn[name] % len(texts)]()

        samples = interleave(
            {name: lambda name=name: next_of(name) for name in calls},
            rounds,
            before=lambda: pool.wait_ready(READY_S),
        )
    return Section(
        key="warm_solution",
        title=f"a solution with its tests, {len(texts)} in turn",
        base=FLOOR,
        samples=samples,
        goals={OURS: (0.0, 1.3)},
        notes=(f"{sum(map(len, texts)) // len(texts)} bytes each.",),
        cpu=False,
    )


def preloaded(rounds: int) -> Section:
    """`import numpy` where the zygote has it already."""
    title = "with numpy preloaded: a small numpy program against print(1)"
    if find_spec("numpy") is None:
        return Section("preloaded", title, "print(1)", skipped="numpy is not installed")
    with csandbox.Pool(PROFILE, preload=["numpy"]) as pool:
        samples = interleave(
            {
                "print(1)": from_pool(pool, SOURCE, OUTPUT),
                "numpy": from_pool(pool, NUMPY, NUMPY_OUTPUT),
            },
            rounds,
        )
        imports = sorted(float(pool.run(TIMED_IMPORT).stdout) for _ in range(20))
    return Section(
        key="preloaded",
        title=title,
        base="print(1)",
        samples=samples,
        goals={"numpy": (0.0, 1.5)},
        figures=[Figure("import numpy, in the child", imports[10] * 1e6, "us", 50.0)],
        cpu=False,
    )
