"""A run from a large process against one from a small process, fresh and warm.

Two workers, each a process of its own, answer in turn; one of them holds memory that it has
written to, in pages of 4 KiB, which is what makes fork() slow, and threads that wait.
"""

from __future__ import annotations

import mmap
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import csandbox
from bench.core import OUTPUT, SOURCE, core_run, enough_memory, policy, request
from bench.measure import Cost, interleave
from bench.report import Section
from bench.warm import from_pool

ROOT = Path(__file__).resolve().parent.parent
PROFILE = "compute"
PAGE_BYTES = 4096


@contextmanager
def worker(
    held_bytes: int, threads: int = 0, kind: str = "fresh"
) -> Iterator[tuple[Callable[[], Cost], int]]:
    """A process that holds so much: (measure one run in it, its resident bytes)."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.host", str(held_bytes), str(threads), kind],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:  # on leaving: its stdin ends, so it does
        assert process.stdin is not None and process.stdout is not None
        asked, answers = process.stdin, process.stdout

        def answer() -> str:
            line = answers.readline()
            if not line:
                raise RuntimeError(f"the worker ended with {process.wait()}")
            return line

        def measure() -> Cost:
            asked.write("run\n")
            asked.flush()
            wall_s, cpu_s = map(float, answer().split())
            return Cost(wall_s, cpu_s)

        yield measure, int(answer())


def host(rounds: int, held_bytes: int, *, kind: str = "fresh", threads: int = 0) -> Section:
    """The same run from a process that holds `held_bytes` and from one that does not."""
    shown = f"{held_bytes / 1e9:.1f} GB" + f" and {threads} threads" * bool(threads)
    key = "host" if kind == "fresh" else "warm_host"
    large, title = f"process that holds {shown}", f"{kind} run from a process that holds {shown}"
    if not enough_memory(held_bytes + held_bytes // 4):
        return Section(key, title, "small process", skipped=f"there is less than {shown} free")
    with (
        worker(0, 0, kind) as (small, small_bytes),
        worker(held_bytes, threads, kind) as (big, big_bytes),
    ):
        return Section(
            key=key,
            title=title,
            base="small process",
            samples=interleave({"small process": small, large: big}, rounds),
            goals={large: (0.9, 1.1)},
            notes=(
                f"Resident: {small_bytes / 1e6:.0f} MB and {big_bytes / 1e6:.0f} MB, "
                "in pages of 4 KiB.",
            ),
            cpu=kind == "fresh",
        )


def _hold(held_bytes: int) -> mmap.mmap | None:
    """Private memory, every page of it written."""
    if held_bytes == 0:
        return None
    memory = mmap.mmap(-1, held_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for place in range(0, held_bytes, PAGE_BYTES):
        memory[place] = 1
    return memory


def _resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


def _serve(held_bytes: int, threads: int, kind: str) -> None:
    held = _hold(held_bytes)
    end = threading.Event()
    waiting = [threading.Thread(target=end.wait) for _ in range(threads)]
    for thread in waiting:
        thread.start()
    with ExitStack() as stack:
        if kind == "warm":
            pool = stack.enter_context(csandbox.Pool(PROFILE))
            measure = from_pool(pool, SOURCE, OUTPUT)
        else:
            measure = core_run(policy(PROFILE), request(PROFILE))
        print(_resident_bytes(), flush=True)
        for _ in sys.stdin:
            print(*measure(), flush=True)
    end.set()
    if held is not None:
        held.close()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
