"""Run code in the kernel layers alone: no guard, straight into `_core`, fresh or warm.

The one place of the tests that knows the switch by which a layer is taken out
(``skip_for_tests``), so that a test can prove that the layer is what stops an attack.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import csandbox._run
from csandbox import _core
from csandbox._default_pool import close_default_pools, forced_pool, pool_spec
from csandbox._interpreter import interpreter
from csandbox._limits import Limits
from csandbox._policy import policy_spec
from csandbox._profile import Profile

ALL_LAYERS = (
    "fds",
    "session",
    "rlimits",
    "no_new_privs",
    "privileges",
    "landlock",
    "seccomp",
    "seccomp_notify",
    "namespaces",
    "cgroup",
    "mdwe",
)
ROOT = os.geteuid() == 0
# Inside `make test-kernels`, some fifty times slower.
EMULATED = os.environ.get("CSANDBOX_TEST_EMULATED") == "1"
# Layers that this kernel has not, in machines that are there for that.
DEGRADED = tuple(os.environ.get("CSANDBOX_TEST_DEGRADED", "").split())
MiB = 1 << 20
Item = TypeVar("Item")
Answer = TypeVar("Answer")


#: A run has an interpreter of its own, or is a spare child of a pool.
MODES = ("fresh", "warm")


class _Current:
    """The mode that tests are in, for all threads, and the pools of the warm one."""

    mode = "fresh"
    lock = threading.Lock()
    policies: dict[str, _core.Policy] = {}  # noqa: RUF012
    pools: dict[int, _core.Pool] = {}  # noqa: RUF012


def mode() -> str:
    """The mode that tests are in now."""
    return _Current.mode


@contextmanager
def using(name: str) -> Iterator[None]:
    """Runs of this module, and of `csandbox.run`, are fresh or warm; pools end with the block."""
    assert name in MODES
    before, _Current.mode = _Current.mode, name
    chooses = csandbox._run.default_pool
    csandbox._run.default_pool = forced_pool if name == "warm" else lambda *_: None  # type: ignore
    try:
        yield
    finally:
        _Current.mode = before
        csandbox._run.default_pool = chooses
        close_pools()


def close_pools() -> None:
    """End every pool that was made for a test, and those behind `csandbox.run`."""
    with _Current.lock:
        pools = list(_Current.pools.values())
        _Current.pools.clear()
        _Current.policies.clear()
    for pool in pools:
        pool.close()
    close_default_pools()


def _policy(made: dict[str, Any]) -> _core.Policy:
    """In warm mode one a spec, so that runs share a pool."""
    if _Current.mode == "fresh":
        return _core.Policy(made)
    key = json.dumps(made, sort_keys=True, default=list)
    with _Current.lock:
        found = _Current.policies.get(key)
    found = found or _core.Policy(made)
    with _Current.lock:
        return _Current.policies.setdefault(key, found)


def run_in(policy: _core.Policy, wanted: Mapping[str, Any]) -> _core.RunData:
    """`_core.run` in the mode that tests are in."""
    if _Current.mode == "fresh":
        return _core.run(policy, wanted)
    with _Current.lock:
        pool = _Current.pools.get(id(policy))
        if pool is None:
            made = pool_spec(profile(), workers=8, spares=1)
            made["startup_s"] = 300.0 if EMULATED else 15.0
            pool = _Current.pools[id(policy)] = _core.Pool(policy, made)
    return pool.run(wanted)


@cache
def profile(name: str = "open") -> Profile:
    return Profile.load(name)


@cache
def reachable_python() -> str | None:
    """An interpreter that any uid may run: the caller's own, or the system's.

    None when there is none; a child that root starts then keeps uid 0.
    """
    for path in (interpreter(None).executable, "/usr/bin/python3"):
        real = Path(os.path.realpath(path))
        if real.is_file() and all(p.stat().st_mode & 0o001 for p in real.parents):
            return str(real)
    return None


def spec(
    *,
    without: Iterable[str] = (),
    still_required: bool = False,
    sets: Sequence[str] | None = None,
    landlock_abi: int | None = None,
    python: str | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """What `_core.Policy` takes, for profile ``open``, with layers taken out."""
    made = policy_spec(profile(), interpreter(python), frozenset())
    made["require"] = tuple(name for name in made["require"] if name not in DEGRADED)
    made["degrade"] = tuple({*made["degrade"], *DEGRADED})
    out = frozenset(without)
    made["skip_for_tests"] = tuple(sorted(out))
    if not still_required:
        made["require"] = tuple(name for name in made["require"] if name not in out)
    else:
        made["require"] = tuple(dict.fromkeys([*made["require"], *out]))
    if sets is not None:
        made["syscalls"] = tuple(sets)
    if landlock_abi is not None:
        made["landlock_abi_for_tests"] = landlock_abi
    made["scratch_base"] = os.path.realpath(tempfile.gettempdir())
    made.update(changes)
    return made


def limits_of_tests() -> Limits:
    """Those of profile ``open``, or ones that an emulated machine can hold."""
    slow = Limits(startup_s=300, cpu_s=300, wall_s=600) if EMULATED else None
    return profile().limits.merge(slow)


def request(
    source: str | bytes,
    *,
    limits: Limits | Mapping[str, Any] | None = None,
    stdin: bytes = b"",
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    files: Sequence[tuple[str, bytes]] = (),
    filename: str = "submission.py",
) -> dict[str, Any]:
    """What `_core.run` takes."""
    given = Limits.from_mapping(limits) if isinstance(limits, Mapping) else limits
    return {
        "source": source.encode() if isinstance(source, str) else source,
        "filename": filename,
        "args": tuple(args),
        "stdin": stdin,
        "env": dict(env or {}),
        "files": tuple(files),
        "limits": limits_of_tests().merge(given).complete(),
        "checked": None,  # no guard, so no second opinion either
        "confirm_only": False,
    }


_POLICY_KEYS = {
    "without",
    "still_required",
    "sets",
    "python",
    "scratch",
    "on_denied",
    "require",
    "read",
    "landlock_abi",
    "degrade",
    "namespaces",
    "cgroup",
    "scratch_base",
}


def confined(source: str | bytes, **options: Any) -> dict[str, Any]:
    """Run `source` in a child of the mode that tests are in; what `_core.run` returns.

    Options of `spec` (``without``, ``sets``, ``python``, …) choose the confinement, the others
    (``limits``, ``stdin``, …) are the request's.
    """
    chosen = {key: options.pop(key) for key in _POLICY_KEYS & set(options)}
    policy = _policy(spec(**chosen))
    result: dict[str, Any] = dict(run_in(policy, request(source, **options)))
    result["out"] = result["stdout"].decode("utf-8", "replace")
    result["err"] = result["stderr"].decode("utf-8", "replace")
    return result


def reply(source: str, **options: Any) -> Any:
    """Run a program that prints one JSON value, and return that value."""
    result = confined(source, **options)
    assert result["verdict"] == "accepted", (result["verdict"], result["err"], result["violations"])
    return json.loads(result["out"])


def in_parallel(work: Any, items: Iterable[Item], width: int = 4) -> list[Any]:
    """`[work(item) for item in items]` with a few threads; the first exception is raised."""
    with ThreadPoolExecutor(max_workers=width) as pool:
        return list(pool.map(work, items))


@cache
def _libseccomp() -> ctypes.CDLL:
    return ctypes.CDLL("libseccomp.so.2")


@cache
def number(name: str) -> int:
    """The number of a system call on this machine, -1 when it has none of that name."""
    found: int = _libseccomp().seccomp_syscall_resolve_name(name.encode())
    return found if found >= 0 else -1


def denied(result: Mapping[str, Any]) -> set[str]:
    """Names of the system calls that the supervisor saw refused."""
    return {str(violation["syscall"]) for violation in result["violations"]}


def pythons() -> list[str]:
    """Interpreters of every supported version that are found, the caller's own first."""
    found = {sys.version_info[:2]: interpreter(None).executable}
    folders = os.environ.get("PATH", "").split(os.pathsep)
    folders += [str(p) for p in Path(os.environ.get("PYENV_ROOT", "/")).glob("versions/3.1*/bin")]
    for minor in range(10, 14):
        for folder in folders:
            path = Path(folder, f"python3.{minor}")
            if (3, minor) not in found and path.is_file() and "shims" not in path.parts:
                found[(3, minor)] = str(path)
    return list(found.values())
