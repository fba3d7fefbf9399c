"""agrade(isolation="submission"): executed once, each call in a branch, without a Python thread."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import csandbox
from csandbox import Call, CallTest, CheckerTest, GradeReport, PropertyTest, StdioTest
from csandbox._flight import Flight
from csandbox._grade import Plan
from tests.api.test_grade_async import BAD, GOOD, KINDS, LIMITS, SLEEPS, TESTS, judged
from tests.conftest import descriptors, scratch

#: Executing it takes long, and is seen in what a call gets: it can be executed once only.
LOADED = "import random\nloaded = random.random()\ndef f(x):\n    return loaded\n"
SAME = PropertyTest((Call("f", [1]), Call("f", [2])), "values[0] == values[1]")

#: (source, tests, options), besides those of the other page, with branches.
MORE: list[tuple[str, list[Any], dict[str, Any]]] = [
    (LOADED, [SAME], {}),
    (BAD, TESTS, {"stop": "never", "feedback": "full"}),
    ("print('hello')\ndef f(x):\n    print(x)\n    return -x\n", TESTS, {"feedback": "full"}),
    ("def f(x):\n    return float(x) + 0.01\n", TESTS, {"compare": "numeric"}),
    ("def f(x):\n    return float(x) + 0.01\n", TESTS, {"compare": "float(abs=0.1)"}),
    (GOOD, [CallTest("f", [(1, 2)], [1, 2])], {"compare": "sequence"}),
    (GOOD + "print(input())\n", [*TESTS, StdioTest("a", "a")], {"stop": "never"}),
    ("import os\ndef f(x):\n    os._exit(0)\n", TESTS, {"profile": "open", "stop": "never"}),
    ("import os\nos._exit(0)\n", TESTS, {"profile": "open"}),
    ("1 / 0\n", TESTS, {"feedback": "full"}),
    ("def f(x):\n    return [][x]\n", TESTS, {"stop": "never"}),
    # not to be branched: a file is open
    ("file = open('x', 'w')\ndef f(x):\n    return x\n", TESTS, {"profile": "compute"}),
    ("n = 0\ndef f(x):\n    global n\n    n += 1\n    return n\n",
     [CallTest("f", [0], 1), CallTest("f", [1], 1, hidden=True)], {}),
]  # fmt: skip


@pytest.fixture
def pool() -> Any:
    with csandbox.Pool("contest", workers=2, spares=2) as made:
        while made.stats()["ready"] < 2 if made.wait_ready() else True:
            time.sleep(0.01)
        yield made


def children(pool: csandbox.Pool) -> set[int]:
    """Processes that the zygote has made and not seen the end of."""
    zygote, found = pool.stats()["zygote_pid"], set()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            stat = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            if int(stat[1]) == zygote and stat[0] != "Z":
                found.add(int(entry))
    return found


def homes() -> list[str]:
    """Homes of families of sessions, the only folders here that may not be written to."""
    base = Path(tempfile.gettempdir())
    return [n for n in sorted(scratch()) if (base / n).is_dir() and not _writable(base / n)]


def gone(pool: csandbox.Pool | None = None, but: frozenset[int] = frozenset()) -> bool:
    """Whether they go. They were killed; the kernel and the keeper may need a moment more."""

    def left() -> bool:
        return bool(homes() or (pool is not None and children(pool) - but))

    until = time.monotonic() + 20
    while left() and time.monotonic() < until:
        time.sleep(0.02)
    return not left()


def _writable(folder: Path) -> bool:
    return bool(folder.stat().st_mode & 0o200)


def options_of(options: dict[str, Any], pool: csandbox.Pool) -> dict[str, Any]:
    where = {} if "profile" in options else {"pool": pool}
    return {"seed": 3, **options, "isolation": "submission", **where}


def test_the_same_reports_as_grade(pool: csandbox.Pool) -> None:
    every = KINDS + MORE

    async def main() -> list[GradeReport]:
        return await asyncio.gather(
            *(csandbox.agrade(s, t, **options_of(o, pool)) for s, t, o in every)
        )

    reports = asyncio.run(main())
    for (source, tests, options), report in zip(every, reports, strict=True):
        blocking = csandbox.grade(source, tests, **options_of(options, pool))
        assert judged(report) == judged(blocking), (source, tests)
    by_source = {source: report for (source, _, _), report in zip(every, reports, strict=True)}
    assert by_source[LOADED].passed and by_source[LOADED].isolation == "submission"
    noted = [report for report in reports if report.isolation_note]
    assert [report.isolation for report in noted] == ["test"]
    assert "cannot be branched" in noted[0].isolation_note and noted[0].passed


def test_fifty_at_once_hold_no_thread(pool: csandbox.Pool) -> None:
    most = [0, 0]

    async def watch() -> None:
        while True:
            most[0] = max(most[0], threading.active_count())
            most[1] = max(most[1], len(descriptors()))
            await asyncio.sleep(0.05)

    async def main() -> list[GradeReport]:
        options: dict[str, Any] = {"pool": pool, "isolation": "submission"}
        await csandbox.agrade(GOOD, TESTS, **options)
        before = threading.active_count()
        watching = asyncio.ensure_future(watch())
        work = (
            csandbox.agrade(GOOD if n % 2 else BAD, TESTS, seed=n, **options) for n in range(50)
        )
        reports = await asyncio.gather(*work)
        watching.cancel()
        assert most[0] <= before
        return reports

    held = len(descriptors())
    reports = asyncio.run(main())
    assert [report.passed for report in reports] == [False, True] * 25
    assert {report.isolation for report in reports} == {"submission"}
    assert all(report.score is not None for report in reports)
    assert len(descriptors()) <= held + 20  # those of spares, and the crew's


@pytest.mark.parametrize("where", ["executing", "branch", "queue"])
def test_cancelled_it_is_dead_before_it_is_left(pool: csandbox.Pool, where: str) -> None:
    options: dict[str, Any] = {"pool": pool, "limits": LIMITS, "isolation": "submission"}
    source = "while True:\n    pass\n" if where == "executing" else SLEEPS

    async def main() -> None:
        spares = frozenset(children(pool))  # sessions do not take from these
        work = [
            asyncio.ensure_future(csandbox.agrade(source, TESTS, **options))
            for _ in range(6 if where == "queue" else 1)
        ]
        wanted = 2 if where == "branch" else 1
        while len(children(pool) - spares) < wanted:
            await asyncio.sleep(0.01)
        for task in work:
            task.cancel()
        said = await asyncio.gather(*work, return_exceptions=True)
        assert [type(error) for error in said] == [asyncio.CancelledError] * len(work)
        assert gone(pool, spares)
        assert (await csandbox.agrade(GOOD, TESTS, **options)).passed
        assert gone(pool, spares)

    asyncio.run(main())


@pytest.mark.parametrize("ordered", [True, False])
def test_many_are_the_same_as_grade_many(pool: csandbox.Pool, ordered: bool) -> None:
    pairs = [(GOOD if n % 3 else BAD, [*TESTS, SAME]) for n in range(12)]
    options: dict[str, Any] = {
        "seed": 4, "stop": "never", "pool": pool, "isolation": "submission"
    }  # fmt: skip

    async def main() -> dict[int, GradeReport]:
        many = csandbox.agrade_many(pairs, concurrency=5, ordered=ordered, **options)
        return {place: report async for place, report in many}

    found = asyncio.run(main())
    blocking = dict(csandbox.grade_many(pairs, **options))
    assert {p: judged(r) for p, r in found.items()} == {p: judged(r) for p, r in blocking.items()}
    assert {report.isolation for report in found.values()} == {"submission"}


def test_many_left_early_end_the_rest(pool: csandbox.Pool) -> None:
    async def left() -> None:
        many = csandbox.agrade_many(
            [(GOOD if n == 0 else SLEEPS, TESTS) for n in range(9)],
            concurrency=2, pool=pool, limits=LIMITS, isolation="submission",
        )  # fmt: skip
        async for _, report in many:
            assert report.passed
            break
        await many.aclose()  # type: ignore[attr-defined]
        assert gone()

    asyncio.run(left())


def test_a_session_that_is_given_up_is_ended(pool: csandbox.Pool) -> None:
    """Steps that nobody carries on any more."""
    plan = Plan.make(SLEEPS, TESTS, pool=pool, limits=LIMITS, isolation="submission", seed=1)
    flight: Flight[GradeReport] = Flight()
    flight.begin(0, plan.steps())
    while not homes():
        flight.take(0.05)
    flight.end()
    assert not flight.ready and gone()
    assert csandbox.grade(GOOD, TESTS, pool=pool, isolation="submission").passed


def test_a_pool_that_is_closed_meanwhile() -> None:
    """As for runs: there is no child for the calls that are left, fresh or not."""

    async def main() -> None:
        pool = csandbox.Pool("contest", workers=1, spares=1)
        options: dict[str, Any] = {"pool": pool, "limits": LIMITS, "isolation": "submission"}
        task = asyncio.ensure_future(csandbox.agrade(SLEEPS, TESTS, **options))
        while not homes():
            await asyncio.sleep(0.01)
        await asyncio.to_thread(pool._core.close, kill=True)
        await task

    with pytest.raises(ValueError, match="closed"):
        asyncio.run(main())


def test_a_checker_in_a_child(pool: csandbox.Pool) -> None:
    checker = "def check(i, o, value, e):\n    return value == 4\n"
    test = CheckerTest(checker, call=Call("f", [4]))
    report = asyncio.run(csandbox.agrade(GOOD, [test], pool=pool, isolation="submission"))
    assert report.passed and report.isolation == "submission"


@pytest.mark.skipif(not find_spec("trio"), reason="trio is not installed here")
def test_trio(pool: csandbox.Pool) -> None:
    import trio

    options: dict[str, Any] = {"pool": pool, "isolation": "submission"}

    async def main() -> None:
        reports = {}

        async def one(number: int) -> None:
            source = GOOD if number % 2 else BAD
            reports[number] = await csandbox.agrade(source, TESTS, **options)

        async with trio.open_nursery() as nursery:
            for number in range(8):
                nursery.start_soon(one, number)
        assert [reports[n].passed for n in range(8)] == [False, True] * 4
        assert {report.isolation for report in reports.values()} == {"submission"}
        with trio.move_on_after(0.6) as scope:
            await csandbox.agrade(SLEEPS, TESTS, limits=LIMITS, **options)
        assert scope.cancelled_caught and gone()
        with trio.move_on_after(0.6) as scope:
            async for _ in csandbox.agrade_many([(SLEEPS, TESTS)] * 2, limits=LIMITS, **options):
                pass
        assert scope.cancelled_caught and gone()

    trio.run(main)
