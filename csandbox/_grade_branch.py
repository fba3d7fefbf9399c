"""Calls in branches: a submission is executed once, and each call is made in a fork of that child.

The child that executed it is told of no test, so there is nothing in it that a test could find of
another one. Where it cannot be branched, each call has a fresh child, which is as sound and slower.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from csandbox import _core
from csandbox._calls import BOUNDS, Outcome, outcome_of
from csandbox._closing import Closing
from csandbox._default_pool import forced_pool
from csandbox._errand import Steps
from csandbox._grade_execute import Setting, call_alone
from csandbox._grade_tests import Call
from csandbox._limits import Limits
from csandbox._order import Order
from csandbox._result import Result, Usage
from csandbox._value import REPLY_EXTRA_BYTES, encode_call, open_reply

_OF_A_CALL = ("cpu_s", "wall_s", "startup_s", "output_bytes")


class Branches(Closing):
    """The child of one submission, started with the first call. Close it."""

    def __init__(self, setting: Setting, limits: Limits | None) -> None:
        """`limits` are for executing the submission."""
        self._setting = setting
        self._limits = limits
        self._core: _core.Session | None = None
        self._loaded: Result | None = None
        self._unused = Usage()  # of executing it: told with the first call
        #: Why calls have fresh children after all; "" while they have branches.
        self.why_not = ""

    def call(self, call: Call, limits: Limits | None) -> Steps[Outcome]:
        """What came of one, in a branch of its own or a fresh child. Raises what `run` raises."""
        if not self.why_not and self._may_have(limits):
            failed = self._load()
            if failed is not None:
                return failed
            outcome = self._in_branch(call, limits)
            if outcome is not None:
                return outcome
        return (yield from call_alone(self._setting, call, limits))

    def _may_have(self, limits: Limits | None) -> bool:
        """Whether a branch can have these limits: all but times and output are of the process."""
        base = self._setting.profile.limits
        own, mine = base.merge(self._limits).complete(), base.merge(limits).complete()
        return all(own[name] == mine[name] for name in own if name not in _OF_A_CALL)

    def _order(self, source: str | bytes, more: dict[str, Any], limits: Limits | None) -> Order:
        shape = {"calls": (), "session": True, "cell": False, "prelude": "", "reply_bytes": 0}
        shape["reply_bytes"] = BOUNDS.bytes + REPLY_EXTRA_BYTES
        if self._setting.pool is not None:
            return self._setting.pool._order(source, {**shape, **more}, {"limits": limits})
        profile = self._setting.profile
        return Order.make(source, {**shape, **more}, profile=profile, limits=limits)

    def _load(self) -> Outcome | None:
        """Execute the submission, once: what came of it when it did not get through."""
        if self._core is None and (
            self._loaded is None or self._loaded.verdict == "internal_error"
        ):
            self._start()
        if self._core is not None or self._loaded is None:
            return None
        verdict, reason = self._loaded.verdict, self._loaded.summary()
        if self._loaded.ok:
            verdict, reason = "runtime_error", "the program ended without a reply"
        return Outcome(self._loaded, verdict, self._take_usage(), reason=reason)

    def _start(self) -> None:
        order = self._order(self._setting.source, {}, self._limits)
        order.check = self._setting.check
        self._loaded = order.admit()
        if self._loaded is None:
            pool = self._setting.pool
            chosen = forced_pool(order.policy(), order.profile) if pool is None else pool._core
            self._core, data = chosen.get().open_session(order.request)
            self._loaded = order.result(data)
            self._unused = self._loaded.usage

    def _take_usage(self) -> Usage:
        used, self._unused = self._unused, Usage()
        return used

    def _in_branch(self, call: Call, limits: Limits | None) -> Outcome | None:
        """None when it cannot be branched, now and for all calls to come."""
        request = encode_call(
            call.entry, call.args, call.kwargs, adapters=call.adapters, limits=BOUNDS
        )
        order = self._order("", {"calls": (request,)}, limits)
        order.admit()
        order.request["checked"] = None
        assert self._core is not None and self._loaded is not None
        branch, refused = self._core.fork(order.request)
        if branch is None:
            self.why_not = f"it cannot be branched: {refused[1] if refused else ''}"
            self.close()
            return None
        try:
            data = branch.exchange(order.request)
        finally:
            branch.close()
        result = order.result(data)
        replies = [open_reply(reply, BOUNDS) for reply in data["replies"][:1]] if result.ok else []
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
        if self._core is not None:
            self._core.close()
            self._core = None


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.cpu_s + other.cpu_s,
        one.wall_s + other.wall_s,
        one.startup_s + other.startup_s,
        max(one.peak_memory_bytes, other.peak_memory_bytes),
    )
