"""Pools of the C core that survive what happens to their process: fork and the end of Python.

A pool's zygote and threads belong to the process that made them. A forked copy of the process
(pytest-xdist, multiprocessing, Ray) finds them gone and makes its own at the next use.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

from csandbox import _core
from csandbox._cleaning import look_after
from csandbox._errors import SetupError

if TYPE_CHECKING:
    from csandbox._order import Order

# What a zygote imports besides what a profile names: what most programs import anyway, and what a
# traceback needs. Measured by bench/warm.py: each of these costs more than 1 ms when imported cold.
WARM_MODULES = (
    "traceback", "linecache", "os", "io", "re", "collections", "collections.abc", "math", "random",
    "itertools", "functools", "operator", "typing", "heapq", "bisect", "string", "json", "copy",
    "dataclasses", "enum", "datetime", "time", "_strptime", "threading",
)  # fmt: skip

_every: weakref.WeakSet[CorePool] = weakref.WeakSet()


class PoolClosedError(ValueError):
    """The pool was closed before the run began; nothing of it was executed."""


class CorePool:
    """One `_core.Pool`, made when it is first needed, and made anew after a fork."""

    def __init__(self, policy: _core.Policy, spec: dict[str, Any]) -> None:
        """Keep what is needed to make it; starts nothing."""
        self.policy = policy
        self.spec = spec
        self._lock = threading.Lock()
        self._pool: _core.Pool | None = None
        self._closed = False
        _every.add(self)

    def get(self) -> _core.Pool:
        """The pool, started when need be. Raises PoolClosedError, SetupError."""
        pool = self._pool
        if pool is not None:
            return pool
        with self._lock:
            if self._closed:
                raise PoolClosedError("the pool is closed")
            if self._pool is None:
                look_after(self.policy)
                self._pool = _core.Pool(self.policy, self.spec)
            return self._pool

    @property
    def started(self) -> _core.Pool | None:
        """The pool when it was started already."""
        return self._pool

    def run(self, request: dict[str, Any]) -> _core.RunData:
        """Run in a spare child. Raises what `_core.run` raises, and PoolClosedError."""
        try:
            return self.get().run(request)
        except (ValueError, SetupError) as error:
            if self._closed and getattr(error, "errno", errno.ECANCELED) == errno.ECANCELED:
                raise PoolClosedError("the pool was closed") from error
            raise

    def head_start(self, order: Order) -> _core.HeadStart | None:
        """Begin a run whose source is not checked yet, where that costs nobody anything."""
        request = order.request
        request.update(source=order.raw, checked=None)
        pool = self._pool
        try:
            return None if pool is None else pool.head_start(request)
        except ValueError:  # closed meanwhile; or the run itself will say what is wrong
            return None

    def close(self, *, kill: bool = False) -> None:
        """End it, after the runs that are on (or with them). Harmless when repeated."""
        with self._lock:
            pool, self._pool, self._closed = self._pool, None, True
        if pool is not None:
            pool.close(kill)

    def _forget(self) -> None:
        """In a forked copy of the process: only descriptors are given back."""
        self._lock = threading.Lock()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.abandon()


def _after_fork() -> None:
    for pool in list(_every):
        pool._forget()


def _at_exit() -> None:
    for pool in list(_every):
        with contextlib.suppress(Exception):
            pool.close(kill=True)  # a daemon thread may never come back from its run


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
