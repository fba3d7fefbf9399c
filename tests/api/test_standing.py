"""A child that is left standing after its end is cleared away soon, whatever else goes wrong."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import pathlib, resource, time
import csandbox

def standing(pool):
    zygote = pool.stats()["zygote_pid"]
    count = 0
    for place in pathlib.Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                fields = (place / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            count += fields[1] == str(zygote) and fields[0] not in "ZX"
    return count - pool.stats()["ready"]

def wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.001)

with csandbox.Pool("minimal", workers=2, spares=4) as pool:
    assert pool.wait_ready()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (20, hard))  # no new spare can be made
    for _ in range(3):
        assert pool.run("print(1)").ok
    wait_for(lambda: pool.stats()["failures"] >= 5)  # the next trial is 1.6 s away
    failures = pool.stats()["failures"]
    assert pool.run("print(1)").ok
    wait_for(lambda: standing(pool) == 0)
    time.sleep(0.1)
    print(pool.stats()["failures"] - failures)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
"""


def test_it_does_not_wait_for_the_next_trial_to_make_a_spare() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.stdout == "0\n", done.stdout + done.stderr
