"""The async and the many-runs faces of `csandbox.run`, on the default pools."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from csandbox._arguments import flag
from csandbox._call import CallResult, judge, requests
from csandbox._core_pool import CorePool
from csandbox._default_pool import forced_pool
from csandbox._errand import Errand
from csandbox._order import Order
from csandbox._profile import Profile
from csandbox._progress import Progress
from csandbox._result import Result
from csandbox._run_many import Item
from csandbox._value import ValueLimits, encode_call, open_reply

if TYPE_CHECKING:
    from csandbox._pool import Pool


async def arun(
    source: str | bytes,
    *,
    audit_log: str | os.PathLike[str] | None = None,
    check: bool = False,
    **options: Any,
) -> Result:
    """`run` for asyncio and trio: no thread waits; a cancelled run is dead before this is left.

    The keywords are those of `run`, but for ``fresh``: the child is always a spare of a warm one.
    """
    from csandbox._async import arun_order  # asyncio only where it is used

    flag(check, "check")
    order = Order.make(source, {}, **options)
    pool: CorePool = forced_pool(order.policy(), order.profile)
    result, _ = await arun_order(pool, order, audit_log)
    return result.check() if check else result


async def acall(
    source: str | bytes,
    entry: str,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    adapters: Mapping[int | str, Any] | None = None,
    value_limits: ValueLimits | None = None,
    argv: Sequence[str] = (),
    audit_log: str | os.PathLike[str] | None = None,
    check: bool = False,
    pool: Pool | None = None,
    **options: Any,
) -> CallResult:
    """`call` for asyncio and trio: no thread waits; cancelled, it is dead before this is left.

    The keywords are those of `call`, but for ``fresh``: the child is always a spare of a warm one.
    """
    from csandbox._async import arun_order  # asyncio only where it is used

    flag(check, "check")
    bounds = value_limits or ValueLimits()
    encoded = encode_call(entry, args, kwargs, adapters=adapters, limits=bounds)
    errand = Errand.of(source, requests([encoded], bounds), pool, args=argv, **options)
    result, came = await arun_order(errand.core(), errand.order, audit_log)
    judged = judge(result, open_reply(came[0], bounds) if came else None, bounds)
    if check:
        judged.check()
    return judged


def _pool_for(options: dict[str, Any]) -> Any:
    from csandbox._pool import Pool

    chosen = {
        name: options.pop(name)
        for name in ("profile", "allow_degraded", "namespaces", "cgroup", "python")
        if name in options
    }
    return Pool(**chosen)


def run_many(
    items: Iterable[Item],
    *,
    concurrency: int | None = None,
    ordered: bool = True,
    progress: Progress = False,
    profile: str | os.PathLike[str] | Profile = "compute",
    **options: Any,
) -> Iterator[Result]:
    """Run many programs in a pool of their own; see ``Pool.run_many``.

    The keywords are those of `run`, for all items; an item may be a mapping with ``source`` and its
    own keywords.
    """
    with _pool_for({**options, "profile": profile}) as pool:
        rest = _rest(options)
        yield from pool.run_many(
            items, concurrency=concurrency, ordered=ordered, progress=progress, **rest
        )


async def arun_many(
    items: Iterable[Item],
    *,
    concurrency: int | None = None,
    ordered: bool = True,
    progress: Progress = False,
    profile: str | os.PathLike[str] | Profile = "compute",
    **options: Any,
) -> AsyncIterator[Result]:
    """`run_many` as an async iterator."""
    with _pool_for({**options, "profile": profile}) as pool:
        rest = _rest(options)
        async for result in pool.arun_many(
            items, concurrency=concurrency, ordered=ordered, progress=progress, **rest
        ):
            yield result


def _rest(options: Mapping[str, Any]) -> dict[str, Any]:
    chosen = ("profile", "allow_degraded", "namespaces", "cgroup", "python")
    return {name: value for name, value in options.items() if name not in chosen}
