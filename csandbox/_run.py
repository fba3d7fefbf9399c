"""Run one program: the guard admits it, a confined child runs it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from csandbox import _core
from csandbox._arguments import flag
from csandbox._core_pool import CorePool, PoolClosedError
from csandbox._default_pool import default_pool, ready_pool
from csandbox._errors import SandboxError
from csandbox._limits import Limits
from csandbox._order import Order, Replies, carry_out
from csandbox._profile import Profile, is_path
from csandbox._result import Result


def run(
    source: str | bytes,
    *,
    stdin: str | bytes = b"",
    args: Sequence[str] = (),
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
) -> Result:
    """Check a program and, when the profile allows it, run it in a confined child.

    Whatever the program does is a verdict in the ``Result``, never an exception.

    ============== ============================================================================
    stdin          what the program reads (text is sent as UTF-8)
    args           ``sys.argv[1:]``
    env            variables added to the profile's, at most 1,000 and 1 MiB; nothing of the
                   caller's is inherited
    files          relative name → content, put into the working folder before the start
    collect        patterns of files that come back as ``Result.files``: ``"out.csv"``, ``"*.png"``,
                   ``"plots/**"``. At most 100 files and 64 MiB in all; links are not followed
    profile        name of a built-in profile, path of a TOML file, or a ``Profile``
    limits         ``Limits`` or a mapping; what is left out comes from the profile
    allow_degraded layers that may be missing ({"landlock"}); every result then says so
    namespaces     "auto", "off" or "require": namespaces of the child's own; None: as the
                   profile says
    cgroup         the same for a control group of the run's own
    filename       the program's name in messages and tracebacks
    fresh          True: always an interpreter of its own, never one forked from a warm one
    python         path of another CPython (3.10 or newer) to run the program with
    audit_log      a file to which one line of JSON is appended for the run; many processes may
                   append to it. The same record goes to the logger ``csandbox.audit``
    check          True: raise OutcomeError when the verdict is not "accepted"
    ============== ============================================================================

    May be called from any thread; other threads go on meanwhile, and KeyboardInterrupt ends the
    child. It returns by the wall limit + 0.2 s plus the check and the start-up, whatever the code
    does.

    Raises ProfileError, TypeError and ValueError for wrong arguments, UnsupportedError when a
    required layer cannot be enforced here, SetupError when no child could be started, OutcomeError
    with `check`.
    """
    flag(check, "check")
    result, _ = perform(
        source,
        {},
        stdin=stdin,
        args=args,
        env=env,
        files=files,
        collect=collect,
        profile=profile,
        limits=limits,
        allow_degraded=allow_degraded,
        namespaces=namespaces,
        cgroup=cgroup,
        filename=filename,
        fresh=fresh,
        python=python,
        audit_log=audit_log,
    )
    return result.check() if check else result


def perform(
    source: str | bytes,
    more: Mapping[str, Any],
    *,
    fresh: bool = False,
    audit_log: str | os.PathLike[str] | None = None,
    **options: Any,
) -> tuple[Result, Replies]:
    """`run`, with `more` keys for the core's request (``calls``), and the replies that came."""
    flag(fresh, "fresh")
    order = _order(source, more, options)
    if fresh:
        return carry_out(order, _run_fresh, audit_log)
    return carry_out(order, run_warm, audit_log, _ready(order))


def _order(source: str | bytes, more: Mapping[str, Any], options: dict[str, Any]) -> Order:
    profile = options.get("profile")
    known = isinstance(profile, Profile) or (isinstance(profile, str) and not is_path(profile))
    if known and not more and all(options.get(name, no) is no for name, no in _NOTHING.items()):
        return _plain(profile).again(source)
    return Order.make(source, more, **options)


@lru_cache(maxsize=16)
def _plain(profile: str | Profile) -> Order:
    """A run that asks for nothing special: its arguments are checked once."""
    return Order.make("", {}, profile=profile)


#: What `run` is given when nothing is asked for.
_NOTHING = {
    name: value
    for name, value in (run.__kwdefaults__ or {}).items()
    if name not in ("profile", "fresh", "audit_log", "check")
}


def _ready(order: Order) -> CorePool | None:
    try:
        return ready_pool(order.policy())
    except (SandboxError, ValueError):
        return None  # to be raised when the guard has nothing against the source


def _run_fresh(order: Order) -> _core.RunData:
    return _core.run(order.policy(), order.request)


def run_warm(order: Order) -> _core.RunData:
    """Run in a spare of the default pool, or in a new interpreter while it has none."""
    pool = default_pool(order.policy(), order.profile)
    if pool is not None:
        try:
            return pool.run(order.request)
        except PoolClosedError:
            pass  # another thread's runs needed its place
    return _run_fresh(order)
