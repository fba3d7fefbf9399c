"""Calls in branches: a submission is executed once, and each call is made in a fork of that child.

The child that executed it is told of no test, so there is nothing in it that a test could find of
another one. Where it cannot be branched, each call has a fresh child, which is as sound and slower.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from csandbox import _core
from csandbox._calls import BOUNDS, Outcome, outcome_of
from csandbox._closing import Closing
from csandbox._core_pool import CorePool, PoolClosedError
from csandbox._errand import Errand, Steps
from csandbox._errors import BranchError
from csandbox._grade_execute import Setting, call_alone
from csandbox._grade_tests import Call
from csandbox._limits import Limits
from csandbox._order import Order, Replies
from csandbox._result import Result, Usage
from csandbox._value import REPLY_EXTRA_BYTES, encode_call, open_reply

_OF_A_CALL = ("cpu_s", "wall_s", "startup_s", "output_bytes")


@dataclass(frozen=True)
class _Opening(Errand):
    """A child that executes the submission and stays: what is `kept` lives, or has ended."""

    kept: list[tuple[_core.Session, CorePool]] = field(default_factory=list)

    def wait(self) -> tuple[Result, Replies]:
        refused = self.admit()
        if refused is not None:
            return refused, []
        core = self.core()
        session, data = core.get().open_session(self.order.request)
        if session is not None:
            self.kept.append((session, core))
        return self.came("done", data)

    def submit(self, core: CorePool, mailbox: _core.Mailbox, token: object) -> _core.Job:
        session, job = core.get().submit_session(self.order.request, mailbox, token)
        self.kept[:] = [(session, core)]
        return job


@dataclass(frozen=True)
class _BranchCall(Errand):
    """A branch of `session`, for one call. Raises BranchError when there is none."""

    session: _core.Session | None = None
    opened_by: CorePool | None = None

    def wait(self) -> tuple[Result, Replies]:
        self.admit()
        assert self.session is not None
        branch, refused = self.session.fork(self.order.request)
        if branch is None:
            return self.came("refused", refused)
        try:
            return self.came("done", branch.exchange(self.order.request))
        finally:
            branch.close()

    def admit(self) -> Result | None:
        self.order.admit()
        self.order.request["checked"] = None
        return None

    def core(self) -> CorePool:
        assert self.opened_by is not None
        return self.opened_by

    def submit(self, core: CorePool, mailbox: _core.Mailbox, token: object) -> _core.Job:
        assert self.session is not None
        return core.get().submit_branch(self.session, self.order.request, mailbox, token)

    def came(self, kind: str, payload: Any) -> tuple[Result, Replies]:
        if kind == "refused":
            raise BranchError(payload[1] if payload else "")
        return super().came(kind, payload)


class Branches(Closing):
    """The child of one submission, started with the first call. Close it."""

    def __init__(self, setting: Setting, limits: Limits | None) -> None:
        """`limits` are for executing the submission."""
        self._setting = setting
        self._limits = limits
        self._opening: _Opening | None = None
        self._loaded: Result | None = None
        self._unused = Usage()  # of executing it: told with the first call
        #: Why calls have fresh children after all; "" while they have branches.
        self.why_not = ""

    def call(self, call: Call, limits: Limits | None) -> Steps[Outcome]:
        """What came of one, in a branch of its own or a fresh child. Raises what `run` raises."""
        if not self.why_not and self._may_have(limits):
            failed = yield from self._load()
            if failed is not None:
                return failed
            try:
                return (yield from self._in_branch(call, limits))
            except (BranchError, PoolClosedError) as error:
                self.why_not = f"it cannot be branched: {error}"
                self.close()
        return (yield from call_alone(self._setting, call, limits))

    def _may_have(self, limits: Limits | None) -> bool:
        """Whether a branch can have these limits: all but times and output are of the process."""
        base = self._setting.profile.limits
        own, mine = base.merge(self._limits).complete(), base.merge(limits).complete()
        return all(own[name] == mine[name] for name in own if name not in _OF_A_CALL)

    def _order(self, source: str | bytes, more: dict[str, Any], limits: Limits | None) -> Order:
        shape = {"calls": (), "session": True, "cell": False, "prelude": "", "reply_bytes": 0}
        shape["reply_bytes"] = BOUNDS.bytes + REPLY_EXTRA_BYTES
        limits = self._setting.cut(limits)
        if self._setting.pool is not None:
            return self._setting.pool._order(source, {**shape, **more}, {"limits": limits})
        profile = self._setting.profile
        return Order.make(source, {**shape, **more}, profile=profile, limits=limits)

    @property
    def _session(self) -> tuple[_core.Session, CorePool] | None:
        kept = self._opening.kept if self._opening is not None else []
        return kept[0] if kept and kept[0][0].alive else None

    def _load(self) -> Steps[Outcome | None]:
        """Execute the submission, once: what came of it when it did not get through."""
        if self._session is None and (
            self._loaded is None or self._loaded.verdict == "internal_error"
        ):
            yield from self._start()
        if self._session is not None or self._loaded is None:
            return None
        verdict, reason = self._loaded.verdict, self._loaded.summary()
        if self._loaded.ok:
            verdict, reason = "runtime_error", "the program ended without a reply"
        return Outcome(self._loaded, verdict, self._take_usage(), reason=reason)

    def _start(self) -> Steps[None]:
        order = self._order(self._setting.source, {}, self._limits)
        order.check = self._setting.check
        self._opening = _Opening(order, self._setting.pool)
        self._loaded, _ = yield self._opening
        self._unused = self._loaded.usage

    def _take_usage(self) -> Usage:
        used, self._unused = self._unused, Usage()
        return used

    def _in_branch(self, call: Call, limits: Limits | None) -> Steps[Outcome]:
        """Raises BranchError when it cannot be branched, now and for all calls to come."""
        request = encode_call(
            call.entry, call.args, call.kwargs, adapters=call.adapters, limits=BOUNDS
        )
        order = self._order("", {"calls": (request,)}, limits)
        assert self._session is not None and self._loaded is not None
        result, came = yield _BranchCall(order, self._setting.pool, *self._session)
        replies = [open_reply(reply, BOUNDS) for reply in came[:1]] if result.ok else []
        usage = _sum(result.usage, self._take_usage())
        said = self._loaded.stdout_bytes, self._loaded.stderr_bytes
        result = replace(
            result,
            report=self._loaded.report,
            stdout_bytes=said[0] + result.stdout_bytes,
            stderr_bytes=said[1] + result.stderr_bytes,
            stdout_total_bytes=len(said[0]) + result.stdout_total_bytes,
            stderr_total_bytes=len(said[1]) + result.stderr_total_bytes,
        )
        return outcome_of(result, replies[0] if replies else None, usage)

    def close(self) -> None:
        """End the child."""
        if self._opening is not None:
            for session, _ in self._opening.kept:
                session.close()


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.cpu_s + other.cpu_s,
        one.wall_s + other.wall_s,
        one.startup_s + other.startup_s,
        max(one.peak_memory_bytes, other.peak_memory_bytes),
    )
