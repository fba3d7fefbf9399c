"""Does a verdict depend on the machine's load?

Programs that use 0.6 and 1.5 times their CPU limit, first alone, then with busy processes beside
them: ``python -m bench.load``. Exit code 1 when a verdict changed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import csandbox

CPU_S = 0.2
SHARES = {0.6: "accepted", 1.5: "time_limit"}
SOURCE = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass"


def measure(programs: int, width: int) -> tuple[dict[float, Counter[str]], float, float]:
    """Verdicts by share, the wall time, and the largest excess of a stopped run in seconds."""
    limits = csandbox.Limits(cpu_s=CPU_S, wall_s=600, startup_s=300)

    def one(share: float) -> tuple[float, csandbox.Result]:
        return share, csandbox.run(SOURCE.format(share * CPU_S), limits=limits)

    begin = time.monotonic()
    with ThreadPoolExecutor(width) as pool:
        results = list(pool.map(one, list(SHARES) * (programs // len(SHARES))))
    verdicts: dict[float, Counter[str]] = {share: Counter() for share in SHARES}
    for share, result in results:
        verdicts[share][result.verdict] += 1
    stopped = [r.usage.cpu_s - CPU_S for _, r in results if r.verdict == "time_limit"]
    return verdicts, time.monotonic() - begin, max(stopped, default=0.0)


def main() -> int:
    """Measure, print a table, compare."""
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--busy", type=int, default=16, help="processes that only use CPU time")
    parser.add_argument("--width", type=int, default=4, help="runs at once")
    options = parser.parse_args()
    good = True
    for busy in (0, options.busy):
        beside = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        try:
            verdicts, seconds, excess = measure(options.programs, options.width)
        finally:
            for process in beside:
                process.kill()
                process.wait()
        print(f"{busy:3} busy processes beside: {seconds:7.1f} s, excess at most {excess:.3f} s")
        for share, counts in verdicts.items():
            same = set(counts) == {SHARES[share]}
            good = good and same
            print(f"    {share} × the limit: {dict(counts)}{'' if same else '   CHANGED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
