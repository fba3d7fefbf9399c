"""A fresh run from a large process against one from a small process.

Two workers, each a process of its own, answer in turn; one of them holds memory that it has
written to, in pages of 4 KiB, which is what makes fork() slow.
"""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from bench.core import core_run, enough_memory, policy, request
from bench.measure import Cost, interleave
from bench.report import Section

ROOT = Path(__file__).resolve().parent.parent
PROFILE = "compute"
PAGE_BYTES = 4096


class Worker:
    """A process that holds `held_bytes` and measures one run whenever it is asked."""

    def __init__(self, held_bytes: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.host", str(held_bytes)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.resident_bytes = int(self._answer())

    def __call__(self) -> Cost:
        assert self._process.stdin is not None
        self._process.stdin.write("run\n")
        self._process.stdin.flush()
        wall_s, cpu_s = map(float, self._answer().split())
        return Cost(wall_s, cpu_s)

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker ended with {self._process.wait()}")
        return line

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def host(rounds: int, held_bytes: int) -> Section:
    """The same fresh run from a process that holds `held_bytes` and from one that does not."""
    shown = f"{held_bytes / 1e9:.1f} GB"
    large, title = f"process that holds {shown}", f"fresh run from a process that holds {shown}"
    if not enough_memory(held_bytes + held_bytes // 4):
        return Section("host", title, "small process", skipped=f"there is less than {shown} free")
    with Worker(0) as small, Worker(held_bytes) as big:
        return Section(
            key="host",
            title=title,
            base="small process",
            samples=interleave({"small process": small, large: big}, rounds),
            goals={large: (0.9, 1.1)},
            notes=(
                f"Resident: {small.resident_bytes / 1e6:.0f} MB and "
                f"{big.resident_bytes / 1e6:.0f} MB, in pages of 4 KiB.",
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
