"""Thousands of runs from many threads, then from many processes: is anything left, or different?

``python -m bench.soak``. Compared before and after: descriptors, child processes, scratch folders,
memory (a first part of the runs warms up). Exit code 1 when something grew or a verdict changed.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import csandbox

WAYS = (
    ("print(6 * 7)", "accepted"),
    ("1/0", "runtime_error"),
    ("import os\nos.abort()", "runtime_error"),
    ("while True: print('x' * 1000)", "output_limit"),
    ("x = bytearray(1 << 40)", "memory_limit"),
    ("for n in range(20): open(str(n), 'w').write('x')", "accepted"),
    ("import socket", "rejected"),
    ("def f(:", "compile_error"),
)
# What an allocator keeps for a thread that held 8 MiB of output; a process with one thread shows a
# leak of 4 KiB a run after 600 runs.
MEMORY_SLACK = 2 << 20


def state() -> dict[str, int]:
    """What could leak, as numbers."""
    gc.collect()
    tasks = Path("/proc/self/task").glob("*/children")
    children = [pid for task in tasks for pid in task.read_text().split()]
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    names = [n for n in os.listdir(tempfile.gettempdir()) if n.startswith("csandbox-")]
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "children": len(children),
        "folders": len(names),
        "memory": resident,
    }


def one(number: int) -> str | None:
    """One run; None when it ended as it must."""
    source, verdict = WAYS[number % len(WAYS)]
    result = csandbox.run(source, profile="open" if verdict == "runtime_error" else "compute")
    return None if result.verdict == verdict else f"{source[:20]!r}: {result!r}"


def drive(runs: int, threads: int) -> tuple[list[str], dict[str, int], dict[str, int]]:
    """What went wrong, and the state before and after."""
    with ThreadPoolExecutor(threads) as pool:
        wrong = [w for w in pool.map(one, range(max(runs // 5, threads))) if w]
        before = state()
        wrong += [w for w in pool.map(one, range(runs)) if w]
        time.sleep(1)  # a killed process is reaped, a full folder removed in the background
        return wrong, before, state()


def report(title: str, runs: int, threads: int) -> bool:
    """Drive, print, judge."""
    begin = time.monotonic()
    wrong, before, after = drive(runs, threads)
    spent = time.monotonic() - begin
    grown = {
        name: after[name] - before[name]
        for name in after
        # a pool refills and shrinks: what it holds at one moment is not exact
        if after[name] - before[name] > (MEMORY_SLACK if name == "memory" else 2) * threads
    }
    print(f"{title}: {runs} runs in {spent:.1f} s, {len(wrong)} verdicts changed", flush=True)
    print(f"    before {before}\n    after  {after}{'   GREW' if grown else ''}", flush=True)
    for line in wrong[:5]:
        print(f"    {line}")
    return not wrong and not grown


def main() -> int:
    """Threads of this process, then processes."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--processes", type=int, default=8)
    options = parser.parse_args()
    good = True
    if options.threads:
        good = report(f"{options.threads} threads", options.runs, options.threads)
    share = options.runs // max(options.processes, 1)
    command = [sys.executable, "-m", "bench.soak", "--threads", "1", "--processes", "0"]
    with tempfile.TemporaryDirectory(prefix="soak-") as base:
        os.chmod(base, 0o755)
        workers = []
        for number in range(options.processes):
            own = Path(base, str(number))  # so that each counts its own folders
            own.mkdir(mode=0o755)
            env = {**os.environ, "TMPDIR": str(own)}
            workers.append(subprocess.Popen([*command, "--runs", str(share)], env=env))
        for worker in workers:
            good = worker.wait() == 0 and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
