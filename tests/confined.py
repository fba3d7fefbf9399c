"""Run code in the kernel layers alone: no guard, straight into `_core`.

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
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from csandbox import _core
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
MiB = 1 << 20
Item = TypeVar("Item")
Answer = TypeVar("Answer")


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
}


def confined(source: str | bytes, **options: Any) -> dict[str, Any]:
    """Run `source` in a fresh child and return what `_core.run` does.

    Options of `spec` (``without``, ``sets``, ``python``, …) choose the confinement, the others
    (``limits``, ``stdin``, …) are the request's.
    """
    chosen = {key: options.pop(key) for key in _POLICY_KEYS & set(options)}
    policy = _core.Policy(spec(**chosen))
    result: dict[str, Any] = dict(_core.run(policy, request(source, **options)))
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
