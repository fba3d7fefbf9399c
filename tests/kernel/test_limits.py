# ruff: noqa: E501  (tables)
"""Each limit × each way of meeting it: the verdict, which limit, what was seen until then, on time.

One table; every row is run once, a few at a time, and each test looks at its own. The verdict must
not depend on the machine's load, so CPU rows have much wall time and wall rows need no CPU.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

from tests.confined import MiB, confined, in_parallel, mode

GRACE_S = 3.0  # a start, a clean-up and other work on two cores; not part of what is measured
BEGIN = "print('begun', flush=True)\n"


@dataclass(frozen=True)
class Way:
    name: str
    source: str
    ends: tuple[str, ...]  # "verdict" or "verdict/limit_hit"
    limits: dict[str, Any] = field(default_factory=dict)
    needs: str = ""
    signal: int | None = None
    says: str = ""  # on stderr


def cpu(name: str, source: str, **more: Any) -> Way:
    return Way(name, source, ("time_limit/cpu",), {"cpu_s": 0.4, "wall_s": 15}, **more)


def wall(name: str, source: str, **more: Any) -> Way:
    return Way(name, source, ("time_limit/wall",), {"cpu_s": 5, "wall_s": 1.0}, **more)


def memory(name: str, source: str, **more: Any) -> Way:
    limits = {"memory_bytes": 96 * MiB, "cpu_s": 8, "wall_s": 20}
    return Way(name, source, ("memory_limit/memory",), limits, **more)


def output(name: str, source: str, **more: Any) -> Way:
    limits = {"output_bytes": 10_000, "cpu_s": 5, "wall_s": 10}
    return Way(name, source, ("output_limit/output",), limits, **more)


def fine(name: str, source: str, **limits: Any) -> Way:
    return Way(name, source, ("accepted",), limits)


def error(
    name: str,
    source: str,
    *,
    ends: tuple[str, ...] = ("runtime_error",),
    signal: int | None = None,
    says: str = "",
    **limits: Any,
) -> Way:
    return Way(name, source, ends, {"cpu_s": 3, "wall_s": 10, **limits}, "", signal, says)


WAYS = [
    # CPU
    cpu("python loop", "while True: pass"),
    cpu("one power", "9 ** 9 ** 9"),
    cpu("regex", "import re\nre.match('(a+)+$', 'a' * 40 + 'b')"),
    cpu("sum of a range", "sum(range(10 ** 12))"),
    cpu("two threads", "import threading\ndef f():\n    while True: pass\n"
        "for _ in range(2): threading.Thread(target=f).start()"),
    cpu("system time", "import os\nwhile True: os.stat('.')"),
    cpu("exceptions swallowed", "while True:\n    try:\n        while True: pass\n"
        "    except BaseException: pass"),
    cpu("signals ignored", "import signal\nfor s in range(1, 65):\n"
        "    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "while True: pass"),
    cpu("at exit", "import atexit\n@atexit.register\ndef f():\n    while True: pass"),
    cpu("in a finaliser", "class A:\n    def __del__(self):\n        while True: pass\na = A()"),
    cpu("main thread gone", "import ctypes, threading\ndef f():\n    while True: pass\n"
        "threading.Thread(target=f).start()\nctypes.CDLL(None).syscall(60, 0)"),
    cpu("hash collisions", "class A:\n    def __hash__(self): return 1\n"
        "    def __eq__(self, other): return False\nset(A() for _ in range(10 ** 6))"),
    cpu("numpy product", "import numpy\na = numpy.ones((900, 900))\nwhile True: a @ a", needs="numpy"),
    Way("ended by itself, too late", BEGIN + "import time\nwhile time.process_time() < 1: pass",
        ("time_limit/cpu",), {"cpu_s": 0.4, "wall_s": 15}),
    # wall
    wall("sleep", "import time\ntime.sleep(100)"),
    wall("many short sleeps", "import time\nwhile True: time.sleep(0.01)"),
    wall("stopped itself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    wall("deadlock", "import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()"),
    wall("select", "import select\nselect.select([], [], [])"),
    wall("all signals blocked", "import signal, time\n"
         "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\ntime.sleep(100)"),
    wall("streams closed", "import os, time\nos.close(1)\nos.close(2)\nos.close(0)\ntime.sleep(100)"),
    wall("a thread that lingers", "import threading, time\n"
         "threading.Thread(target=time.sleep, args=(100,)).start()"),
    wall("main thread gone", "import ctypes, threading, time\n"
         "threading.Thread(target=time.sleep, args=(100,)).start()\nctypes.CDLL(None).syscall(60, 0)"),
    wall("asyncio", "import asyncio\nasyncio.run(asyncio.sleep(100))"),
    wall("a pipe nobody writes", "import os\nr, w = os.pipe()\nos.read(r, 1)"),
    # memory
    memory("small pieces", "x = []\nwhile True: x.append(bytes(1000))"),
    memory("large pieces", "x = []\nwhile True: x.append(bytes(10 ** 7))"),
    memory("one huge piece", "bytearray(2 ** 40)"),
    memory("one piece a bit too large", "bytearray(97 << 20)"),
    memory("a string", "'a' * 10 ** 10"),
    memory("a list", "[0] * 10 ** 9"),
    memory("a dictionary", "d = {}\nfor n in range(10 ** 9): d[n] = n"),
    memory("a format width", "'{:>9999999999}'.format(1)"),
    memory("private maps", "import mmap\nx = [mmap.mmap(-1, 1 << 24, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)"
           " for _ in range(100)]"),
    memory("shared maps", "import mmap\nx = []\nwhile True:\n    x.append(mmap.mmap(-1, 1 << 22))\n"
           "    x[-1][:] = bytes(1 << 22)"),
    memory("in a thread", "import threading\ndef f():\n    x = []\n    while True: x.append(bytes(10 ** 6))\n"
           "t = threading.Thread(target=f)\nt.start()\nt.join()\nraise MemoryError"),
    # A crash: that memory was the reason is known only from the last look before it.
    error("malloc by ctypes", "import ctypes\nlibc = ctypes.CDLL(None)\n"
          "libc.malloc.restype = ctypes.c_void_p\nwhile True:\n    p = libc.malloc(1 << 20)\n"
          "    ctypes.memset(p, 1, 1 << 20)", memory_bytes=96 * MiB,
          ends=("memory_limit/memory", "runtime_error")),
    memory("crash long after memory was full", "import ctypes, time\nlibc = ctypes.CDLL(None)\n"
           "libc.malloc.restype = ctypes.c_void_p\np = 1\nwhile p:\n    p = libc.malloc(1 << 16)\n"
           "    if p: ctypes.memset(p, 1, 1 << 16)\nt = time.monotonic()\n"
           "while time.monotonic() - t < 0.5: pass\nctypes.memset(None, 1, 1)"),
    memory("decompression", "import zlib\nzlib.decompress(zlib.compress(bytes(10 ** 8), 9) * 1)"),
    memory("numpy", "import numpy\nnumpy.ones(10 ** 9)", needs="numpy"),
    fine("a MemoryError that is survived", BEGIN + "try: bytearray(2 ** 40)\nexcept MemoryError: print('survived')",
         memory_bytes=96 * MiB),
    fine("a large reservation", BEGIN + "import mmap\nmmap.mmap(-1, 1 << 36, flags=0x4022, prot=1)",
         memory_bytes=96 * MiB),
    # output
    output("one write", "import os\nos.write(1, b'x' * (1 << 26))"),
    output("one write of four gigabytes", "import os\nos.writev(1, [bytes(1 << 22)] * 1024)"),
    output("four gigabytes to a file object", "import sys\nx = memoryview(bytes(1 << 22))\n"
           "while True: sys.stdout.buffer.raw.write(x)"),
    output("print for ever", "while True: print('x' * 1000)"),
    output("byte by byte", "import os\nwhile True: os.write(1, b'x')"),
    output("to stderr", "import sys\nwhile True: sys.stderr.write('x' * 1000)"),
    output("binary", "import sys\nwhile True: sys.stdout.buffer.write(bytes(range(256)))"),
    output("without a newline", "import sys\nwhile True: sys.stdout.write('x')"),
    output("from threads", "import os, threading\ndef f():\n    while True: os.write(1, b'x' * 100)\n"
           "for _ in range(3): threading.Thread(target=f).start()"),
    output("one byte too much", "import os\nos.write(1, b'x' * (10_000 - 6 + 1))"),
    output("a traceback", "raise ValueError('x' * 100_000)"),
    fine("exactly the cap", BEGIN + "import os\nos.write(1, b'x' * (10_000 - 6))", output_bytes=10_000),
    fine("after closing", BEGIN + "import os\nos.close(1)\nfor _ in range(9):\n    try: os.write(1, b'x')\n"
         "    except OSError: pass\nos._exit(0)"),
    # recursion, crashes
    error("recursion", "def f(): return f()\nf()", says="RecursionError"),
    error("overflow of the C stack", "import ctypes, sys\nsys.setrecursionlimit(10 ** 9)\n"
          "f = lambda n: max([1, 2], key=lambda _: f(n + 1))\nf(0)",
          ends=("runtime_error", "memory_limit/memory")),
    error("overflow of the C stack, far from any limit", "import ctypes\n"
          "kind = ctypes.CFUNCTYPE(ctypes.c_int)\nf = kind(lambda: f())\n"
          "import sys\nsys.setrecursionlimit(10 ** 9)\nf()",
          stack_bytes=1 << 18, memory_bytes=400 * MiB, signal=11),
    error("a null pointer", "import ctypes\nctypes.string_at(0)", signal=11),
    error("abort", "import os\nos.abort()", signal=6),
    # threads, descriptors, files
    error("too many threads", "import threading, time\n"
          "while True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
          ends=("runtime_error/processes",), threads=4),
    error("too many descriptors", "import os\nwhile True: os.dup(0)", open_files=32),
    error("a file too large", "with open('f', 'wb') as f: f.write(bytes(2 << 20))", file_bytes=1 << 20),
    error("a sparse file too large", "import os\nos.truncate(os.open('f', os.O_CREAT | os.O_RDWR), 1 << 40)",
          file_bytes=1 << 20),
    fine("threads within the cap", BEGIN + "import threading\ng = threading.Event()\n"
         "t = [threading.Thread(target=g.wait) for _ in range(4)]\nfor x in t: x.start()\n"
         "g.set()\nfor x in t: x.join()", threads=5),
    fine("threads one after the other", BEGIN + "import threading\nfor _ in range(200):\n"
         "    t = threading.Thread(target=int)\n    t.start()\n    t.join()", threads=2),
    fine("a file as large as may be", BEGIN + "with open('f', 'wb') as f: f.write(bytes(1 << 20))",
         file_bytes=1 << 20),
]  # fmt: skip

BY_NAME = {f"{way.ends[0].replace('/', ' ')}: {way.name}": way for way in WAYS}


def _run(way: Way) -> tuple[dict[str, Any], float]:
    source = way.source if way.source.startswith(BEGIN) else BEGIN + way.source
    start = time.monotonic()
    result = confined(source, limits=way.limits)
    return result, time.monotonic() - start


@cache
def _outcomes(mode: str) -> dict[str, tuple[dict[str, Any], float]]:
    here = {name: way for name, way in BY_NAME.items() if not way.needs or find_spec(way.needs)}
    return dict(zip(here, in_parallel(_run, here.values(), 3), strict=True))


@pytest.mark.parametrize("name", list(BY_NAME))
def test_each_way_of_meeting_a_limit(name: str) -> None:
    way = BY_NAME[name]
    if way.needs and not find_spec(way.needs):
        pytest.skip(f"{way.needs} is not installed here")
    result, seconds = _outcomes(mode())[name]
    hit = f"/{result['limit_hit']}" if result["limit_hit"] else ""
    assert result["verdict"] + hit in way.ends, (result["err"][-400:], result["violations"])
    assert result["out"].startswith("begun\n")
    assert way.says in result["err"]
    if way.ends == ("runtime_error",):
        assert result["signal"] == way.signal
    limits = way.limits
    if result["limit_hit"] == "cpu":
        assert limits["cpu_s"] <= result["cpu_s"] <= limits["cpu_s"] + 0.15
    if result["limit_hit"] == "wall":
        assert limits["wall_s"] <= result["wall_s"] <= limits["wall_s"] + 0.2
        assert seconds < limits["wall_s"] + GRACE_S
    if result["limit_hit"] == "memory":
        assert result["peak_memory_bytes"] <= limits["memory_bytes"] + 64 * MiB
    if result["limit_hit"] == "output":
        kept = max(len(result["stdout"]), len(result["stderr"]))
        total = max(result["stdout_total_bytes"], result["stderr_total_bytes"])
        assert kept == limits["output_bytes"] < total


@pytest.mark.modeless
def test_every_name_is_used_once() -> None:
    assert len(BY_NAME) == len(WAYS)


@pytest.mark.parametrize("mebibytes", [20, 100, 400])
def test_peak_memory_is_what_was_allocated(mebibytes: int) -> None:
    limits = {"memory_bytes": 600 * MiB, "cpu_s": 8}
    empty = confined("pass", limits=limits)["peak_memory_bytes"]
    source = f"x = bytearray({mebibytes} << 20)\nfor at in range(0, len(x), 4096): x[at] = 1"
    full = confined(source, limits=limits)["peak_memory_bytes"]
    assert abs(full - empty - mebibytes * MiB) < 5 * MiB


@pytest.mark.parametrize("seconds", [0.2, 0.6])
def test_cpu_time_is_what_was_used(seconds: float) -> None:
    source = f"import time\nwhile time.process_time() < {seconds} + at: pass"
    source = (
        "import time\nat = time.process_time()\n" + source + "\nprint(time.process_time() - at)"
    )
    off = []
    for _ in range(3):  # a busy machine adds a little to one or the other
        result = confined(source, limits={"cpu_s": 5, "wall_s": 20})
        off.append(abs(result["cpu_s"] - float(result["out"])))
    assert min(off) < 0.01, off  # what comes before and after the loop is counted too


def test_partial_output_keeps_head_and_tail() -> None:
    source = "import os\nfor n in range(100000): os.write(1, b'%08d' % n)"
    result = confined(source, limits={"output_bytes": 4000})
    head, tail = result["out"][:2000], result["out"][2000:]
    assert head == "".join(f"{n:08}" for n in range(250))
    assert result["stdout_total_bytes"] > 4000
    last = result["stdout_total_bytes"] // 8
    whole = "".join(f"{n:08}" for n in range(last - 300, last + 1))
    assert tail in whole
