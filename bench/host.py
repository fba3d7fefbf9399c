"""A fresh run from a large process against one from a small process.

Two workers, each a process of its own, answer in turn; one of them holds memory that it has
written to, in pages of 4 KiB, which is what makes fork() slow.
"""

from __future__ import annotations

import mmap
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.core import core_run, enough_memory, policy, request
from bench.measure import Cost, interleave
from bench.report import Section

ROOT = Path(__file__).resolve().parent.parent
PROFILE = "compute"
PAGE_BYTES = 4096


@contextmanager
def worker(held_bytes: int) -> Iterator[tuple[Callable[[], Cost], int]]:
    """A process that holds `held_bytes`: (measure one run in it, its resident bytes)."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.host", str(held_bytes)],
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


def host(rounds: int, held_bytes: int) -> Section:
    """The same fresh run from a process that holds `held_bytes` and from one that does not."""
    shown = f"{held_bytes / 1e9:.1f} GB"
    large, title = f"process that holds {shown}", f"fresh run from a process that holds {shown}"
    if not enough_memory(held_bytes + held_bytes // 4):
        return Section("host", title, "small process", skipped=f"there is less than {shown} free")
    with worker(0) as (small, small_bytes), worker(held_bytes) as (big, big_bytes):
        return Section(
            key="host",
            title=title,
            base="small process",
            samples=interleave({"small process": small, large: big}, rounds),
            goals={large: (0.9, 1.1)},
            notes=(
                f"Resident: {small_bytes / 1e6:.0f} MB and {big_bytes / 1e6:.0f} MB, "
                "in pages of 4 KiB.",
            ),
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


def _serve(held_bytes: int) -> None:
    held = _hold(held_bytes)
    measure = core_run(policy(PROFILE), request(PROFILE))
    print(_resident_bytes(), flush=True)
    for _ in sys.stdin:
        print(*measure(), flush=True)
    if held is not None:
        held.close()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
