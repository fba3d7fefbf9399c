"""Runs a second when more callers want runs than the machine has processors.

Blocks of so many runs by so many callers, the pool's and the floor's in turns. The floor has one
bare interpreter a processor, and callers share them; one more would only be switched to and fro.
"""

from __future__ import annotations

import os
import queue
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import csandbox
from bench.core import OUTPUT, SOURCE, Wrong
from bench.report import Figure, Section
from bench.warm import FLOOR, PROFILE, bare, expect

CALLERS = (2, 16, 256)
GOAL = 0.8


def rate(call: Callable[[], object], callers: int, runs: int) -> float:
    """Calls a second by so many threads that begin together."""
    barrier = threading.Barrier(callers + 1)
    left = queue.SimpleQueue[None]()
    failed: list[BaseException] = []
    for _ in range(runs):
        left.put(None)

    def work() -> None:
        barrier.wait()
        try:
            while True:
                left.get_nowait()
                call()
        except queue.Empty:
            pass
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(callers)]
    for thread in threads:
        thread.start()
    barrier.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return runs / (time.perf_counter() - began)


@contextmanager
def shared_bare() -> Iterator[Callable[[], None]]:
    """The floor for many callers."""
    with ExitStack() as stack:
        free = queue.SimpleQueue[object]()
        for _ in range(len(os.sched_getaffinity(0))):
            free.put(stack.enter_context(bare()))

        def call() -> None:
            server = free.get()
            try:
                expect(server.run(SOURCE), OUTPUT)  # type: ignore[attr-defined]
            finally:
                free.put(server)

        yield call


def _many(pool: csandbox.Pool, runs: int) -> float:
    began = time.perf_counter()
    for result in pool.run_many([SOURCE] * runs, ordered=False):
        expect(result.stdout_bytes, OUTPUT)
    return runs / (time.perf_counter() - began)


def saturation(rounds: int, runs: int) -> Section:
    """`pool.run` from 2, 16 and 256 threads, and `run_many` from one."""
    samples: dict[str, list[float]] = {}
    with csandbox.Pool(PROFILE) as pool, shared_bare() as floor:

        def ours() -> None:
            result = pool.run(SOURCE)
            if not result.ok:
                raise Wrong(f"{result!r} {result.error}")

        for number in range(-1, rounds):
            for callers in CALLERS:
                pair = {
                    f"{FLOOR}, {callers} callers": lambda c=callers: rate(floor, c, runs),
                    f"pool.run, {callers} callers": lambda c=callers: rate(ours, c, runs),
                }
                for name in list(pair) if number % 2 else list(pair)[::-1]:
                    samples.setdefault(name, []).append(pair[name]())
            samples.setdefault("run_many, one caller", []).append(_many(pool, runs))
    middle = {name: statistics.median(values[1:]) for name, values in samples.items()}
    figures = [Figure(name, value, "runs/s") for name, value in middle.items()]
    for callers in CALLERS:
        pairs = zip(
            samples[f"pool.run, {callers} callers"][1:],
            samples[f"{FLOOR}, {callers} callers"][1:],
            strict=True,
        )
        by = statistics.median(mine / other for mine, other in pairs)
        figures.append(Figure(f"by the floor's, {callers} callers", by, "x", least=GOAL))
    first, last = (middle[f"pool.run, {callers} callers"] for callers in (CALLERS[0], CALLERS[-1]))
    figures.append(Figure(f"{CALLERS[-1]} callers by {CALLERS[0]}", last / first, "x", least=GOAL))
    by = statistics.median(
        mine / other
        for mine, other in zip(
            samples["run_many, one caller"][1:], samples[f"{FLOOR}, 2 callers"][1:], strict=True
        )
    )
    figures.append(Figure("run_many by the floor's, 2 callers", by, "x", least=GOAL))
    return Section(
        key="saturation",
        title=f"runs a second at saturation: blocks of {runs} runs, {rounds} rounds",
        base="",
        figures=figures,
        notes=(f"Ratios are medians over the rounds; {len(os.sched_getaffinity(0))} processors.",),
    )
