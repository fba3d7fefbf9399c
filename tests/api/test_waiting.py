"""While a child does nothing, the caller does nothing: it waits, it does not poll."""

from __future__ import annotations

import resource
import threading

import pytest

import csandbox

pytestmark = pytest.mark.both_modes

SLEEP = "import time; time.sleep(0.6)"


def _own_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize(
    "program",
    [
        SLEEP,
        f"import os; os.close(0); {SLEEP}",
        f"import os; os.close(1); os.close(2); {SLEEP}",
        f"import os; print('x', flush=True); os.dup2(1, 2); {SLEEP}",
        "import socket, time\ntry: socket.socket()\nexcept OSError: pass\ntime.sleep(0.6)",
    ],
    ids=["plain", "without-stdin", "without-outputs", "after-output", "after-a-denial"],
)
@pytest.mark.parametrize("stdin", [b"", b"x" * 100_000], ids=["no-stdin", "stdin"])
def test_waiting_costs_nothing(program: str, stdin: bytes) -> None:
    csandbox.run("", profile="open")  # what is made once is made
    before = _own_cpu_s()
    result = csandbox.run(program, profile="open", stdin=stdin)
    assert result.ok, result.stderr
    assert _own_cpu_s() - before < 0.1


def test_threads_that_wait_cost_nothing() -> None:
    csandbox.run("", profile="open")
    before = _own_cpu_s()
    threads = [
        threading.Thread(target=csandbox.run, args=(SLEEP,), kwargs={"profile": "open"})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _own_cpu_s() - before < 0.3
