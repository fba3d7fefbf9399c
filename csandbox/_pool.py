"""A pool of spare children: the same runs as `csandbox.run`, ready before they are asked for."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from csandbox import _core
from csandbox._arguments import count, flag, path_text, seconds, several, shown
from csandbox._call import CallResult, call
from csandbox._closing import Closing
from csandbox._core_pool import CorePool
from csandbox._default_pool import pool_spec
from csandbox._handle import Handle
from csandbox._limits import Limits, limits_given
from csandbox._order import Order, Replies, carry_out
from csandbox._policy import degraded_names, policy_of, with_layers
from csandbox._profile import Profile, as_profile
from csandbox._progress import Progress
from csandbox._result import Result
from csandbox._run_many import Item, arun_each, run_each
from csandbox._sizing import usable_cpus

if TYPE_CHECKING:
    from csandbox._session import Session


_MOST = 4096
_DAY_S = 86_400.0
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def _count(value: int | None, name: str, default: int) -> int:
    return default if value is None else count(value, name, _MOST)


def _modules(names: Iterable[str]) -> tuple[str, ...]:
    chosen = several(names, "preload", '["json"]')
    for name in chosen:
        if not isinstance(name, str) or _MODULE.fullmatch(name) is None:
            raise ValueError(f"preload: {shown(name)} is not the name of a module")
    return chosen


class Pool(Closing):
    """Children of one profile, forked, confined and touched ahead of need.

    ========== ===============================================================================
    profile    as for `run`; one pool serves one profile (and one interpreter)
    workers    runs at a time; default: the CPUs that this process may use
    spares     children kept ready; default: two a worker
    preload    modules that the zygote imports before its first fork, so that a run has them at
               once: ``("numpy",)``. A package that starts threads at import is refused
    limits     defaults for every run, over the profile's
    renew_runs a new zygote after so many runs …
    renew_s    … or so many seconds: a new address layout, a new seed of str hashes
    startup_s  the longest that a zygote with its preload, or a spare, may take
    ========== ===============================================================================

    Starts at the first run (or with `wait_ready`). Any thread may use it, and a forked copy of the
    process gets processes of its own. Use it as a context manager, or `close` it.

    Raises ProfileError and ValueError for wrong arguments, UnsupportedError when a required layer
    cannot be enforced here; runs raise SetupError when the zygote cannot start.
    """

    def __init__(
        self,
        profile: str | os.PathLike[str] | Profile = "compute",
        *,
        workers: int | None = None,
        spares: int | None = None,
        preload: Iterable[str] = (),
        limits: Limits | Mapping[str, Any] | None = None,
        allow_degraded: Iterable[str] = (),
        namespaces: str | None = None,
        cgroup: str | None = None,
        python: str | os.PathLike[str] | None = None,
        renew_runs: int = 20_000,
        renew_s: float = 600.0,
        startup_s: float = 30.0,
    ) -> None:
        """Check the arguments; see the class."""
        self.profile = with_layers(as_profile(profile), namespaces=namespaces, cgroup=cgroup)
        self.workers = _count(workers, "workers", usable_cpus())
        self.spares = _count(spares, "spares", 2 * self.workers)
        modules = _modules(preload)
        self._limits = limits_given(limits)
        self._plain: Order | None = None  # a run that asks for nothing special
        self._degraded = degraded_names(allow_degraded)
        self._python = None if python is None else path_text(python, "python")
        spec = pool_spec(self.profile, workers=self.workers, spares=self.spares, preload=modules)
        spec["renew_runs"] = count(renew_runs, "renew_runs", 1 << 30)
        spec["renew_s"] = seconds(renew_s, "renew_s", 365 * _DAY_S)
        spec["startup_s"] = seconds(startup_s, "startup_s", _DAY_S)
        policy = policy_of(self.profile, self._python, self._degraded)
        self._core = CorePool(policy, spec)

    def _order(
        self, source: str | bytes, more: Mapping[str, Any], options: dict[str, Any]
    ) -> Order:
        if not options and not more:
            if self._plain is None:
                self._plain = self._make_order("", more, options)
            return self._plain.again(source)
        return self._make_order(source, more, options)

    def _make_order(
        self, source: str | bytes, more: Mapping[str, Any], options: dict[str, Any]
    ) -> Order:
        for name in ("profile", "python", "allow_degraded", "namespaces", "cgroup", "fresh"):
            if name in options:
                raise TypeError(f"{name} is chosen when the pool is made, not for one run")
        limits = options.pop("limits", None)
        merged = self._limits if limits is None else _over(self._limits, limits_given(limits))
        return Order.make(
            source,
            more,
            profile=self.profile,
            limits=merged,
            allow_degraded=self._degraded,
            python=self._python,
            **options,
        )

    def _run_in_spare(self, order: Order) -> _core.RunData:
        return self._core.run(order.request)

    def _perform(
        self, source: str | bytes, more: Mapping[str, Any], **options: Any
    ) -> tuple[Result, Replies]:
        audit_log = options.pop("audit_log", None)
        order = self._order(source, more, options)
        return carry_out(order, self._run_in_spare, audit_log, self._core)

    def run(self, source: str | bytes, *, check: bool = False, **options: Any) -> Result:
        """As `csandbox.run`, in a spare child.

        Keywords: ``stdin args env files collect limits filename audit_log check``.
        """
        flag(check, "check")
        result, _ = self._perform(source, {}, **options)
        return result.check() if check else result

    def call(
        self,
        source: str | bytes,
        entry: str,
        args: Any = (),
        kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> CallResult:
        """As `csandbox.call`, in a spare child."""
        return call(source, entry, args, kwargs, pool=self, **options)

    async def acall(
        self,
        source: str | bytes,
        entry: str,
        args: Any = (),
        kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> CallResult:
        """`call` for asyncio and trio: no thread waits, cancelling kills the child first."""
        from csandbox._many import acall

        return await acall(source, entry, args, kwargs, pool=self, **options)

    def start(
        self,
        source: str | bytes,
        *,
        on_stdout: Callable[[bytes], object] | None = None,
        on_stderr: Callable[[bytes], object] | None = None,
        **options: Any,
    ) -> Handle:
        """Begin a run and return at once: ``handle.wait()``, ``handle.kill()``.

        `on_stdout` and `on_stderr` are called with what the program writes, as it writes it, by the
        thread that is in ``handle.wait()`` or ``handle.poll()``.
        """
        audit_log = options.pop("audit_log", None)
        order = self._order(source, {}, options)
        return Handle(self._core, order, audit_log, on_stdout, on_stderr)

    async def arun(self, source: str | bytes, *, check: bool = False, **options: Any) -> Result:
        """`run` for asyncio and trio: no thread waits, cancelling kills the child first."""
        from csandbox._async import arun_order

        flag(check, "check")
        audit_log = options.pop("audit_log", None)
        result, _ = await arun_order(self._core, self._order(source, {}, options), audit_log)
        return result.check() if check else result

    def run_many(
        self,
        items: Iterable[Item],
        *,
        concurrency: int | None = None,
        ordered: bool = True,
        progress: Progress = False,
        **options: Any,
    ) -> Iterator[Result]:
        """Run many programs, lazily: results in the order of `items`, or as they finish.

        An item is a source, or a mapping with ``source`` and keywords of `run`; `options` are for
        all of them. At most `concurrency` (default: twice the workers) are on their way; the next
        item is taken when a result was. `progress`: True shows a bar when tqdm is installed, a
        function is called with (done, total or None). Leaving the loop early, KeyboardInterrupt
        included, ends what is running.
        """
        width = _count(concurrency, "concurrency", 2 * self.workers)
        return run_each(self, items, width, ordered, progress, options)

    def arun_many(
        self,
        items: Iterable[Item],
        *,
        concurrency: int | None = None,
        ordered: bool = True,
        progress: Progress = False,
        **options: Any,
    ) -> AsyncIterator[Result]:
        """`run_many` as an async iterator."""
        width = _count(concurrency, "concurrency", 2 * self.workers)
        return arun_each(self, items, width, ordered, progress, options)

    def session(self, **options: Any) -> Session:
        """A child that keeps its state between cells; see `csandbox.Session`."""
        from csandbox._session import Session

        return Session(pool=self, **options)

    def wait_ready(self, timeout_s: float = 30.0) -> bool:
        """Start the pool and wait for its spares; True when at least one is ready."""
        return self._core.get().wait_ready(float(timeout_s))

    def stats(self) -> dict[str, Any]:
        """Figures: runs, waiting, running, ready, spares hit and missed, renewals, p50, p99, RSS.

        ``p50_s`` and ``p99_s`` are of the last 1,024 runs, waiting included;
        ``zygote_resident_bytes`` is what an idle pool holds besides the pages that spares share.
        """
        started = self._core.started
        return {} if started is None else dict(started.stats())

    def close(self) -> None:
        """End zygote and spares, after the runs that are on. Harmless when called again."""
        self._core.close()

    def __repr__(self) -> str:
        """One line: profile and numbers."""
        return f"<csandbox.Pool {self.profile.name} workers={self.workers} spares={self.spares}>"


def _over(base: Limits | None, limits: Limits | None) -> Limits | None:
    return limits if base is None else base.merge(limits)
