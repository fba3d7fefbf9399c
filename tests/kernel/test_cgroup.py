"""A control group of each run's own. Where none is delegated only the refusal can be tested; `make
test-kernels` runs this file in machines in which one is, as root and as a user."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import csandbox
from csandbox import _core
from csandbox._errors import UnsupportedError
from tests.confined import DEGRADED, EMULATED, confined

FOUND = _core.probe()["cgroup"]
delegated = pytest.mark.skipif(not FOUND["available"], reason=str(FOUND["detail"]))
HIERARCHY = Path("/sys/fs/cgroup")
PATIENCE_S = 300 if EMULATED else 60


def leaves() -> list[Path]:
    # os.walk passes over what goes away meanwhile
    return [
        Path(folder, name)
        for folder, names, _ in os.walk(HIERARCHY)
        for name in names
        if name.startswith("csandbox-")
    ]


def none_is_left() -> bool:
    """Of a spare child they are removed in the background."""
    deadline = time.monotonic() + PATIENCE_S
    while leaves() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not leaves()


def _text(path: Path) -> str:
    """What a file of a group says; "" when the group is gone."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


@pytest.mark.skipif(bool(FOUND["available"]), reason="one is delegated here")
def test_without_one_a_run_says_so_and_require_fails_closed() -> None:
    state = csandbox.run("print(1)").isolation["cgroup"]
    assert state.startswith("off: ") and len(state) > len("off: ")
    with pytest.raises(UnsupportedError) as caught:
        csandbox.run("print(1)", cgroup="require")
    assert caught.value.feature == "cgroup"
    assert "Delegate" in caught.value.hint


def test_off_by_choice() -> None:
    assert (
        csandbox.run(
            "print(1)", cgroup="off", allow_degraded=DEGRADED, limits={"startup_s": 300}
        ).isolation["cgroup"]
        == 'off: cgroup="off"'
    )


