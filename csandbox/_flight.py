"""Many gradings on their way at once, without a thread for any: one mailbox tells of their runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from csandbox import _core
from csandbox._core_pool import PoolClosedError
from csandbox._errand import Errand, Steps, core_of
from csandbox._order import Replies
from csandbox._result import Result

_T = TypeVar("_T")
_LOOK_S = 0.1
_REOPENED = 3  # times that another thread may close the default pool under us


class Flight(Generic[_T]):
    """Steps by number, each waiting for the one run that it wants. For one thread."""

    def __init__(self) -> None:
        self._mailbox = _core.Mailbox()
        self._on: dict[int, tuple[_core.Job, Errand, Steps[_T]]] = {}
        self.ready: dict[int, _T | Exception] = {}

    def __len__(self) -> int:
        """How many are on their way."""
        return len(self._on)

    def fileno(self) -> int:
        """A descriptor that is readable when `take` would bring something."""
        return self._mailbox.fileno()

    def begin(self, number: int, steps: Steps[_T]) -> None:
        """Set one going; what comes of it is in `ready` at some time."""
        self._go(number, steps, partial(next, steps))

    def take(self, wait_s: float) -> None:
        """See what has come, waiting for so long at most, and go on with those that it is for."""
        for number, kind, payload in self._mailbox.take(wait_s):
            _, errand, steps = self._on.pop(number)
            if kind == "error":
                self._go(number, steps, partial(steps.throw, payload))
            else:
                came = errand.order.result(payload), payload["replies"]
                self._go(number, steps, partial(steps.send, came))

    def end(self) -> None:
        """Kill what runs and wait until it is dead. Nothing of it becomes ready."""
        for job, _, _ in self._on.values():
            job.cancel()
        while self._on:
            for number, _, _ in self._mailbox.take(_LOOK_S):
                _, _, steps = self._on.pop(number)
                steps.close()

    def _go(self, number: int, steps: Steps[_T], go: Callable[[], Errand]) -> None:
        while True:
            try:
                errand = go()
            except StopIteration as end:
                self.ready[number] = end.value
                return
            except Exception as error:
                self.ready[number] = error
                return
            try:
                refused = errand.order.admit()
                if refused is None:
                    self._on[number] = self._submitted(number, errand), errand, steps
                    return
            except Exception as error:
                go = partial(steps.throw, error)
            else:
                came: tuple[Result, Replies] = refused, []
                go = partial(steps.send, came)

    def _submitted(self, number: int, errand: Errand) -> _core.Job:
        for attempt in range(1, _REOPENED + 1):
            try:
                core = core_of(errand).get()
                return core.submit(errand.order.request, self._mailbox, number, False)
            except PoolClosedError:
                if errand.pool is not None or attempt == _REOPENED:
                    raise
        raise AssertionError("the last attempt returns or raises")
