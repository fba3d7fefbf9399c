"""A pool that another thread closes at any moment: whoever comes late is told, and reads no memory
that was given back."""

from __future__ import annotations

import subprocess
import sys

LATE = """
from csandbox import Profile, _core
from csandbox._default_pool import pool_spec
from csandbox._interpreter import interpreter
from csandbox._order import Order
from csandbox._policy import policy_spec

profile = Profile.load("open")
policy = _core.Policy(policy_spec(profile, interpreter(None), frozenset()))

class Closing:
    def __init__(self, pool): self.pool = pool
    def __len__(self): return 0
    def __getitem__(self, index):
        self.pool.close()  # what a second thread may do at that moment
        raise IndexError

for method in ("run", "head_start"):
    pool = _core.Pool(policy, pool_spec(profile, workers=1, spares=1))
    order = Order.make("print(1)", {}, profile=profile)
    assert order.admit() is None
    try:
        print(getattr(pool, method)({**order.request, "args": Closing(pool)}))
    except Exception as error:
        print(error)
"""

MANY = """
import threading, time
import csandbox

def work(pool):
    try:
        while True:
            assert pool.run("print(1)").ok
    except ValueError as error:
        assert "closed" in str(error), error

for turn in range(12):
    pool = csandbox.Pool("minimal", workers=1 + turn % 2, spares=1 + turn % 3)
    threads = [threading.Thread(target=work, args=(pool,)) for _ in range(3)]
    for thread in threads: thread.start()
    time.sleep(0.02 * turn)
    pool.close()
    for thread in threads: thread.join()
print("done")
"""


def output(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)
    return done.stdout


def test_one_that_has_begun_to_ask() -> None:
    first, second = output(LATE).splitlines()
    assert "the pool is closed" in first
    assert second == "None"


def test_those_that_are_at_work() -> None:
    assert output(MANY) == "done\n"
