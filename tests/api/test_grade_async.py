"""agrade(), agrade_many(), acall(): the same reports without threads, and nothing left behind."""

from __future__ import annotations

import asyncio
import re
import threading
from importlib.util import find_spec
from typing import Any

import pytest

import csandbox
from csandbox import Answer, Call, CallTest, CheckerTest, GradeReport, StdioTest, _grade_many
from tests.conftest import descriptors

SLEEPS = "import time\ndef f(x):\n    time.sleep(60)\n"
LIMITS = {"cpu_s": 5, "wall_s": 60}
GOOD, BAD = "def f(x):\n    return x\n", "def f(x):\n    return min(x, 1)\n"
TESTS = [CallTest("f", [n], n) for n in range(3)]


def even(answer: Answer) -> bool:
    return answer.value % 2 == 0


#: (source, tests, options): each kind of test, each way of ending.
KINDS: list[tuple[str, list[Any], dict[str, Any]]] = [
    (GOOD, TESTS, {}),
    (BAD, TESTS, {"seed": 1}),
    (BAD, TESTS, {"seed": 1, "stop": "never", "feedback": "full"}),
    ("import socket\n", TESTS, {"stop": "never"}),
    ("def f(:\n", TESTS, {}),
    ("print(int(input()) + 1)\n", [StdioTest("1", "2"), StdioTest("5", "7")], {"stop": "never"}),
    (GOOD, [csandbox.PropertyTest((Call("f", [1]), Call("f", [2])), "values == [1, 2]")], {}),
    (GOOD, [csandbox.RoundTripTest("f", "f", [1, {"a": 2}])], {}),
    (GOOD, [CheckerTest(even, call=Call("f", [n])) for n in (4, 5)], {"stop": "never"}),
    (
        GOOD,
        [CheckerTest("def check(i, o, value, e):\n    return value == 4\n", call=Call("f", [4]))],
        {},
    ),
    (
        "def f(x):\n    while True:\n        pass\n",
        [CallTest("f", [1], 1, limits=csandbox.Limits(cpu_s=0.2, wall_s=60))],
        {"feedback": "full"},
    ),
    (GOOD, [csandbox.InProcessTest("assert f(1) == 1")], {"allow_weak": True}),
]


def judged(report: GradeReport) -> dict[str, Any]:
    """A report without what differs from run to run: times and memory."""
    data = report.to_dict()
    for part in (data, *data["tests"]):
        part.pop("usage")
    data["feedback"] = re.sub(r" after [\d.]+ s", "", data["feedback"])
    del data["wall_s"], data["layers"]  # a refused source has none, whoever asks first
    for row in data["tests"]:
        row["reason"] = row["reason"].split(" after ")[0]
    return data


@pytest.fixture
def pool() -> Any:
    with csandbox.Pool("contest", workers=2, spares=4) as made:
        made.wait_ready()
        yield made


def test_the_same_reports_as_grade(pool: csandbox.Pool) -> None:
    async def main() -> list[GradeReport]:
        work = [csandbox.agrade(s, t, pool=pool, **{"seed": 3, **o}) for s, t, o in KINDS]
        return await asyncio.gather(*work)

    reports = asyncio.run(main())
    for (source, tests, options), report in zip(KINDS, reports, strict=True):
        blocking = csandbox.grade(source, tests, pool=pool, **{"seed": 3, **options})
        assert judged(report) == judged(blocking), (source, tests)


def test_two_hundred_at_once_hold_no_thread(pool: csandbox.Pool) -> None:
    most = [0, 0]

    async def watch() -> None:
        while True:
            most[0] = max(most[0], threading.active_count())
            most[1] = max(most[1], len(descriptors()))
            await asyncio.sleep(0.05)

    async def main() -> list[GradeReport]:
        await csandbox.agrade(GOOD, TESTS, pool=pool)
        before = threading.active_count(), len(descriptors())
        watching = asyncio.ensure_future(watch())
        work = (
            csandbox.agrade(GOOD if n % 2 else BAD, TESTS, pool=pool, seed=n) for n in range(200)
        )
        reports = await asyncio.gather(*work)
        watching.cancel()
        assert most[0] <= before[0]
        # those of two runs that are on, of four spares, and of as many that are used up
        assert most[1] <= before[1] + 100
        return reports

    reports = asyncio.run(main())
    assert [report.passed for report in reports] == [False, True] * 100
    assert all(report.score is not None for report in reports)


def test_cancelled_it_is_dead_before_it_is_left(pool: csandbox.Pool) -> None:
    async def main() -> None:
        task = asyncio.ensure_future(csandbox.agrade(SLEEPS, TESTS, pool=pool, limits=LIMITS))
        while pool.stats()["running"] != 1:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pool.stats()["running"] == 0
        with pytest.raises((TimeoutError, asyncio.TimeoutError)):
            await asyncio.wait_for(csandbox.agrade(SLEEPS, TESTS, pool=pool, limits=LIMITS), 0.3)
        assert pool.stats()["running"] == 0
        assert (await csandbox.agrade(GOOD, TESTS, pool=pool)).passed

    asyncio.run(main())


