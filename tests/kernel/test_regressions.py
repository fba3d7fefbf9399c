"""Ways around a layer that were once open: the attack that found each stays here."""

from __future__ import annotations

import threading
import time
from functools import cache

import pytest

from csandbox import _core
from tests.confined import MiB, confined, in_parallel, mode, request, run_in, spec

MEMORY = {"memory_bytes": 64 * MiB, "cpu_s": 5, "wall_s": 8}

# The main thread leaves by the raw call: /proc/PID/statm of what remains is that of a zombie.
HEADLESS = """
import ctypes, mmap, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
SIZE = 400 << 20
def fill():
    time.sleep(0.2)
    HOW
    print("EFFECT", flush=True)
    libc.syscall(231, 0)
thread = threading.Thread(target=fill)
thread.start()
libc.syscall(60, 0)
"""
PIECES = """
    for _ in range(100):
        m = mmap.mmap(-1, 4 << 20, FLAGS)
        keep.append(m)
        for at in range(0, len(m), 4096): m[at] = 1
"""
SHARED = "    keep = []" + PIECES.replace("FLAGS", "mmap.MAP_SHARED | mmap.MAP_ANONYMOUS")
# A mapping that grows downwards is "stack" to the kernel, which RLIMIT_DATA does not count: it is
# refused (tests/escape/attacks/map_growsdown.txt).
GROWSDOWN = """
    at = libc.mmap(None, SIZE, 3, 0x122, -1, 0)
    assert at not in (None, ctypes.c_void_p(-1).value), ctypes.get_errno()
    for offset in range(0, SIZE, 4096): ctypes.memset(at + offset, 1, 1)
"""


@pytest.mark.parametrize("how", [SHARED, GROWSDOWN], ids=["shared", "growsdown"])
def test_memory_is_seen_when_the_main_thread_has_left(how: str) -> None:
    result = confined(HEADLESS.replace("    HOW", how), limits=MEMORY)
    assert "EFFECT" not in result["out"], result["peak_memory_bytes"] / MiB


def test_memory_that_the_data_limit_does_not_count_is_a_verdict() -> None:
    """Between two looks of the meter, and over before the next one."""
    head = HEADLESS.partition("def fill")[0]
    body = "\n".join(line[4:] for line in SHARED.splitlines())
    result = confined(head + "time.sleep(0.5)\n" + body + "\nprint('EFFECT')", limits=MEMORY)
    assert result["verdict"] == "memory_limit", result["err"]
    assert result["peak_memory_bytes"] < 64 * MiB + 200 * MiB


def test_a_shared_mapping_of_dev_zero_is_no_memory() -> None:
    """Opened to read, the kernel makes it private: the zero page, whatever is touched."""
    source = (
        "import mmap, os\n"
        "m = mmap.mmap(os.open('/dev/zero', 0), 400 << 20, mmap.MAP_SHARED, mmap.PROT_READ)\n"
        "print(sum(m[at] for at in range(0, len(m), 4096)))"
    )
    result = confined(source, limits=MEMORY)
    assert result["out"] == "0\n" and result["peak_memory_bytes"] < 30 * MiB


def test_memory_over_the_limit_is_a_verdict_also_when_the_program_is_gone_first() -> None:
    source = "import mmap\nm = mmap.mmap(-1, 100 << 20)\nm[:] = bytes(1) * len(m)"
    assert confined(source, limits=MEMORY)["verdict"] == "memory_limit"


def test_a_policy_that_cannot_start_an_interpreter_says_so_at_once() -> None:
    """Without read-files the child's own confirmation was denied by a listener that nobody
    served yet, and waited for startup_s."""
    start = time.monotonic()
    try:
        result = confined("print(6 * 7)", sets=("core",), limits={"startup_s": 20})
    except (OSError, ValueError):
        pass
    else:
        assert result["verdict"] in ("accepted", "runtime_error")
    assert time.monotonic() - start < 8


def _busy_seconds(source: str, **limits: float) -> float:
    """CPU time of the calling thread while the program runs."""
    policy, wanted = _core.Policy(spec()), request(source, limits={"wall_s": 2.5, **limits})
    start = time.thread_time()
    run_in(policy, wanted)
    return time.thread_time() - start


