"""Call one function of a program by value: plain data in, plain data out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from csandbox import _core
from csandbox._arguments import flag
from csandbox._limits import Limits
from csandbox._profile import Profile
from csandbox._result import Result
from csandbox._run import perform
from csandbox._value import REPLY_EXTRA_BYTES, Reply, ValueLimits, encode_call, open_reply

if TYPE_CHECKING:
    from csandbox._pool import Pool

_SHOWN = 200


@dataclass(frozen=True, repr=False)
class CallResult(Result):
    """What came of one call: a ``Result`` with the value that was returned.

    The verdict is "accepted" only when a value came back: an exception, a result that is no plain
    data, a missing function, an exit before the reply and a reply that cannot be read are
    "runtime_error", told apart by ``reason``: None, "raised", "unencodable", "no_entry",
    "bad_request", "garbage", "no_reply". ``message`` is for people, and like everything that the
    child says no evidence. ``usage`` is that of the process until the reply came.
    """

    value: Any = field(default=None, hash=False)
    reason: str | None = None
    message: str = ""

    def summary(self) -> str:
        """One sentence for people: the verdict and why."""
        if self.reason not in (None, "no_reply"):
            return f"{self.verdict}: {self.message}"
        if self.reason == "no_reply":
            return f"{self.verdict}: {self.message} ({super().summary()})"
        return super().summary()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: ``value`` is there when JSON can hold it exactly."""
        data = {**super().to_dict(), "reason": self.reason, "message": self.message}
        data["value_repr"] = shown(self.value)
        if self.ok and _is_json(self.value):
            data["value"] = self.value
        return data


def shown(value: Any, most: int = _SHOWN) -> str:
    """The value's repr, bounded."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an int with more digits than CPython prints
        text = f"<a {type(value).__name__} that is too large to show>"
    return text if len(text) <= most else text[: most - 1] + "…"


def _is_json(value: Any) -> bool:
    """Whether JSON gives the very same value back: no tuple, no nan, no key that is no string."""
    largest = ValueLimits(1 << 30, 1 << 27, 1000, 10**8).core()
    try:
        again = json.loads(json.dumps(value, allow_nan=False))
        return _core.encode(again, largest) == _core.encode(value, largest)
    except (TypeError, ValueError, RecursionError):
        return False


def requests(calls: Sequence[bytes], value_limits: ValueLimits) -> dict[str, Any]:
    """What a run needs to know of the requests that it is sent, each after the reply to the one
    before.

    Fewer replies than requests mean that the child ended (or was ended) during the next one; the
    result then says why.
    """
    return {
        "calls": tuple(calls),
        "session": False,
        "cell": False,
        "prelude": "",
        "reply_bytes": value_limits.bytes + REPLY_EXTRA_BYTES,
    }


def _converse(
    source: str | bytes,
    calls: Sequence[bytes],
    *,
    value_limits: ValueLimits,
    pool: Pool | None = None,
    **options: Any,
) -> tuple[Result, list[Reply]]:
    """Execute the program, then send it these requests. `options` are those of `run`."""
    more = requests(calls, value_limits)
    if pool is None:
        result, replies = perform(source, more, **options)
    else:
        result, replies = pool._perform(source, more, **options)
    return result, [open_reply(reply, value_limits) for reply in replies[: len(calls)]]


def judge(result: Result, reply: Reply | None, limits: ValueLimits) -> CallResult:
    own = {spec.name: getattr(result, spec.name) for spec in fields(Result)}
    if reply is None:
        if result.ok:
            own["verdict"] = "runtime_error"
        if own["verdict"] != "runtime_error":
            return CallResult(**own)
        return CallResult(**own, reason="no_reply", message="the program ended without a reply")
    own.update(exit_code=None, signal=None)  # it was ended because it had answered
    if not result.ok:
        return CallResult(**own)
    if reply.reason == "value":
        try:
            return CallResult(**own, value=_core.decode(reply.encoded, limits.core()))
        except ValueError as error:
            reply = replace(reply, reason="garbage", message=str(error))
    own["verdict"] = "runtime_error"
    return CallResult(**own, reason=reply.reason, message=reply.words())


def call(
    source: str | bytes,
    entry: str,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    adapters: Mapping[int | str, Any] | None = None,
    value_limits: ValueLimits | None = None,
    stdin: str | bytes = b"",
    argv: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    collect: Iterable[str] = (),
    profile: str | os.PathLike[str] | Profile = "compute",
    limits: Limits | Mapping[str, Any] | None = None,
    allow_degraded: Iterable[str] = (),
    namespaces: str | None = None,
    cgroup: str | None = None,
    filename: str | os.PathLike[str] = "submission.py",
    fresh: bool = False,
    python: str | os.PathLike[str] | None = None,
    audit_log: str | os.PathLike[str] | None = None,
    check: bool = False,
    pool: Pool | None = None,
) -> CallResult:
    """Execute a program in a confined child, call one of its functions, return the result by value.

    `entry` is the name of a function, ``Class.method`` (on an instance made for the call when it is
    a plain method), or an expression whose value is called, such as ``Solution().twoSum``.

    Arguments and result are plain data of exact types: None, bool, int, float, complex, str, bytes,
    list, tuple, dict, set, frozenset. A subclass, a cycle and what is larger than `value_limits`
    are errors that name the place (``at $.groups[0]``): of the caller in the arguments, of the
    program in the result.

    `adapters` turn lists into linked lists and trees, and back, as LeetCode's problems have them:
    ``{0: "ListNode", "return": "ListNode"}`` for the first argument and the result. Keys are places
    of `args`, names in `kwargs` and "return"; names are "ListNode", "TreeNode", "list[ListNode]"
    and "list[TreeNode]". ``{"return": 0}`` takes the first argument after the call for the result
    (a function that changes it in place), ``(0, "ListNode")`` does both.

    With `pool` the child is one of its spares, and profile, interpreter and layers are the pool's.
    The other keywords are those of `run`; ``sys.argv[1:]`` is `argv`. Raises what `run` raises, and
    TypeError and ValueError for arguments that are no plain data.
    """
    flag(check, "check")
    bounds = value_limits or ValueLimits()
    request = encode_call(entry, args, kwargs, adapters=adapters, limits=bounds)
    options: dict[str, Any] = {
        "stdin": stdin,
        "args": argv,
        "env": env,
        "files": files,
        "collect": collect,
        "limits": limits,
        "filename": filename,
        "audit_log": audit_log,
    }
    if pool is None:
        options.update(profile=profile, allow_degraded=allow_degraded, fresh=fresh, python=python)
        options.update(namespaces=namespaces, cgroup=cgroup)
    result, replies = _converse(source, [request], value_limits=bounds, pool=pool, **options)
    judged = judge(result, replies[0] if replies else None, bounds)
    if check:
        judged.check()
    return judged
