"""Runs for event loops: no thread waits for one, and a cancelled one is dead before it is left.

asyncio gets one mailbox a loop, read by ``loop.add_reader``; trio (and anyio on it) one a run, by
``trio.lowlevel.wait_readable``. What waits for its turn is a queued job: a few hundred bytes, no
descriptor, no thread.
"""

from __future__ import annotations

import asyncio
import os
import sys
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from csandbox import _audit, _core
from csandbox._core_pool import CorePool
from csandbox._handle import outcome_of
from csandbox._order import Order, Replies
from csandbox._result import Result


class _LoopMailbox:
    """The mailbox of one asyncio loop; ends arrive as results of futures."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.mailbox = _core.Mailbox()
        self.waiting = 0
        loop.add_reader(self.mailbox.fileno(), self._arrived)

    def _arrived(self) -> None:
        for future, kind, payload in self.mailbox.take(0.0):
            self.waiting -= 1
            if not future.done():
                future.set_result((kind, payload))


_mailboxes: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopMailbox] = (
    weakref.WeakKeyDictionary()
)


def _mailbox_of(loop: asyncio.AbstractEventLoop) -> _LoopMailbox:
    found = _mailboxes.get(loop)
    if found is None:
        found = _mailboxes[loop] = _LoopMailbox(loop)
    return found


Submit = Callable[[_core.Mailbox, object], _core.Job]  # to this mailbox, with this token


async def _under_asyncio(submit: Submit) -> tuple[str, Any]:
    loop = asyncio.get_running_loop()
    box = _mailbox_of(loop)
    future: asyncio.Future[tuple[str, Any]] = loop.create_future()
    job = submit(box.mailbox, future)
    box.waiting += 1
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError as error:
            cancelled = error  # a second one does not make us leave it behind either
            job.cancel()
    if cancelled is not None:
        raise cancelled
    return future.result()


async def _under_trio(submit: Submit) -> tuple[str, Any]:
    trio: Any = sys.modules["trio"]
    mailbox = _core.Mailbox()
    job = submit(mailbox, None)
    try:
        await trio.lowlevel.wait_readable(mailbox.fileno())
    except BaseException:
        job.cancel()
        with trio.CancelScope(shield=True):
            await trio.lowlevel.wait_readable(mailbox.fileno())
        mailbox.take(0.0)
        raise
    ((_, kind, payload),) = mailbox.take(0.0)
    return kind, payload


async def news_of(submit: Submit) -> tuple[str, Any]:
    """Submit something and wait for its end. Cancelled, it has ended before this is left."""
    return await (_under_trio if _in_trio() else _under_asyncio)(submit)


async def readable(descriptor: int) -> None:
    """Wait until it can be read, under asyncio or trio."""
    if _in_trio():
        trio: Any = sys.modules["trio"]
        await trio.lowlevel.wait_readable(descriptor)
        return
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[None] = loop.create_future()

    def arrives() -> None:
        if not arrived.done():
            arrived.set_result(None)

    loop.add_reader(descriptor, arrives)
    try:
        await arrived
    finally:
        loop.remove_reader(descriptor)


def _in_trio() -> bool:
    trio: Any = sys.modules.get("trio")
    try:
        return trio is not None and trio.lowlevel.in_trio_run()
    except AttributeError:  # an old one, or half imported
        return False


async def arun_order(
    pool: CorePool, order: Order, audit_log: str | os.PathLike[str] | None
) -> tuple[Result, Replies]:
    """`carry_out` for event loops. Raises what it raises, and the loop's cancellation."""
    audit = _audit.begin(audit_log)
    if audit is None:
        return await _result_of(pool, order)
    with audit:
        try:
            result, replies = await _result_of(pool, order)
        except BaseException as error:
            audit.failed(error, order.raw, order.profile, order.filename)
            raise
        audit.done(result, order.raw, order.profile)
    return replace(result, run_id=audit.run_id), replies


async def _result_of(pool: CorePool, order: Order) -> tuple[Result, Replies]:
    refused = order.admit()
    if refused is not None:
        return refused, []
    core = pool.get()
    kind, payload = await news_of(
        lambda mailbox, token: core.submit(order.request, mailbox, token, False)
    )
    return outcome_of(order, kind, payload)
