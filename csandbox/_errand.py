"""Work made of runs, apart from how one waits for them.

What needs several runs, each depending on what came of the one before (a grading), is a generator:
it yields an `Errand`, a run that it wants, and is sent what came of it. `done` and `adone` carry it
out, blocking or under an event loop, so that there is one copy of the logic and the two agree.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from csandbox._core_pool import CorePool, PoolClosedError
from csandbox._default_pool import forced_pool
from csandbox._order import Check, Order, Replies, carry_out
from csandbox._result import Result
from csandbox._run import run_warm

if TYPE_CHECKING:
    from csandbox._pool import Pool

_T = TypeVar("_T")
_REOPENED = 3  # times that another thread may close the default pool under us


@dataclass(frozen=True)
class Errand:
    """One run that is wanted, in `pool` or, when it is None, in the default one of its policy."""

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


Steps = Generator[Errand, tuple[Result, Replies], _T]


def carry(errand: Errand) -> tuple[Result, Replies]:
    """Run it and wait. Raises what `run` raises."""
    runner = run_warm if errand.pool is None else errand.pool._run_in_spare
    return carry_out(errand.order, runner, None)


async def acarry(errand: Errand) -> tuple[Result, Replies]:
    """`carry` for asyncio and trio; when it is cancelled the child is dead before it is left."""
    from csandbox._async import arun_order

    if errand.pool is not None:
        return await arun_order(errand.pool._core, errand.order, None)
    for _ in range(_REOPENED):
        try:
            return await arun_order(core_of(errand), errand.order, None)
        except PoolClosedError:
            continue  # other profiles needed its place
    return await arun_order(core_of(errand), errand.order, None)


def core_of(errand: Errand) -> CorePool:
    """The pool that it runs in when nobody waits for it."""
    if errand.pool is not None:
        return errand.pool._core
    return forced_pool(errand.order.policy(), errand.order.profile)


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
    """`done` for asyncio and trio, which take no thread for it."""
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
