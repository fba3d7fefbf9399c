"""Runs for event loops: nothing that waits costs a thread or a descriptor, and what is cancelled is
dead before it is left."""

from __future__ import annotations

import asyncio
import threading
import time
from importlib.util import find_spec

import pytest

import csandbox
from tests.conftest import descriptors

SLEEPS = "import time\nprint('begun', flush=True)\ntime.sleep(60)"
LIMITS = {"cpu_s": 5, "wall_s": 60}


def test_many_at_once() -> None:
    async def main(pool: csandbox.Pool) -> list[csandbox.Result]:
        return await asyncio.gather(*(pool.arun(f"print({n})") for n in range(40)))

    with csandbox.Pool("open", workers=2, spares=2) as pool:
        results = asyncio.run(main(pool))
        again = asyncio.run(main(pool))  # another loop, the same pool
    for found in (results, again):
        assert [result.stdout for result in found] == [f"{n}\n" for n in range(40)]


def test_a_thousand_that_wait_hold_no_descriptor_and_no_thread() -> None:
    async def main(pool: csandbox.Pool) -> tuple[int, int, int]:
        first = asyncio.ensure_future(pool.arun("print(0)"))
        await first
        fds, threads = len(descriptors()), threading.active_count()
        tasks = [asyncio.ensure_future(pool.arun("print(1)")) for _ in range(1000)]
        await asyncio.sleep(0.2)
        now = len(descriptors()), threading.active_count()
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        wrong = [e for e in ended if not isinstance(e, (asyncio.CancelledError, csandbox.Result))]
        assert not wrong, wrong[0]
        return now[0] - fds, now[1] - threads, len(ended)

    with csandbox.Pool("open", workers=1, spares=1) as pool:
        pool.wait_ready()
        fds, threads, ended = asyncio.run(main(pool))
    assert ended == 1000
    assert fds <= 12 and threads == 0  # those of the one that runs, and of a spare that is made


def test_a_cancelled_run_is_dead_when_cancel_returns() -> None:
    async def main(pool: csandbox.Pool) -> None:
        task = asyncio.ensure_future(pool.arun(SLEEPS, limits=LIMITS))
        while pool.stats().get("running") != 1:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 20
        assert pool.stats()["running"] == 0
        assert (await pool.arun("print(1)")).stdout == "1\n"

    with csandbox.Pool("open", workers=1, spares=1) as pool:
        asyncio.run(main(pool))


def test_wait_for_ends_the_run() -> None:
    async def main(pool: csandbox.Pool) -> None:
        with pytest.raises((TimeoutError, asyncio.TimeoutError)):
            await asyncio.wait_for(pool.arun(SLEEPS, limits=LIMITS), 0.5)
        assert pool.stats()["running"] == 0

    with csandbox.Pool("open", workers=1, spares=1) as pool:
        pool.wait_ready()
        asyncio.run(main(pool))


def test_a_second_cancel_does_not_leave_it_behind() -> None:
    async def main(pool: csandbox.Pool) -> None:
        task = asyncio.ensure_future(pool.arun(SLEEPS, limits=LIMITS))
        await asyncio.sleep(0.3)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pool.stats()["running"] == 0

    with csandbox.Pool("open", workers=1, spares=1) as pool:
        pool.wait_ready()
        asyncio.run(main(pool))


def test_the_loop_goes_on_meanwhile() -> None:
    async def main(pool: csandbox.Pool) -> int:
        task = asyncio.ensure_future(pool.arun("import time\ntime.sleep(0.5)\nprint(1)"))
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert (await task).ok
        return ticks

    with csandbox.Pool("open", workers=1, spares=1) as pool:
        assert asyncio.run(main(pool)) > 10


def test_what_is_refused_and_what_fails() -> None:
    async def main(pool: csandbox.Pool) -> None:
        assert (await pool.arun("import socket")).verdict == "rejected"
        assert (await pool.arun("1 / 0")).verdict == "runtime_error"
        with pytest.raises(csandbox.OutcomeError):
            await pool.arun("1 / 0", check=True)
        with pytest.raises(TypeError):
            await pool.arun(5)  # type: ignore[arg-type]

    with csandbox.Pool("compute", workers=1, spares=1) as pool:
        asyncio.run(main(pool))


@pytest.mark.parametrize("ordered", [True, False])
def test_arun_many(ordered: bool) -> None:
    async def main(pool: csandbox.Pool) -> list[str]:
        items = (f"print({n})" for n in range(12))
        found = pool.arun_many(items, concurrency=3, ordered=ordered)
        return [result.stdout async for result in found]

    with csandbox.Pool("open", workers=2, spares=2) as pool:
        out = asyncio.run(main(pool))
    expected = [f"{n}\n" for n in range(12)]
    assert out == expected if ordered else sorted(out) == sorted(expected)


def test_arun_many_left_early_ends_the_rest() -> None:
    async def main(pool: csandbox.Pool) -> None:
        items = ["print(1)", SLEEPS, SLEEPS, SLEEPS]
        found = pool.arun_many(items, concurrency=4, limits=LIMITS)
        async for result in found:
            assert result.ok
            break
        await found.aclose()  # type: ignore[attr-defined]
        assert pool.stats()["running"] == 0

    with csandbox.Pool("open", workers=4, spares=2) as pool:
        asyncio.run(main(pool))


@pytest.mark.skipif(not find_spec("trio"), reason="trio is not installed here")
def test_trio() -> None:
    import trio

    async def main(pool: csandbox.Pool) -> None:
        outs = {}

        async def one(number: int) -> None:
            outs[number] = (await pool.arun(f"print({number})")).stdout

        async with trio.open_nursery() as nursery:
            for number in range(8):
                nursery.start_soon(one, number)
        assert outs == {n: f"{n}\n" for n in range(8)}
        with trio.move_on_after(0.4) as scope:
            await pool.arun(SLEEPS, limits=LIMITS)
        assert scope.cancelled_caught and pool.stats()["running"] == 0

    with csandbox.Pool("open", workers=2, spares=2) as pool:
        pool.wait_ready()
        trio.run(main, pool)
