"""A run that was begun and not waited for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from csandbox import _audit, _core
from csandbox._core_pool import CorePool
from csandbox._order import Order
from csandbox._result import Result

Tap = Callable[[bytes], object]

# A wait looks at Python's signals this often.
_LOOK_S = 0.1


class Handle:
    """One run on its way; made by ``pool.start``. For one thread at a time, but for `kill`."""

    def __init__(
        self,
        pool: CorePool,
        order: Order,
        audit_log: str | os.PathLike[str] | None,
        on_stdout: Tap | None = None,
        on_stderr: Tap | None = None,
    ) -> None:
        """Admit and submit. Raises what `run` raises for arguments and set-up."""
        self._order = order
        self._taps = {1: on_stdout, 2: on_stderr}
        self._audit = _audit.begin(audit_log)
        self._job: _core.Job | None = None
        self._mailbox: _core.Mailbox | None = None
        self._error: BaseException | None = None
        self._killed = False
        self._result = order.admit()
        if self._result is not None:
            self._record()
            return
        self._mailbox = _core.Mailbox()
        streams = on_stdout is not None or on_stderr is not None
        self._job = pool.get().submit(order.request, self._mailbox, None, streams)

    def _record(self) -> None:
        audit, self._audit = self._audit, None
        if audit is None:
            return
        with audit:
            if self._result is not None:
                audit.done(self._result, self._order.raw, self._order.profile)
                self._result = replace(self._result, run_id=audit.run_id)
            elif self._error is not None:
                audit.failed(
                    self._error, self._order.raw, self._order.profile, self._order.filename
                )

    def _take(self, wait_s: float) -> None:
        if self._mailbox is None:
            return
        for _, kind, payload in self._mailbox.take(wait_s):
            if kind == "output":
                stream, data = payload
                tap = self._taps[stream]
                if tap is not None:
                    tap(data)
                continue
            if kind == "done":
                self._result = self._order.result(payload)
            else:
                self._error = payload
            self._job = None
            self._record()

    @property
    def done(self) -> bool:
        """Whether it has ended (after `poll` or `wait` saw it)."""
        return self._job is None

    def fileno(self) -> int:
        """A descriptor that is readable when `poll` would bring something, for event loops."""
        if self._mailbox is None:
            raise ValueError("the run was refused by the guard: it is done")
        return self._mailbox.fileno()

    def poll(self) -> Result | None:
        """The result when it has ended, else None; output so far is handed to the taps."""
        if self._job is not None:
            self._take(0.0)
        return self._outcome()

    def wait(self, timeout_s: float | None = None) -> Result:
        """Wait for the end and return the result. TimeoutError when it takes longer.

        Raises SetupError when no child could be started, and for a killed run that had not begun.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while self._job is not None:
            left = _LOOK_S if deadline is None else min(_LOOK_S, deadline - time.monotonic())
            self._take(max(left, 0.0))
            if self._job is not None and deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"the run has not ended after {timeout_s} s")
        result = self._outcome()
        if result is None:
            raise RuntimeError("the run has no outcome")
        return result

    def kill(self) -> None:
        """End it: its result is then "internal_error" with ``error="killed by its caller"``.

        Returns when the child is dead. Harmless when it has ended. From any thread.
        """
        self._killed = True
        job = self._job
        if job is not None:
            job.cancel()
            while self._job is not None:
                self._take(_LOOK_S)

    def _outcome(self) -> Result | None:
        if self._error is not None:
            raise self._error
        if self._result is not None and self._killed and self._result.verdict == "internal_error":
            self._result = replace(self._result, error="killed by its caller")
        return self._result

    def __repr__(self) -> str:
        """One line."""
        return f"<csandbox.Handle {'running' if self._job is not None else self._result!r}>"


def outcome_of(order: Order, kind: str, payload: Any) -> tuple[Result, list[dict[str, Any]]]:
    """From a mailbox's news to what `carry_out` returns. Raises what the run raised."""
    if kind == "error":
        raise payload
    return order.result(payload), payload["replies"]
