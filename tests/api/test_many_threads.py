"""Runs from several threads at once: no run may touch another's descriptors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import csandbox

THREADS = 6
RUNS = 120
ECHO = "import sys\ndata = sys.stdin.read()\nprint(len(data), data[:20])\n"


def test_each_run_keeps_its_own_streams() -> None:
    """A descriptor closed twice would be another run's: streams mix up, or a start fails."""

    def one(number: int) -> tuple[str, str]:
        given = f"run {number} " + "x" * (number * 997 % 90_000)
        result = csandbox.run(ECHO, stdin=given, profile="open")
        return result.stdout, f"{len(given)} {given[:20]}\n"

    with ThreadPoolExecutor(THREADS) as pool:
        for got, expected in pool.map(one, range(RUNS)):
            assert got == expected
