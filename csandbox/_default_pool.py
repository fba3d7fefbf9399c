"""The pools behind `csandbox.run`: made when they begin to pay, kept for a few policies.

A program that runs one submission and ends should not start a zygote for it. So the first run with
a policy has an interpreter of its own; the second begins to make a pool, and runs use it from the
moment at which it has a spare. Both ways enter the same layers by the same code.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict

from csandbox import _core
from csandbox._core_pool import WARM_MODULES, CorePool
from csandbox._profile import Profile
from csandbox._sizing import usable_cpus

# Each costs a process of some 12 MiB, and its spares.
KEPT = 4
# How many runs are on at a time is the affair of those who call `run`: here only a bound.
MOST_AT_A_TIME = 256
STARTUP_S = 30.0

_lock = threading.Lock()
_pools: OrderedDict[int, tuple[_core.Policy, CorePool | None]] = OrderedDict()
_ready: set[int] = set()


def pool_spec(
    profile: Profile, *, workers: int, spares: int, preload: tuple[str, ...] = ()
) -> dict[str, object]:
    """What ``_core.Pool`` takes, with the numbers that have no reason to differ."""
    return {
        "workers": workers,
        "spares": spares,
        "processors": usable_cpus(),
        "preload": tuple(dict.fromkeys([*WARM_MODULES, *profile.packages.preload, *preload])),
        # The address layout and the seed of str hashes are those of the zygote: a new one now and
        # then. Measured: a renewal costs one start, beside the runs.
        "renew_runs": 20_000,
        "renew_s": 600.0,
        "startup_s": STARTUP_S,
    }


def default_pool(policy: _core.Policy, profile: Profile) -> CorePool | None:
    """The pool for runs with this policy; None: use an interpreter of its own this time."""
    key = id(policy)
    if key in _ready:
        with _lock:
            found = _pools.get(key)
            if found is not None:
                _pools.move_to_end(key)
        return None if found is None else found[1]
    return _begin(key, policy, profile)


def ready_pool(policy: _core.Policy) -> CorePool | None:
    """The pool for this policy when it has one that is ready; makes none."""
    found = _pools.get(id(policy)) if id(policy) in _ready else None
    return None if found is None else found[1]


def _begin(key: int, policy: _core.Policy, profile: Profile) -> CorePool | None:
    dropped: CorePool | None = None
    with _lock:
        found = _pools.get(key)
        if found is None:
            _pools[key] = (policy, None)  # keeps the policy, so that its id stays its own
            if len(_pools) > 4 * KEPT:
                old, (_, dropped) = _pools.popitem(last=False)
                _ready.discard(old)
            pool = None
        else:
            pool = found[1]
            if pool is None:
                spec = pool_spec(profile, workers=MOST_AT_A_TIME, spares=max(2, 2 * usable_cpus()))
                pool = CorePool(policy, spec)
                _pools[key] = (policy, pool)
                dropped = _too_many(key)
            _pools.move_to_end(key)
    if dropped is not None:
        dropped.close()
    if pool is None:
        return None
    if pool.get().wait_ready(0.0):
        _ready.add(key)
        return pool
    return None


def forced_pool(policy: _core.Policy, profile: Profile) -> CorePool:
    """The pool for this policy, started now if need be."""
    with _lock:
        found = _pools.get(id(policy))
        pool = None if found is None else found[1]
        if pool is None:
            spec = pool_spec(profile, workers=MOST_AT_A_TIME, spares=max(2, 2 * usable_cpus()))
            pool = CorePool(policy, spec)
            _pools[id(policy)] = (policy, pool)
        _pools.move_to_end(id(policy))
    pool.get()
    return pool


def _too_many(newest: int) -> CorePool | None:
    """Take the pool out that was not used for longest, when there are more than KEPT."""
    with_pools = [key for key, (_, pool) in _pools.items() if pool is not None and key != newest]
    if len(with_pools) < KEPT:
        return None
    oldest = with_pools[0]
    _ready.discard(oldest)
    return _pools.pop(oldest)[1]


def close_default_pools() -> None:
    """End all of them; the next runs begin anew. For tests and for long-lived processes."""
    with _lock:
        pools = [pool for _, pool in _pools.values() if pool is not None]
        _pools.clear()
        _ready.clear()
    for pool in pools:
        pool.close()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _ready.clear()


os.register_at_fork(after_in_child=_after_fork)
