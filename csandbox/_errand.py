"""Work made of runs, apart from how one waits for them.

What needs several runs, each depending on what came of the one before (a grading), is a generator:
it yields an `Errand`, a run that it wants, and is sent what came of it. `done` and `adone` carry it
out, blocking or under an event loop, so that there is one copy of the logic and the two agree.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from csandbox import _core
from csandbox._core_pool import CorePool, PoolClosedError
from csandbox._default_pool import forced_pool
from csandbox._handle import outcome_of
from csandbox._order import Check, Order, Replies, carry_out
from csandbox._result import Result
from csandbox._run import run_warm

if TYPE_CHECKING:
    from csandbox._pool import Pool

_T = TypeVar("_T")
REOPENED = 3  # times that another thread may close the default pool under us


@dataclass(frozen=True)
class Errand:
    """One run that is wanted, in `pool` or, when it is None, in the default one of its policy.

    What a grading wants besides runs are subclasses of it.
    """

    order: Order
    pool: Pool | None = None

    @classmethod
    def of(
        cls,
        source: str | bytes,
        more: dict[str, Any],
        pool: Pool | None = None,
        check: Check | None = None,
        **options: Any,
    ) -> Errand:
        """From the keywords of `run` and `more` keys for the core. Raises what `run` raises."""
        if pool is None:
            order = Order.make(source, more, **options)
        else:
            order = pool._order(source, more, options)
        if check is not None:
            order.check = check
        return cls(order, pool)

    def wait(self) -> tuple[Result, Replies]:
        """Do it, and wait for it. Raises what `run` raises."""
        runner = run_warm if self.pool is None else self.pool._run_in_spare
        return carry_out(self.order, runner, None)

    def admit(self) -> Result | None:
        """Ask the guard before `submit`: what came of it already, or None."""
        return self.order.admit()

    def core(self) -> CorePool:
        """The pool that it is done in when nobody waits for it."""
        if self.pool is not None:
            return self.pool._core
        return forced_pool(self.order.policy(), self.order.profile)

    def submit(self, core: CorePool, mailbox: _core.Mailbox, token: object) -> _core.Job:
        """Begin it; its end arrives in the mailbox, and is for `came`. Raises PoolClosedError."""
        return core.get().submit(self.order.request, mailbox, token, False)

    def came(self, kind: str, payload: Any) -> tuple[Result, Replies]:
        """What came of it, from the news of its end. Raises what it raised."""
        return outcome_of(self.order, kind, payload)


Steps = Generator[Errand, tuple[Result, Replies], _T]


def carry(errand: Errand) -> tuple[Result, Replies]:
    """Do it and wait. Raises what `run` raises."""
    return errand.wait()


async def acarry(errand: Errand) -> tuple[Result, Replies]:
    """`carry` for asyncio and trio; when it is cancelled the child is dead before it is left."""
    from csandbox._async import news_of

    refused = errand.admit()
    if refused is not None:
        return refused, []
    for attempt in range(1, REOPENED + 1):
        try:
            kind, payload = await news_of(partial(errand.submit, errand.core()))
        except PoolClosedError:  # other profiles needed its place
            if errand.pool is not None or attempt == REOPENED:
                raise
        else:
            return errand.came(kind, payload)
    raise AssertionError("the last attempt returns or raises")


def done(steps: Steps[_T]) -> _T:
    """Carry them out one after the other. Raises what they raise, and what `run` raises."""
    try:
        errand = next(steps)
        while True:
            try:
                came = carry(errand)
            except Exception as error:
                errand = steps.throw(error)
            else:
                errand = steps.send(came)
    except StopIteration as end:
        value: _T = end.value
        return value


async def adone(steps: Steps[_T]) -> _T:
    """`done` for asyncio and trio, which take no thread for it.

    Cancelled, it has ended what the steps hold before it is left.
    """
    try:
        errand = next(steps)
        while True:
            try:
                came = await acarry(errand)
            except Exception as error:
                errand = steps.throw(error)
            else:
                errand = steps.send(came)
    except StopIteration as end:
        value: _T = end.value
        return value
    finally:
        steps.close()
