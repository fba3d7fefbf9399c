"""Many runs through one pool: lazy input, bounded in flight, results in order or as they finish."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any, Union

from csandbox import _core
from csandbox._order import Order
from csandbox._progress import Progress, Teller
from csandbox._result import Result

if TYPE_CHECKING:
    from csandbox._pool import Pool

Item = Union[str, bytes, Mapping[str, Any]]  # noqa: UP007 - evaluated by CPython 3.10

_LOOK_S = 0.1
_END = object()  # of the items: None would be one, and wrong


def options_of(item: Item, common: Mapping[str, Any]) -> tuple[str | bytes, dict[str, Any]]:
    """The source of an item and its keywords over the common ones."""
    if isinstance(item, (str, bytes)):
        return item, dict(common)
    if isinstance(item, Mapping) and isinstance(item.get("source"), (str, bytes)):
        own = {name: value for name, value in item.items() if name != "source"}
        return item["source"], {**common, **own}
    raise TypeError(
        "an item must be a source (str or bytes) or a mapping with 'source' and keywords of run(), "
        f"not {type(item).__name__}"
    )


def several_items(items: Iterable[Item]) -> Iterable[Item]:
    """The items; TypeError for one source, which is an iterable, too: of its characters."""
    if isinstance(items, (str, bytes, bytearray, Mapping)) or not isinstance(items, Iterable):
        raise TypeError(
            "items must be an iterable of sources, for example [source], "
            f"not {type(items).__name__}"
        )
    return items


class _Flight:
    """What is on its way, by number."""

    def __init__(self, pool: Pool, options: Mapping[str, Any]) -> None:
        self.audit_log: str | os.PathLike[str] | None = options.get("audit_log")
        self._pool = pool
        self._common = {name: v for name, v in options.items() if name != "audit_log"}
        self._mailbox = _core.Mailbox()
        self._jobs: dict[int, tuple[_core.Job, Order]] = {}
        self.ready: dict[int, Result] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def send(self, number: int, item: Item) -> None:
        source, options = options_of(item, self._common)
        order = self._pool._order(source, {}, options)
        refused = order.admit()
        if refused is not None:
            self.ready[number] = self._recorded(order, refused)
            return
        core = self._pool._core.get()
        self._jobs[number] = (core.submit(order.request, self._mailbox, number, False), order)

    def _recorded(self, order: Order, result: Result) -> Result:
        from csandbox import _audit

        audit = _audit.begin(self.audit_log)
        if audit is not None:
            with audit:
                audit.done(result, order.raw, order.profile)
        return result

    def fileno(self) -> int:
        return self._mailbox.fileno()

    def take(self, wait_s: float) -> None:
        for number, kind, payload in self._mailbox.take(wait_s):
            _, order = self._jobs.pop(number)
            if kind == "error":
                raise payload
            self.ready[number] = self._recorded(order, order.result(payload))

    def end(self) -> None:
        """Kill and wait for all."""
        for job, _ in list(self._jobs.values()):
            job.cancel()
        while self._jobs:
            for number, _, _ in self._mailbox.take(_LOOK_S):
                self._jobs.pop(number, None)


def _next_ready(flight: _Flight, ordered: bool, wanted: int) -> int | None:
    if ordered:
        return wanted if wanted in flight.ready else None
    return next(iter(flight.ready), None)


def run_each(
    pool: Pool,
    items: Iterable[Item],
    width: int,
    ordered: bool,
    progress: Progress,
    options: Mapping[str, Any],
) -> Iterator[Result]:
    """See ``Pool.run_many``."""
    teller = Teller(progress, len(items) if isinstance(items, Sized) else None)
    source = enumerate(several_items(items))
    flight = _Flight(pool, options)
    more = True
    try:
        while more or len(flight) or flight.ready:
            # In order, what is finished waits for an earlier one: that counts as well.
            while more and len(flight) + len(flight.ready) < (2 * width if ordered else width):
                if len(flight) >= width:
                    break
                following: Any = next(source, _END)
                if following is _END:
                    more = False
                    break
                flight.send(*following)
            found = _next_ready(flight, ordered, teller.done)
            if found is not None:
                result = flight.ready.pop(found)
                teller.one_more()
                yield result
            elif len(flight):
                flight.take(_LOOK_S)
    finally:
        flight.end()
        teller.close()


async def arun_each(
    pool: Pool,
    items: Iterable[Item],
    width: int,
    ordered: bool,
    progress: Progress,
    options: Mapping[str, Any],
) -> AsyncIterator[Result]:
    """See ``Pool.arun_many``. Tasks of the running loop, at most `width` at a time."""
    import asyncio

    teller = Teller(progress, len(items) if isinstance(items, Sized) else None)
    source = iter(several_items(items))
    tasks: dict[asyncio.Task[Result], int] = {}
    ready: dict[int, Result] = {}
    sent, more = 0, True
    try:
        while more or tasks or ready:
            while more and len(tasks) < width and len(tasks) + len(ready) < 2 * width:
                item: Any = next(source, _END)
                if item is _END:
                    more = False
                    break
                text, own = options_of(item, options)
                tasks[asyncio.ensure_future(pool.arun(text, **own))] = sent
                sent += 1
            found = teller.done if ordered and teller.done in ready else None
            if not ordered:
                found = next(iter(ready), None)
            if found is not None:
                teller.one_more()
                yield ready.pop(found)
            elif tasks:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    ready[tasks.pop(task)] = task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        teller.close()