def test_a_callers_mistake_is_raised() -> None:
    async def none() -> None:
        await csandbox.agrade(GOOD, [])

    async def unknown() -> None:
        await csandbox.agrade(GOOD, TESTS, compare="nothing")

    for work in (none, unknown):
        with pytest.raises(ValueError, match=r"no tests|unknown comparison"):
            asyncio.run(work())
    with pytest.raises(ValueError, match="concurrency"):
        csandbox.agrade_many([], concurrency=0)


def test_a_default_pool_serves_too() -> None:
    assert asyncio.run(csandbox.agrade(GOOD, TESTS)).passed


@pytest.mark.parametrize("ordered", [True, False])
def test_many_are_the_same_as_grade_many(pool: csandbox.Pool, ordered: bool) -> None:
    pairs = [(GOOD if n % 3 else BAD, TESTS) for n in range(12)]
    told: list[int] = []
    options: dict[str, Any] = {"seed": 4, "stop": "never", "pool": pool}

    async def main() -> list[tuple[int, GradeReport]]:
        many = csandbox.agrade_many(
            pairs, concurrency=5, ordered=ordered, progress=lambda n, _: told.append(n), **options
        )
        return [item async for item in many]

    found = asyncio.run(main())
    assert told == list(range(1, 13))
    if ordered:
        assert [place for place, _ in found] == list(range(12))
    blocking = dict(_grade_many.grade_many(pairs, **options))
    assert {p: judged(r) for p, r in found} == {p: judged(r) for p, r in blocking.items()}


def test_many_left_early_end_the_rest(pool: csandbox.Pool) -> None:
    taken: list[int] = []

    def pairs() -> Any:
        for number in range(1000):
            taken.append(number)
            yield (GOOD if number == 0 else SLEEPS), TESTS

    async def left() -> None:
        many = csandbox.agrade_many(pairs(), concurrency=2, pool=pool, limits=LIMITS)
        async for _, report in many:
            assert report.passed
            break
        await many.aclose()  # type: ignore[attr-defined]
        assert pool.stats()["running"] == 0

    async def read() -> None:
        async for _ in csandbox.agrade_many([(SLEEPS, TESTS)] * 3, pool=pool, limits=LIMITS):
            pass

    async def cancelled() -> None:
        with pytest.raises((TimeoutError, asyncio.TimeoutError)):
            await asyncio.wait_for(read(), 0.5)
        assert pool.stats()["running"] == 0

    asyncio.run(left())
    assert len(taken) <= 5
    asyncio.run(cancelled())


def test_many_raise_a_callers_mistake(pool: csandbox.Pool) -> None:
    async def main() -> None:
        async for _ in csandbox.agrade_many([(GOOD, TESTS), (SLEEPS, []), (SLEEPS, TESTS)],
                                            pool=pool, limits=LIMITS):  # fmt: skip
            pass

    with pytest.raises(ValueError, match="no tests"):
        asyncio.run(main())
    assert pool.stats()["running"] == 0


def test_calls(pool: csandbox.Pool) -> None:
    source = "import sys\ndef f(x, *, y):\n    return x, y, sys.argv[1:]\n"

    async def main() -> None:
        one, other = await asyncio.gather(
            csandbox.acall(source, "f", [1], {"y": [2]}, argv=["a"]),
            pool.acall(source, "f", [1], {"y": {}}),
        )
        assert one.ok and one.value == (1, [2], ["a"])
        assert other.value == (1, {}, [])
        bad = await pool.acall(source, "g")
        assert bad.verdict == "runtime_error" and bad.reason == "no_entry"
        with pytest.raises(csandbox.OutcomeError):
            await pool.acall(source, "g", check=True)
        with pytest.raises(TypeError, match=r"at \$"):
            await pool.acall(source, "f", [object()])
        with pytest.raises((TimeoutError, asyncio.TimeoutError)):
            await asyncio.wait_for(pool.acall(SLEEPS, "f", [1], limits=LIMITS), 0.3)
        assert pool.stats()["running"] == 0

    asyncio.run(main())


@pytest.mark.skipif(not find_spec("trio"), reason="trio is not installed here")
def test_trio(pool: csandbox.Pool) -> None:
    import trio

    async def main() -> None:
        reports = {}

        async def one(number: int) -> None:
            source = GOOD if number % 2 else BAD
            reports[number] = await csandbox.agrade(source, TESTS, pool=pool)

        async with trio.open_nursery() as nursery:
            for number in range(8):
                nursery.start_soon(one, number)
        assert [reports[n].passed for n in range(8)] == [False, True] * 4
        many = csandbox.agrade_many([(GOOD, TESTS), (BAD, TESTS)], pool=pool)
        assert [report.passed async for _, report in many] == [True, False]
        with trio.move_on_after(0.4) as scope:
            await csandbox.agrade(SLEEPS, TESTS, pool=pool, limits=LIMITS)
        assert scope.cancelled_caught and pool.stats()["running"] == 0
        with trio.move_on_after(0.4) as scope:
            async for _ in csandbox.agrade_many([(SLEEPS, TESTS)] * 2, pool=pool, limits=LIMITS):
                pass
        assert scope.cancelled_caught and pool.stats()["running"] == 0

    trio.run(main)
