"""The first thread's room for recursion is not the price of every other thread."""

from __future__ import annotations

import pytest

import csandbox

pytestmark = pytest.mark.both_modes

MANY = """
import threading
gate = threading.Event()
threads = [threading.Thread(target=gate.wait) for _ in range(7)]
for thread in threads: thread.start()
gate.set()
for thread in threads: thread.join()
print("ok", threading.stack_size())
"""

DEEP = """
import sys, threading
sys.setrecursionlimit(10**6)
threading.stack_size(1 << 27)
def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
thread = threading.Thread(target=lambda: print(depth(50_000)))
thread.start(); thread.join()
"""


def test_many_threads_beside_a_large_stack() -> None:
    limits = csandbox.Limits(stack_bytes=64 << 20, memory_bytes=256 << 20, threads=16)
    result = csandbox.run(MANY, profile="compute", limits=limits)
    assert (result.verdict, result.stdout) == ("accepted", "ok 0\n"), result.stderr


def test_a_program_may_ask_for_a_larger_stack() -> None:
    result = csandbox.run(DEEP, profile="contest")
    assert (result.verdict, result.stdout) == ("accepted", "50000\n"), result.stderr
