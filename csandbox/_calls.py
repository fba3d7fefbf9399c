"""The seam between grading and the transport: calls of one program, and what came of each.

An outcome says what the child's process did (a `Result`) and, when a reply arrived in time and is
plain data, the value. Nothing here judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from csandbox import _core
from csandbox._call import requests
from csandbox._errand import Errand, Steps, done
from csandbox._grade_tests import Call
from csandbox._limits import Limits
from csandbox._order import Check
from csandbox._profile import Profile
from csandbox._result import Result, Usage
from csandbox._value import Reply, ValueLimits, encode_call, open_reply

if TYPE_CHECKING:
    from csandbox._pool import Pool

#: What may come back from a call.
BOUNDS = ValueLimits()


@dataclass(frozen=True)
class Outcome:
    """What came of one call. ``verdict`` is "accepted" only when there is a value.

    ``usage`` is of this call alone, the program's own loading counted with the first. ``reason``
    may hold what the submission says.
    """

    result: Result
    verdict: str
    usage: Usage
    value: Any = None
    reason: str = ""

    @property
    def answered(self) -> bool:
        """Whether a value arrived."""
        return self.verdict == "accepted"


def call_steps(
    source: str | bytes,
    calls: Sequence[Call],
    *,
    profile: Profile,
    limits: Limits | None,
    pool: Pool | None = None,
    check: Check | None = None,
    bounds: ValueLimits = BOUNDS,
) -> Steps[list[Outcome]]:
    """Make the calls one after the other in one child; an outcome for each, in order.

    Each call is sent only when the reply to the one before has arrived. A call without a reply has
    the verdict of the child's end, "runtime_error" when the child ended as if all were well; those
    that answered before keep their answers. Raises what `run` raises, and TypeError and ValueError
    for arguments that are no plain data or beyond `bounds`. With `pool` the child is one of its
    spares, of its profile.
    """
    encoded = [
        encode_call(call.entry, call.args, call.kwargs, adapters=call.adapters, limits=bounds)
        for call in calls
    ]
    where: dict[str, Any] = {"profile": profile} if pool is None else {"pool": pool}
    asked = requests(encoded, bounds)
    result, came = yield Errand.of(source, asked, check=check, limits=limits, **where)
    replies = [open_reply(reply, bounds) for reply in came[: len(calls)]]
    outcomes: list[Outcome] = []
    before = Usage()
    for place in range(len(calls)):
        reply = replies[place] if place < len(replies) else None
        # A child that broke a limit after its last reply broke it in the time of that call.
        if reply is not None and not result.ok and place == len(calls) - 1:
            reply = None
        usage = _since(result, before, reply)
        outcomes.append(outcome_of(result, reply, usage))
        if reply is not None:
            before = Usage(reply.cpu_s, reply.wall_s)
        else:
            before = Usage(result.usage.cpu_s, result.usage.wall_s)
    return outcomes


def call_all(source: str | bytes, calls: Sequence[Call], **options: Any) -> list[Outcome]:
    """`call_steps`, carried out at once."""
    return done(call_steps(source, calls, **options))


def _since(result: Result, before: Usage, reply: Reply | None) -> Usage:
    end = result.usage if reply is None else Usage(reply.cpu_s, reply.wall_s)
    first = before == Usage()
    return Usage(
        max(0.0, end.cpu_s - before.cpu_s),
        max(0.0, end.wall_s - before.wall_s),
        result.usage.startup_s if first else 0.0,
        result.usage.peak_memory_bytes,
    )


def outcome_of(result: Result, reply: Reply | None, usage: Usage) -> Outcome:
    """What one reply says, or the lack of one."""
    if reply is None:
        if result.ok:
            reason = "the program ended without a reply"
            return Outcome(result, "runtime_error", usage, reason=reason)
        return Outcome(result, result.verdict, usage, reason=result.summary())
    if reply.reason != "value":
        return Outcome(result, "runtime_error", usage, reason=reply.words())
    try:
        value = _core.decode(reply.encoded, BOUNDS.core())
    except ValueError as error:
        return Outcome(result, "runtime_error", usage, reason=f"the reply is no data: {error}")
    return Outcome(result, "accepted", usage, value)
