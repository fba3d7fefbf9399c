"""Each limit as a verdict of its own, measured from outside, in time, whatever the program does."""

import time

import pytest

import csandbox
from csandbox import Limits, MiB

pytestmark = pytest.mark.both_modes

GRACE_S = 0.2  # promised on top of the wall limit
START_S = 3.0  # start-up on a busy test machine; not part of the promise


def timed(code, **keywords):
    begin = time.monotonic()
    result = csandbox.run(code, **keywords)
    return result, time.monotonic() - begin


def test_cpu_limit():
    result, _ = timed("while True: pass", limits={"cpu_s": 0.3})
    assert (result.verdict, result.limit_hit, result.code) == ("time_limit", "cpu", "CSR011")
    assert 0.28 <= result.usage.cpu_s < 0.6
    assert result.exit_code is None


def test_cpu_limit_counts_all_threads():
    code = (
        "import threading, hashlib\n"
        "def f():\n    while True: hashlib.sha256(b'x' * 10**6)\n"
        "for _ in range(3): threading.Thread(target=f).start()\nf()"
    )
    result, _ = timed(code, limits={"cpu_s": 0.4, "wall_s": 20})
    assert (result.verdict, result.limit_hit) == ("time_limit", "cpu")


def test_sleeping_costs_wall_time_only():
    result, seconds = timed("import time; time.sleep(30)", limits={"wall_s": 0.4})
    assert (result.verdict, result.limit_hit, result.code) == ("time_limit", "wall", "CSR010")
    assert result.usage.cpu_s < 0.3
    assert 0.4 <= result.usage.wall_s < 0.4 + GRACE_S
    assert seconds < 0.4 + GRACE_S + START_S


@pytest.mark.parametrize(
    "code",
    [
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        "import os, time\nos.close(1); os.close(2)\ntime.sleep(30)",
        "import signal, time\n"
        "for n in range(1, 65):\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "time.sleep(30)",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(30,)).start()",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import atexit, time\natexit.register(time.sleep, 30)",
        "import time\nclass A:\n    def __del__(self, sleep=time.sleep): sleep(30)\nx = A()",
        "sum(iter(int, 1))",
        "10 ** 10 ** 8",
    ],
)
def test_nothing_outlasts_the_wall(code):
    result, seconds = timed(code, profile="open", limits=Limits(cpu_s=5, wall_s=0.6))
    assert (result.verdict, result.limit_hit) == ("time_limit", "wall")
    assert result.usage.wall_s < 0.6 + GRACE_S
    assert seconds < 0.6 + GRACE_S + START_S


def test_memory_limit_by_small_and_by_large_steps():
    for code in ("x = []\nwhile True: x.append(bytearray(1 << 20))", "x = bytearray(1 << 33)"):
        result, _ = timed(code, limits={"memory_bytes": 64 * MiB})
        assert (result.verdict, result.limit_hit) == ("memory_limit", "memory"), result.stderr
        assert result.usage.peak_memory_bytes < 80 * MiB


def test_memory_error_that_the_program_handles_is_its_own_business():
    code = "try:\n    bytearray(1 << 33)\nexcept MemoryError:\n    print('handled')"
    assert csandbox.run(code, limits={"memory_bytes": 64 * MiB}).stdout == "handled\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_limit_keeps_head_and_tail(stream):
    code = (
        f"import sys\nw = sys.{stream}.write\nw('begin\\n')\n"
        "for i in range(10**7): w('é' * 100 + '\\n')"
    )
    result, _ = timed(code, limits={"output_bytes": 10_000, "cpu_s": 5})
    assert (result.verdict, result.limit_hit, result.code) == ("output_limit", "output", "CSR030")
    text = getattr(result, stream)
    assert text.startswith("begin\né")
    assert "bytes left out" in text
    assert "\ufffd" not in text
    assert getattr(result, f"{stream}_truncated")
    assert getattr(result, f"{stream}_total_bytes") > 10_000
    assert len(getattr(result, f"{stream}_bytes")) <= 10_000


def test_partial_output_comes_with_every_verdict():
    code = "import time\nprint('so far', flush=True)\ntime.sleep(30)"
    assert timed(code, limits={"wall_s": 0.5})[0].stdout == "so far\n"
    code = "print('so far', flush=True)\nx = bytearray(1 << 33)"
    assert csandbox.run(code, limits={"memory_bytes": 64 * MiB}).stdout == "so far\n"


def test_file_size():
    code = "open('x', 'wb').write(b'x' * (2 << 20))"
    result = csandbox.run(code, limits={"file_bytes": MiB})
    assert not result.ok
    assert "File too large" in result.stderr or result.limit_hit == "disk"
    assert csandbox.run(code, limits={"file_bytes": 4 * MiB}).ok


def test_open_files():
    code = "x = [open(0, closefd=False) and __import__('os').dup(0) for _ in range(200)]"
    result = csandbox.run(code, profile="open", limits={"open_files": 32})
    assert "Too many open files" in result.stderr


def test_threads():
    code = (
        "import threading, time\n"
        "for _ in range(40):\n"
        "    threading.Thread(target=time.sleep, args=(0.3,), daemon=True).start()\n"
        "print('all')"
    )
    result = csandbox.run(code, limits={"threads": 8})
    assert not result.ok
    assert result.code == "CSR032"
    assert csandbox.run(code, limits={"threads": 50}).stdout == "all\n"


def test_a_stack_that_overflows_is_the_codes_fault():
    code = (
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return [*map(lambda _: f(), [1])]\nf()"
    )
    result = csandbox.run(code, profile="contest", limits={"cpu_s": 20})
    assert result.verdict in ("runtime_error", "memory_limit")
    assert not result.ok


def test_limits_end_with_the_run():
    assert csandbox.run("while True: pass", limits={"cpu_s": 0.1}).verdict == "time_limit"
    assert csandbox.run("print(1)").ok