THREAD_STORM = """
import ctypes, threading
go = threading.Event()
for _ in range(3): threading.Thread(target=go.wait, daemon=True).start()
libc = ctypes.CDLL(None)
tid = ctypes.c_ulong()
while True: libc.pthread_create(ctypes.byref(tid), None, libc.pause, None)
"""
DENIAL_STORM = "import ctypes\nlibc = ctypes.CDLL(None)\nwhile True: libc.syscall(101, 0, 0, 0, 0)"
UNKNOWN_STORM = "import ctypes\nlibc = ctypes.CDLL(None)\nwhile True: libc.syscall(9999)"
OUTPUT_STORM = "import os\nwhile True:\n    os.write(1, b'')\n    os.write(2, b'')"
END_STORM = "import ctypes\nlibc = ctypes.CDLL(None)\nwhile True: libc.syscall(157, 0x43534245, 1)"
SHARED_STORM = """
import ctypes
libc = ctypes.CDLL(None)
while True: libc.syscall(9, None, ctypes.c_long(1 << 46), 3, 0x21, -1, None)
"""


STORMS = {
    "threads": THREAD_STORM,
    "denials": DENIAL_STORM,
    "unknown": UNKNOWN_STORM,
    "empty output": OUTPUT_STORM,
    "last words": END_STORM,
    "shared memory": SHARED_STORM,
}


@cache
def _storms(mode: str) -> dict[str, float]:
    found = in_parallel(lambda s: _busy_seconds(s, threads=4, cpu_s=5), STORMS.values(), 3)
    return dict(zip(STORMS, found, strict=True))


@pytest.mark.parametrize("name", STORMS)
def test_a_storm_does_not_keep_the_supervisor_busy(name: str) -> None:
    assert _storms(mode())[name] < 0.6


GRANTED_STORM = """
import ctypes, mmap
libc = ctypes.CDLL(None)
tid = ctypes.c_ulong()
while True:
    libc.pthread_create(ctypes.byref(tid), None, libc.getpid, None)
    libc.pthread_join(tid, None)
"""


def test_a_storm_of_granted_calls_ends_on_time() -> None:
    """Each thread is let through, so none is slowed; the wall limit holds all the same."""
    start = time.monotonic()
    result = confined(GRANTED_STORM, limits={"wall_s": 1, "cpu_s": 9, "threads": 4})
    assert result["limit_hit"] in ("wall", "cpu")
    assert time.monotonic() - start < 4


RACE = """
import ctypes, json, threading, time
libc = ctypes.CDLL(None)
made = []
start = threading.Barrier(8)
def storm():
    tid = ctypes.c_ulong()
    start.wait()
    for _ in range(50):
        if libc.pthread_create(ctypes.byref(tid), None, libc.pause, None) == 0: made.append(1)
threads = [threading.Thread(target=storm) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(len(made), flush=True)
libc.syscall(231, 0)
"""


def test_the_thread_cap_under_a_race() -> None:
    """Grants in flight are not threads yet: to twice the cap at most (notify.h)."""
    result = confined(RACE, limits={"threads": 16, "wall_s": 8})
    assert int(result["out"]) <= 2 * 16


def test_a_fast_reader_of_a_large_stdin_cannot_hold_the_deadline() -> None:
    source = "import os\nwhile os.read(0, 1 << 20): pass\nwhile True: pass"
    start = time.monotonic()
    result = confined(source, stdin=bytes(256 * MiB), limits={"cpu_s": 0.5, "wall_s": 4})
    assert result["verdict"] == "time_limit"
    assert time.monotonic() - start < 8


def test_threads_absent_from_the_sets_means_none() -> None:
    source = (
        "import ctypes\nlibc = ctypes.CDLL(None)\ntid = ctypes.c_ulong()\n"
        "print(libc.pthread_create(ctypes.byref(tid), None, libc.getpid, None))"
    )
    sets = ("core", "read-files", "write-files", "asyncio")
    before = threading.active_count()
    assert confined(source, sets=sets, limits={"threads": 8})["out"] == "1\n"  # EPERM
    assert threading.active_count() == before
