"""What runs leave and hold: memory of one, and what a hundred thousand in a row leave behind."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

import csandbox
from bench.core import OUTPUT, SOURCE, Wrong
from bench.report import Figure, Section
from bench.warm import PROFILE, READY_S
from csandbox._core_pool import CorePool

MB = 1e6
#: It has printed and waits: with all that a run of print(1) has, but for its end.
WAITS = "import time\nprint(1, flush=True)\ntime.sleep(60)"
AT_A_TIME = 4
EDGE = 1000


def _kept(pid: int, name: str) -> int:
    """Bytes of one line of smaps_rollup. Raises OSError where that may not be read."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/{pid}/smaps_rollup has no {name}")


def _children(pid: int) -> list[int]:
    return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _family(zygote: int) -> tuple[int, list[int]]:
    """PSS of a zygote with its children, and private bytes of each of these."""
    children = _children(zygote)
    whole = sum(_kept(pid, "Pss") for pid in [zygote, *children])
    private = [_kept(pid, "Private_Dirty") + _kept(pid, "Private_Clean") for pid in children]
    return whole, private


def memory() -> Section:
    """PSS that a run adds to a pool, and what a spare and an idle pool hold."""
    title = f"memory: {AT_A_TIME} runs that have printed and wait"
    try:
        figures = _memory()
    except OSError as error:
        return Section("memory", title, "", skipped=str(error))
    return Section(
        key="memory",
        title=title,
        base="",
        figures=figures,
        notes=("PSS: shared pages are shared out among those that have them.",),
    )


def _memory() -> list[Figure]:
    with csandbox.Pool(PROFILE, workers=AT_A_TIME, spares=1) as pool:
        pool.wait_ready(READY_S)
        zygote = int(pool.stats()["zygote_pid"])
        idle, spares = _family(zygote)
        runs = [pool.start(WAITS, limits={"wall_s": 60}) for _ in range(AT_A_TIME)]
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            stats = pool.stats()
            if stats["running"] == AT_A_TIME and stats["ready"] == 1:
                break
            time.sleep(0.05)
        time.sleep(0.2)  # print() is past
        busy, private = _family(zygote)
        own = (_kept(os.getpid(), "Pss")) / MB
        for run in runs:
            run.kill()
    each = (busy - idle) / AT_A_TIME / MB
    return [
        Figure("PSS that one run adds", each, "MB", most=3.0),
        Figure("private memory of a run", statistics.median(private) / MB, "MB"),
        Figure("private memory of a spare", statistics.median(spares) / MB, "MB"),
        Figure("PSS of an idle pool, with one spare", idle / MB, "MB"),
        Figure("PSS of the host", own, "MB"),
    ]


def _resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _state(core: CorePool) -> dict[str, float]:
    """Descriptors and resident bytes of the host, and those of the zygote, with its children."""
    pool = core.started
    zygote = int(pool.stats()["zygote_pid"]) if pool is not None else -1
    return {
        "descriptors of the host": len(os.listdir("/proc/self/fd")),
        "processes": 1 + len(_children(zygote)),
        "resident MB of the host": _resident(os.getpid()) / MB,
        "resident MB of the zygote": _resident(zygote) / MB,
        "descriptors of the zygote": len(os.listdir(f"/proc/{zygote}/fd")),
    }


def long(runs: int) -> Section:
    """So many runs in a row through one pool, renewals included."""
    edge = min(EDGE, runs // 4)
    times: list[float] = []
    with csandbox.Pool(PROFILE) as pool:
        pool.wait_ready(READY_S)
        before: dict[str, float] = {}
        began = time.perf_counter()
        for number in range(runs + edge):
            if number == edge:  # the first ones fill caches of the host
                pool.wait_ready(READY_S)
                before = _state(pool._core)
                began = time.perf_counter()
            at = time.perf_counter()
            result = pool.run(SOURCE)
            times.append(time.perf_counter() - at)
            if result.stdout_bytes != OUTPUT:
                raise Wrong(f"run {number}: {result!r} {result.stderr} {result.error}")
        spent = time.perf_counter() - began
        pool.wait_ready(READY_S)
        time.sleep(1.0)  # what is cleared up behind the last run
        after = _state(pool._core)
        stats = pool.stats()
    first = statistics.median(times[edge : 2 * edge])
    last = statistics.median(times[-edge:])
    figures = [
        Figure(f"p50 of the last {edge} by the first {edge}", last / first, "x", 1.1, 0.9),
        Figure("runs a second, one caller, no pause", runs / spent, "runs/s"),
        Figure("longest of all", max(times[edge:]) * 1e3, "ms"),
        Figure("renewals", stats["renewals"]),
        Figure("failures", stats["failures"], most=0),
    ]
    for name, value in after.items():
        # Memory may breathe by a few MB; a leak of 100 bytes a run would be 10 MB.
        room = 4.0 if name.startswith("resident") else 0.0
        figures.append(Figure(f"growth: {name}", value - before[name], "", most=room))
    return Section(key="long", title=f"{runs} runs in a row", base="", figures=figures)