@delegated
def test_the_kernel_is_given_the_limits_and_nothing_is_left() -> None:
    seen: dict[str, str] = {}

    def look() -> None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and "pids.current" not in seen:
            for leaf in leaves():
                if _text(leaf / "pids.current") == "1":
                    for name in ("memory.max", "memory.swap.max", "pids.max", "pids.current"):
                        path = leaf / name
                        seen[name] = path.read_text().strip() if path.exists() else "0"
            time.sleep(0.01)

    watcher = threading.Thread(target=look)
    watcher.start()
    limits = {"memory_bytes": 128 << 20, "threads": 3, "wall_s": 60, "disk_bytes": 1 << 20}
    result = confined("import time\ntime.sleep(2)", limits=limits)
    watcher.join()
    assert result["isolation"]["cgroup"].startswith("enforced")
    assert seen == {
        "memory.max": str((128 << 20) * 5 // 4 + (1 << 20) + (64 << 20)),
        "memory.swap.max": "0",
        "pids.max": "3",
        "pids.current": "1",
    }
    assert none_is_left()


THREADS = """
import threading
go = threading.Event()
threads = [threading.Thread(target=go.wait) for _ in range(12)]
try:
    for thread in threads: thread.start()
    print("EFFECT")
except RuntimeError: print("refused")
go.set()
"""


@delegated
def test_pids_max_holds_the_thread_cap_alone() -> None:
    alone = confined(THREADS, limits={"threads": 4}, without=["seccomp_notify"])
    assert alone["out"] == "refused\n"
    gone = confined(THREADS, limits={"threads": 4}, without=["seccomp_notify", "cgroup"])
    assert gone["out"] == "EFFECT\n"


@delegated
def test_memory_max_ends_a_run_by_the_right_verdict() -> None:
    """Memory that RLIMIT_DATA does not count, faster than anybody looks."""
    source = "b = bytearray(300 << 20)\nprint('EFFECT')"
    limits = {"memory_bytes": 64 << 20}
    result = confined(source, limits=limits, without=["rlimits"])
    assert result["verdict"] == "memory_limit" and "EFFECT" not in result["out"]


HOST = f"""
import csandbox, threading
def work():
    for _ in range(20):  # the guard may be too slow where everything is emulated
        result = csandbox.run("import time; time.sleep(60)", profile="open",
            allow_degraded={DEGRADED!r}, limits={{"wall_s": 60, "startup_s": 60}})
        if result.verdict != "rejected":
            break
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@delegated
@pytest.mark.modeless
def test_a_killed_caller_leaves_nothing_for_long() -> None:
    """Its janitor removes the group and the folder."""
    host = subprocess.Popen([sys.executable, "-c", HOST], env={**os.environ})
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and not any(
        _text(leaf / "cgroup.procs") for leaf in leaves()
    ):
        time.sleep(0.05)
    assert leaves()
    host.send_signal(signal.SIGKILL)
    host.wait()
    while time.monotonic() < deadline and leaves():
        time.sleep(0.05)
    assert none_is_left()


DAEMON = """
import os, time
pid = os.fork()
if pid == 0:
    os.setsid()
    os.closerange(0, 20)
    time.sleep(600)
    os._exit(0)
print(pid)
"""


@delegated
@pytest.mark.skipif(not list(HIERARCHY.rglob("cgroup.kill")), reason="before Linux 5.14")
def test_what_forked_away_is_killed_with_the_group() -> None:
    """Only without the filter can there be such a process; the group is the last to know it."""
    without = ["seccomp", "seccomp_notify"]

    def outlives(*more: str) -> bool:
        result = confined(DAEMON, without=[*without, *more], limits={"threads": 8})
        pid = int(result["out"])
        deadline = time.monotonic() + (1 if more else PATIENCE_S)
        while (stat := _text(Path(f"/proc/{pid}/stat"))) and time.monotonic() < deadline:
            if stat.rpartition(")")[2].split()[0] == "Z":  # nobody here reaps it
                return False
            time.sleep(0.05)
        if Path(f"/proc/{pid}").exists():
            os.kill(pid, signal.SIGKILL)
            return True
        return False

    assert not outlives()
    assert outlives("cgroup")
    assert none_is_left()


@delegated
@pytest.mark.modeless
def test_a_session_has_one_too() -> None:
    """For as long as it lives; its memory limit is the kernel's as well."""
    limits = {"memory_bytes": 64 << 20, "startup_s": 300, "wall_s": 300, "cpu_s": 300}
    with csandbox.Session("open", limits=limits, allow_degraded=DEGRADED) as session:
        for _ in range(20):  # the guard may be too slow where everything is emulated
            result = session.run("x = 1")
            if result.verdict != "rejected":
                break
        assert result.isolation["cgroup"].startswith("enforced"), result.isolation["cgroup"]
        (leaf,) = [leaf for leaf in leaves() if _text(leaf / "cgroup.procs")]
        assert int((leaf / "pids.current").read_text()) >= 1
    assert none_is_left()


@delegated
@pytest.mark.modeless
def test_a_branch_has_one_of_its_own() -> None:
    """It is born in that of its original, and its memory must not be held against that."""
    limits = {"memory_bytes": 64 << 20, "startup_s": 300, "wall_s": 300, "cpu_s": 300}
    with csandbox.Session("open", limits=limits, allow_degraded=DEGRADED) as session:
        try:
            branch = session.fork()
        except csandbox.BranchError as error:
            pytest.skip(str(error))  # before Linux 5.13 there are no branches
        with branch:
            assert session._core is not None and branch._core is not None
            held = {
                int(pid): leaf for leaf in leaves() for pid in _text(leaf / "cgroup.procs").split()
            }
            first, second = held[session._core.pid], held[branch._core.pid]
            assert first != second
            assert _text(first / "memory.max") == _text(second / "memory.max") != "max"
            for _ in range(20):  # the guard may be too slow where everything is emulated
                result = branch.run("x = 1")
                if result.verdict != "rejected":
                    break
            assert result.isolation["cgroup"].startswith("enforced"), result.isolation["cgroup"]
    assert none_is_left()
