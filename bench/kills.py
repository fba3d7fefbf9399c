"""Hosts that die in the middle of their runs: is a process, a folder, a mount left?

``python -m bench.kills``. Each host runs programs in threads, fresh or warm, and ends at a random
moment by a signal, by the end of its main thread, by os._exit, or loses a thread in the middle of a
run. What it leaves is inherited by a process of this module (a subreaper), so nothing can hide.
Several hosts live at once, each beside a process that looks after it. Exit code 1 when anything is
left a moment later.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
GONE_S = 20.0  # for the kernel to take down what was killed, on a loaded machine
SHARED_MEMORY = Path("/dev/shm")
HOST = """
import ctypes, os, signal, sys, threading, time, csandbox
how, moment, fresh = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "fresh"
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored in a job
libc = ctypes.CDLL(None)
if how == "thread":  # whichever thread gets it is gone, as if by pthread_cancel
    libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    libc.signal(signal.SIGUSR1, ctypes.cast(libc.pthread_exit, ctypes.c_void_p))
def work():
    while True:
        for source in ("print(1)", "while True: pass", "import time; time.sleep(9)",
                       "for n in range(50): open(str(n), 'w').write('x')"):
            csandbox.run(source, limits={"cpu_s": 0.1, "wall_s": 0.3}, fresh=fresh)
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for thread in threads: thread.start()
csandbox.run("pass")
print("begun", flush=True)
if how == "thread":
    time.sleep(moment)
    csandbox_thread = threading.Thread(target=csandbox.run, args=("import time; time.sleep(9)",),
        kwargs={"limits": {"wall_s": 9}, "fresh": fresh}, daemon=True)
    csandbox_thread.start()
    # Not when it looks for signals, each 0.1 s: who dies with the GIL takes the host along.
    time.sleep(0.15)
    signal.pthread_kill(csandbox_thread.ident, signal.SIGUSR1)
    time.sleep(0.1)
    os._exit(0)
# In short steps: a signal that the kernel gives to another thread wakes no sleeping main thread.
end = time.monotonic() + (moment if how in ("exit", "_exit") else 60)
while time.monotonic() < end: time.sleep(0.02)
if how == "_exit": os._exit(0)
"""
#: How a host ends; those with a signal get it, the others do it themselves.
WAYS = {
    "SIGKILL": signal.SIGKILL,
    "SIGINT": signal.SIGINT,
    "SIGTERM": signal.SIGTERM,
    "start": signal.SIGKILL,  # not even started yet
    "exit": None,
    "_exit": None,
    "thread": None,
}


def children() -> set[int]:
    """Processes that are ours, by birth or by inheritance."""
    found: set[int] = set()
    for task in os.listdir("/proc/self/task"):
        text = Path(f"/proc/self/task/{task}/children").read_text()
        found.update(map(int, text.split()))
    return found


def left_over(folder: str) -> tuple[set[int], list[str]]:
    """Processes and folders that are there after a moment; ended ones are reaped."""
    deadline = time.monotonic() + GONE_S
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        left = children(), os.listdir(folder)
        if not any(left) or time.monotonic() > deadline:
            return left
        time.sleep(0.005)


def describe(pid: int) -> str:
    """The process in words, for whoever has to find out why it is there."""
    try:
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return f"process {pid} (gone meanwhile)"
    state = next((line.split(None, 1)[1] for line in status if line.startswith("State")), "?")
    return f"process {pid} ({state}, {words[:3]!r})"


def kill_one(how: str, moment: float, fresh: bool, folder: str) -> list[str]:
    """One host from its start to its end; what outlives it, in words."""
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, how, str(moment), "fresh" if fresh else "warm"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": folder},
    )
    assert host.stdout is not None
    if how != "start":
        host.stdout.readline()
    sent = WAYS[how]
    if sent is not None:
        time.sleep(moment)
        host.send_signal(sent)
    try:
        host.wait(30)
    except subprocess.TimeoutExpired:
        host.kill()
        host.wait()
        return [f"the host, which did not end in 30 s after {moment:.3f} s"]
    finally:
        host.stdout.close()
    processes, names = left_over(folder)
    words = [describe(pid) for pid in processes] + [f"folder {name}" for name in names]
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return words


def one_after_the_other(kills: int, seed: int) -> dict[str, object]:
    """So many hosts, and what was done and seen. This process becomes a subreaper."""
    chance = random.Random(seed)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    done: Counter[str] = Counter()
    left: list[str] = []
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        os.chmod(folder, 0o755)
        for number in range(kills):
            how = list(WAYS)[(number + seed) % len(WAYS)]
            words = kill_one(how, chance.uniform(0, 0.6), chance.random() < 0.5, folder)
            done[how] += 1
            left += [f"{how}: {word}" for word in words]
    return {"done": done, "left": left}


def elsewhere() -> tuple[set[str], int]:
    """Our folders in shared memory, and how many mounts there are."""
    names = {name for name in os.listdir(SHARED_MEMORY) if name.startswith("csandbox-")}
    return names, len(Path("/proc/self/mountinfo").read_text().splitlines())


def main() -> int:
    """Share out the kills, add up what is left."""
    parser = argparse.ArgumentParser(prog="python -m bench.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=4, help="hosts")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.at_once <= 1:
        print(json.dumps(one_after_the_other(options.kills, options.seed)))
        return 0
    before = elsewhere()
    began = time.monotonic()
    shares = [len(range(n, options.kills, options.at_once)) for n in range(options.at_once)]
    workers = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "bench.kills", "--at-once", "1"),
                *("--kills", str(share), "--seed", str(options.seed + number)),
            ],
            stdout=subprocess.PIPE,
        )
        for number, share in enumerate(shares)
    ]
    done: Counter[str] = Counter()
    left: list[str] = []
    for worker in workers:
        output, _ = worker.communicate()
        if worker.returncode != 0:
            left.append(f"a worker ended with {worker.returncode}")
            continue
        answer = json.loads(output)
        done.update(answer["done"])
        left += answer["left"]
    names, mounts = elsewhere()
    left += [f"/dev/shm/{name}" for name in names - before[0]]
    left += [f"{mounts - before[1]} mounts"] if mounts > before[1] else []
    print(f"{sum(done.values())} kills in {time.monotonic() - began:.0f} s: {dict(done)}")
    print(f"    {len(left)} processes, folders, mounts left", *left[:20], sep="\n    ")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
