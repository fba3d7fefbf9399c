"""Much work made of runs on its way at once, without a thread for any: one mailbox tells of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from csandbox import _core, _errand
from csandbox._core_pool import CorePool, PoolClosedError
from csandbox._default_pool import default_pool
from csandbox._errand import REOPENED, Errand, Steps
from csandbox._order import Replies
from csandbox._result import Result

_T = TypeVar("_T")
_LOOK_S = 0.1


class Flight(Generic[_T]):
    """Steps by number, each waiting for the one run that it wants. For one thread.

    With `patient`, runs for which there is no pool yet are carried out at once, as `run` does it: a
    program that grades once should not start a zygote for it.
    """

    def __init__(self, *, patient: bool = False) -> None:
        """Nothing is on its way."""
        self._patient = patient
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
            try:
                came = errand.came(kind, payload)
            except Exception as error:
                self._go(number, steps, partial(steps.throw, error))
            else:
                self._go(number, steps, partial(steps.send, came))

    def wait(self, number: int) -> _T:
        """What came of one of them, when it has. Raises what its steps raised."""
        while number not in self.ready:
            self.take(_LOOK_S)
        found = self.ready.pop(number)
        if isinstance(found, Exception):
            raise found
        return found

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
                came = self._begun(number, errand, steps)
                if came is None:
                    return
            except Exception as error:
                go = partial(steps.throw, error)
            else:
                go = partial(steps.send, came)

    def _begun(
        self, number: int, errand: Errand, steps: Steps[_T]
    ) -> tuple[Result, Replies] | None:
        """Set its run going: None, or what came of it already."""
        refused = errand.admit()
        if refused is not None:
            return refused, []
        for attempt in range(1, REOPENED + 1):
            core = self._core_of(errand)
            if core is None:
                return _errand.carry(errand)
            try:
                job = errand.submit(core, self._mailbox, number)
            except PoolClosedError:
                if errand.pool is not None or attempt == REOPENED:
                    raise
            else:
                self._on[number] = job, errand, steps
                return None
        raise AssertionError("the last attempt returns or raises")

    def _core_of(self, errand: Errand) -> CorePool | None:
        if self._patient and errand.pool is None:
            return default_pool(errand.order.policy(), errand.order.profile)
        return errand.core()
