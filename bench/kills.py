"""Hosts that die in the middle of their runs: is a process or a folder left?

``python -m bench.kills``. Each host runs programs in threads, and is ended at a random moment by
SIGKILL, by SIGINT, or by the end of its main thread. What it leaves is inherited by this process (a
subreaper), so nothing can hide. The scratch folders of a host that got SIGKILL are removed by the
next process that compiles a policy. Exit code 1 when anything is left.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
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
HOST = """
import sys, threading, time, csandbox
def work():
    while True:
        for source in ("print(1)", "while True: pass", "import time; time.sleep(9)",
                       "for n in range(50): open(str(n), 'w').write('x')"):
            csandbox.run(source, limits={"cpu_s": 0.1, "wall_s": 0.3}, fresh=FRESH)
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for thread in threads: thread.start()
csandbox.run("pass")
print("begun", flush=True)
time.sleep(float(sys.argv[1]))
"""


def children() -> set[int]:
    """Processes that are ours, by birth or by inheritance."""
    found: set[int] = set()
    for task in os.listdir("/proc/self/task"):
        text = Path(f"/proc/self/task/{task}/children").read_text()
        found.update(map(int, text.split()))
    return found


def left_over() -> set[int]:
    """What is still there after a moment; ended ones are reaped."""
    deadline = time.monotonic() + GONE_S
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        left = children()
        if not left or time.monotonic() > deadline:
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
    return f"process {pid} ({state}, {words[1:3]!r})"


def kill_one(how: str, moment: float, fresh: bool, env: dict[str, str]) -> set[int]:
    """One host from its start to its end; processes that outlive it."""
    source = HOST.replace("FRESH", str(fresh))
    end = moment if how == "exit" else 60.0
    host = subprocess.Popen(
        [sys.executable, "-c", source, str(end)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
    )
    assert host.stdout is not None
    if how != "start":
        host.stdout.readline()
    if how != "exit":
        time.sleep(moment)
        host.send_signal(signal.SIGINT if how == "SIGINT" else signal.SIGKILL)
    try:
        host.wait(30)
    except subprocess.TimeoutExpired:
        print(f"{how} after {moment:.3f} s: the host itself did not end in 30 s", flush=True)
        host.kill()
        host.wait()
        return {host.pid}
    finally:
        host.stdout.close()
    return left_over()


def main() -> int:
    """Kill, look, sweep, look."""
    parser = argparse.ArgumentParser(prog="python -m bench.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ways = ("SIGKILL", "SIGINT", "exit", "start")
    done: Counter[str] = Counter()
    processes = 0
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        os.chmod(folder, 0o755)
        env = {**os.environ, "TMPDIR": folder}
        for number in range(options.kills):
            how = ways[number % len(ways)]
            left = kill_one(how, chance.uniform(0, 0.6), chance.random() < 0.5, env)
            done[how] += 1
            processes += len(left)
            for pid in left:
                print(f"{how}: {describe(pid)} outlived its host", flush=True)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        stale = len(os.listdir(folder))
        sweep = "import csandbox; csandbox.run('pass', fresh=True)"
        subprocess.run([sys.executable, "-c", sweep], check=True, env=env)
        folders = [name for name in os.listdir(folder) if name.startswith("csandbox-")]
    print(f"{options.kills} kills {dict(done)}: {processes} processes left, {stale} stale folders")
    print(f"    after the next start of a process: {len(folders)} folders left")
    return 1 if processes or folders else 0


if __name__ == "__main__":
    sys.exit(main())
