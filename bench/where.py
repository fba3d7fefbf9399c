"""Where the time of one warm run goes, and what the machine could do at best.

Caller and child read the same monotonic clock, so a program that prints it tells when its first and
its last statement were. What lies between is timed in the caller, piece by piece, as `pool.run`
does it. Each piece is a median over runs of its own, so that they add up to about the whole.
"""

from __future__ import annotations

import statistics
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import csandbox
from bench.core import Wrong
from bench.report import Figure, Section
from bench.warm import PROFILE, READY_S
from csandbox._order import Order

ROOT = Path(__file__).resolve().parent.parent
#: print(1) between two looks at the clock; time is in the zygote, so its import is a look-up.
PROGRAM = (
    "from time import perf_counter_ns\n"
    "began = perf_counter_ns()\n"
    "print(1)\n"
    "print(began, perf_counter_ns())\n"
)
#: The same text compiled by the child, twice: what it cost the child to compile it before.
COMPILES = f"""from time import perf_counter_ns
text = {PROGRAM!r}
for _ in range(2):
    began = perf_counter_ns()
    compile(text, "submission.py", "exec")
    print(perf_counter_ns() - began)
"""


def _compiler() -> list[str]:
    return (sysconfig.get_config_var("CC") or "cc").split()


@contextmanager
def limits() -> Iterator[subprocess.Popen[str]]:
    """The program of limit.c, built and waiting."""
    made = ROOT / "build" / "bench-limit"
    made.parent.mkdir(exist_ok=True)
    source = Path(__file__).with_name("limit.c")
    subprocess.run([*_compiler(), "-O2", "-o", made, source], check=True)
    with subprocess.Popen(
        [made], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _one(pool: csandbox.Pool, spent: dict[str, list[float]]) -> None:
    """One run in the steps of `pool.run`; nanoseconds of each."""
    pool.wait_ready(READY_S)
    look = time.perf_counter_ns
    times = [look()]
    order = Order.make(PROGRAM, {}, profile=pool.profile)
    times.append(look())
    refused = order.admit()
    times.append(look())
    data = pool._core.run(order.request)
    times.append(look())
    result = order.result(data)
    times.append(look())
    pool.wait_ready(READY_S)
    times.append(look())
    if refused is not None or not result.ok:
        raise Wrong(f"{refused or result!r} {result.stderr}")
    first, last = map(int, result.stdout.splitlines()[1].split())
    pieces = {
        "arguments": times[1] - times[0],
        "guard": times[2] - times[1],
        "request, wake-up, compile, question": first - times[2],
        "exec and print": last - first,
        "output, done, wake-up": times[3] - last,
        "result": times[4] - times[3],
        "after it: teardown, until a spare is ready": times[5] - times[4],
        "the whole run": times[4] - times[0],
    }
    for name, ns in pieces.items():
        spent.setdefault(name, []).append(ns)


def _once(worker: subprocess.Popen[str], spent: dict[str, list[float]]) -> None:
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    names = ("pipe round trip to a waiting process, in C", "fork + exit + wait, in C")
    for name, ns in zip(names, map(int, worker.stdout.readline().split()), strict=True):
        spent.setdefault(name, []).append(ns)


def where(rounds: int) -> Section:
    """The pieces of a run, the physical limit, and how far apart they are."""
    spent: dict[str, list[float]] = {}
    with csandbox.Pool(PROFILE) as pool, limits() as worker, csandbox.Pool("open") as unguarded:
        for number in range(rounds):
            _one(pool, spent)
            _once(worker, spent)
            if number % 4 == 0:
                cold, warm = map(int, unguarded.run(COMPILES).stdout.split())
                spent.setdefault("of it compile, in the child", []).append(cold)
                spent.setdefault("compile again, in the child", []).append(warm)
    us = {name: statistics.median(values) / 1e3 for name, values in spent.items()}
    whole = us.pop("the whole run")
    trip = us["pipe round trip to a waiting process, in C"]
    figures = [Figure(name, value, "us") for name, value in us.items()]
    figures += [
        Figure("the whole run", whole, "us"),
        Figure("the whole run by the pipe round trip", whole / trip, "x"),
        Figure("the whole run by fork + exit in C", whole / us["fork + exit + wait, in C"], "x"),
    ]
    return Section(
        key="where",
        title=f"where the time of a warm run goes, medians of {rounds}",
        base="",
        figures=figures,
        notes=(
            "The limit: nothing can be asked of another process in less than a pipe round trip; "
            "a fork and an exit are paid beside the run, and bound the runs a second.",
        ),
    )
