"""A child that keeps its state between cells, for notebooks and agents."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from csandbox import _core
from csandbox._ask import DISPLAYS, Answers, Ask, Show, bundle
from csandbox._call import CallResult, judge
from csandbox._cell import CellError, CellResult, cell_of
from csandbox._closing import Closing
from csandbox._default_pool import forced_pool
from csandbox._errors import BranchError, SessionError, SetupError
from csandbox._foreign import opened
from csandbox._limits import Limits
from csandbox._order import Order
from csandbox._profile import Profile
from csandbox._snapshot import Snapshot
from csandbox._value import REPLY_EXTRA_BYTES, ValueLimits, encode_call, open_reply

if TYPE_CHECKING:
    from csandbox._core_pool import CorePool
    from csandbox._pool import Pool

# What a cell may answer with: its displays (at most 8 MB in the child) as JSON.
_REPLY_BYTES = 12 * 1024 * 1024
# A person waits for a list of names no longer than this.
_EXPLORE_S = 1.0


Tap = Callable[[int, bytes], object]


def _fresh(
    violations: Sequence[Mapping[str, Any]], before: Mapping[Any, int]
) -> tuple[list[dict[str, Any]], dict[Any, int]]:
    """What was denied in this cell, of what was denied in the session; and the counts so far."""
    counts: dict[Any, int] = {}
    fresh = []
    for violation in violations:
        key = tuple(sorted((k, v) for k, v in violation.items() if k != "count"))
        counts[key] = counts.get(key, 0) + violation["count"]
        new = counts[key] - before.get(key, 0)
        if new > 0:
            fresh.append({**violation, "count": new})
    return fresh, counts


def _tap(
    on_stdout: Callable[[bytes], object] | None, on_stderr: Callable[[bytes], object] | None
) -> Tap | None:
    """Both listeners as the core takes them: one that is told the stream too."""
    if on_stdout is None and on_stderr is None:
        return None

    def tell(stream: int, data: bytes) -> None:
        listener = on_stdout if stream == 1 else on_stderr
        if listener is not None:
            listener(data)

    return tell


@lru_cache(maxsize=1)
def _prelude() -> str:
    folder = Path(__file__).with_name("_inside")
    return "\n".join(
        (folder / name).read_text(encoding="utf-8") for name in ("session.py", "explore.py")
    )


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key, "")
    return value if isinstance(value, str) else str(value)[:1000]


class Session(Closing):
    """A confined interpreter that keeps its state from cell to cell.

    >>> with csandbox.Session() as s:
    ...     s.run("x = 20")
    ...     s.run("x + 22").value_repr
    '42'

    `limits` are for each cell (CPU and wall time) and for the whole session (memory, files);
    `files` are put into the working folder, `env` added to the environment. One cell at a time;
    `interrupt` may come from another thread. A child that dies is told by the result of its cell
    (``alive`` is then False) and never silently replaced: `reset` begins anew.

    What a cell says of itself (value, displays, the exception) is the child's word, and so is,
    after the first cell, what it says that CPython compiled: the guard's first opinion and the
    kernel's layers are what holds.

    Raises ProfileError, ValueError, UnsupportedError, SetupError when it cannot begin: a warm
    interpreter that is killed meanwhile is replaced and the session begun again, for as long as a
    start may take (``limits.startup_s``). One that is killed later ends its sessions, as
    "internal_error".
    """

    def __init__(
        self,
        profile: str | os.PathLike[str] | Profile = "compute",
        *,
        limits: Limits | Mapping[str, Any] | None = None,
        files: Mapping[str, str | bytes] | None = None,
        env: Mapping[str, str] | None = None,
        allow_degraded: Iterable[str] = (),
        namespaces: str | None = None,
        cgroup: str | None = None,
        python: str | os.PathLike[str] | None = None,
        pool: Pool | None = None,
    ) -> None:
        """Begin; see the class. With `pool`, profile and interpreter are the pool's."""
        options: dict[str, Any] = {"limits": limits, "files": files, "env": env}
        if pool is not None:
            self._order = pool._order("", self._more(), options)
            self._pool: CorePool = pool._core
        else:
            options.update(profile=profile, allow_degraded=allow_degraded, python=python)
            options.update(namespaces=namespaces, cgroup=cgroup)
            self._order = Order.make("", self._more(), **options)
            self._pool = forced_pool(self._order.policy(), self._order.profile)
        self._limits = limits
        self._lock = threading.Lock()
        self._core: _core.Session | None = None
        self._over = ""
        self._denied: dict[Any, int] = {}
        self._open()

    @staticmethod
    def _more(calls: Sequence[bytes] = (), *, cell: bool = False, reply_bytes: int = 0) -> Any:
        return {
            "calls": tuple(calls),
            "session": True,
            "cell": cell,
            "prelude": _prelude(),
            "reply_bytes": reply_bytes or _REPLY_BYTES,
        }

    def _open(self) -> None:
        self._order.admit()
        session, data = self._pool.get().open_session(self._order.request)
        if session is None:
            result = self._order.result(data)
            if result.verdict == "internal_error":
                raise SetupError(
                    step="startup", message=f"the session could not begin: {result.summary()}"
                )
            raise SessionError(
                f"the session could not begin: {result.summary()} {result.stderr[-500:]}".strip()
            )
        self._core, self._over, self._denied = session, "", {}

    @property
    def profile(self) -> Profile:
        """The profile that its cells run under."""
        return self._order.profile

    @property
    def alive(self) -> bool:
        """Whether its child lives."""
        return self._core is not None and self._core.alive

    def _exchange(
        self, order: Order, tap: Tap | None = None, answers: Answers | None = None
    ) -> _core.RunData:
        if not self._lock.acquire(blocking=False):
            raise SessionError("the session is busy: one cell at a time")
        try:
            if self._core is None or not self._core.alive:
                why = self._over or "it was closed"
                raise SessionError(f"the session has ended ({why}); reset() begins a new one")
            ask = None if answers is None else answers.ask
            try:
                data = self._core.exchange(order.request, tap, ask)
            except BlockingIOError as error:
                raise SessionError(str(error)) from None
            data["violations"], self._denied = _fresh(data["violations"], self._denied)
            if not self.alive:
                self._over = f"{data['verdict']}"
            return data
        finally:
            self._lock.release()

    def _cell_order(self, code: str | bytes, limits: Any, filename: str) -> Order:
        base = self._order
        order = Order.make(code, {}, profile=base.profile, filename=filename)
        order.request["limits"] = dict(base.request["limits"])
        if limits is not None:
            given = Limits.from_mapping(limits) if isinstance(limits, Mapping) else limits
            order.request["limits"].update(
                {name: v for name, v in vars(given).items() if v is not None}
            )
        return order

    def run(
        self,
        code: str | bytes,
        *,
        limits: Limits | Mapping[str, Any] | None = None,
        filename: str = "<cell>",
        on_stdout: Callable[[bytes], object] | None = None,
        on_stderr: Callable[[bytes], object] | None = None,
        on_display: Show | None = None,
        on_input: Ask | None = None,
    ) -> CellResult:
        """Check and execute one cell. Its verdict, its output and what it showed.

        `on_stdout` and `on_stderr` are called with what the cell writes, as it writes it, by this
        thread, and `on_display` with each MIME bundle that it shows, after what it wrote before;
        the result still has all of it. `on_input` is called with the prompt of ``input()`` and
        returns the line, or raises EOFError; without it, ``input()`` raises EOFError in the cell.
        While the two are asked the cell stands still, and its time does not go on. What the four
        raise is told on stderr and goes no further.

        Raises SessionError when the session has ended or is busy.
        """
        order = self._cell_order(code, limits, filename)
        refused = order.admit()
        if refused is not None:
            return cell_of(refused, alive=self.alive)
        text = order.request["source"]
        order.request.update(self._more([text], cell=True))
        answers = Answers(on_display, on_input)
        data = self._exchange(order, _tap(on_stdout, on_stderr), answers)
        cell = self._judged(order, data)
        if not answers.shown:
            return cell
        return replace(cell, displays=(*answers.shown, *cell.displays)[:DISPLAYS])

    def _judged(self, order: Order, data: _core.RunData) -> CellResult:
        result = order.result(data)
        alive = self.alive
        if not data["replies"] or result.verdict == "rejected":
            return cell_of(result, alive=alive)
        said = opened(data["replies"][0]["bytes"])
        if said is None:
            return cell_of(replace(result, verdict="runtime_error"), alive=alive)
        if alive:
            result = replace(result, exit_code=None, signal=None)
        error = said.get("error")
        raised = None
        if isinstance(error, dict):
            raised = CellError(
                _text(error, "name"), _text(error, "text"), _text(error, "traceback")
            )
            if result.verdict == "accepted":
                verdict = "runtime_error" if said.get("compiled") else "compile_error"
                result = replace(result, verdict=verdict)
        shown = said.get("displays")
        count = said.get("count")
        value = said.get("value")
        return cell_of(
            result,
            alive=alive,
            value_repr=None if said.get("value_repr") is None else _text(said, "value_repr"),
            value=None if value is None else bundle(value),
            displays=tuple(map(bundle, shown[:DISPLAYS])) if isinstance(shown, list) else (),
            raised=raised,
            count=count if isinstance(count, int) else 0,
        )

    async def arun(self, code: str | bytes, **options: Any) -> CellResult:
        """`run` without blocking the loop; cancelling interrupts the cell and waits for it."""
        import asyncio

        task = asyncio.ensure_future(asyncio.to_thread(self.run, code, **options))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            while not task.done():
                self.interrupt()
                await asyncio.wait([task], timeout=0.5)
                if not task.done():
                    self.close()
            raise

    def call(
        self,
        entry: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        adapters: Mapping[int | str, Any] | None = None,
        value_limits: ValueLimits | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
    ) -> CallResult:
        """Call a function that a cell has defined, by value; as `csandbox.call`."""
        bounds = value_limits or ValueLimits()
        request = encode_call(entry, args, kwargs, adapters=adapters, limits=bounds)
        order = self._cell_order("", limits, "<call>")
        order.admit()
        order.request.update(
            self._more([request], reply_bytes=bounds.bytes + REPLY_EXTRA_BYTES), checked=None
        )
        data = self._exchange(order)
        replies = [open_reply(reply, bounds) for reply in data["replies"][:1]]
        return judge(order.result(data), replies[0] if replies else None, bounds)

    def get(self, name: str) -> Any:
        """The value of a variable, as plain data. KeyError when there is none, TypeError when it is
        no plain data.
        """
        result = self.call("globals().__getitem__", (name,))
        if result.ok:
            return result.value
        if result.reason == "raised":
            raise KeyError(name)
        raise TypeError(f"{name}: {result.message or result.summary()}")

    def set(self, **variables: Any) -> None:
        """Set variables to plain data. TypeError and ValueError name what is none."""
        result = self.call("globals().update", (), variables)
        if not result.ok:
            raise SessionError(f"the variables could not be set: {result.summary()}")

    def explore(self, what: str, *words: Any) -> Any:
        """Ask the child about names, for completion and inspection. None when it has no answer.

        ``("members", path, prefix)``, ``("available", modules)``, ``("module_members", module,
        prefix)``, ``("about", path, with_source)``; see _inside/explore.py. Attribute access is
        code of the child, so it is interrupted after a second; the answer is its word.
        """
        timer = threading.Timer(_EXPLORE_S, self.interrupt)
        timer.daemon = True
        timer.start()
        try:
            result = self.call("display.explore", (what, *words))
        finally:
            timer.cancel()
        return result.value if result.ok else None

    def interrupt(self) -> bool:
        """KeyboardInterrupt in the running cell; its state survives. From any thread.

        False when there is no child to interrupt.
        """
        return self._core is not None and self._core.interrupt()

    def reset(self) -> None:
        """End the child and begin a new one: no variable, module or file of the old is left."""
        self.close()
        with self._lock:
            self._open()

    def close(self) -> None:
        """End the child and remove its folder; a running cell ends as "internal_error"."""
        if self._core is not None:
            self._core.close()

    def fork(self) -> Session:
        """A new session with the whole state of this one: a branch.

        Variables, modules, and the files in the working folder are what they are now; from here on
        neither sees anything of the other. Limits, guard and layers are the same. Both sessions
        are closed each for itself, in any order.

        Nothing is reseeded: `random` goes on in both from the same state. Not copied: timers
        (``signal.alarm``), and functions of ``os.register_at_fork`` are not called. A branch and
        its original form a family, of which one runs a cell at a time; the others wait.

        Raises BranchError when there are other threads, open files or shared memory in the
        session, or when this machine cannot branch; SessionError when it has ended or is busy.
        """
        if not self._lock.acquire(blocking=False):
            raise SessionError("the session is busy: one cell at a time")
        try:
            if self._core is None or not self._core.alive:
                why = self._over or "it was closed"
                raise SessionError(f"the session has ended ({why}); reset() begins a new one")
            core, refused = self._core.fork(self._order.request)
            if not self.alive:
                self._over = "it ended while it was branched"
            if core is None:
                number, why = refused or (0, "")
                raise BranchError(
                    f"the session cannot be branched: {why}", unfit=number == errno.EBUSY
                )
            return self._branch(core)
        finally:
            self._lock.release()

    def _branch(self, core: _core.Session) -> Session:
        branch = object.__new__(type(self))
        branch.__dict__.update(self.__dict__)
        branch._lock = threading.Lock()
        branch._core, branch._over, branch._denied = core, "", dict(self._denied)
        return branch

    def snapshot(self) -> Snapshot:
        """The state as it is now, kept: any number of sessions can be made of it later.

        As `fork`, which says what is copied and what it raises.
        """
        return Snapshot(self.fork())

    def __repr__(self) -> str:
        """One line."""
        return f"<csandbox.Session {self._order.profile.name} {'alive' if self.alive else 'ended'}>"
