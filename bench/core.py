"""The confined run without the guard and without the public face: what the layers cost."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from bench.measure import Cost, timed
from csandbox import Profile, _core
from csandbox._interpreter import interpreter
from csandbox._policy import policy_spec

#: In the order in which a child enters them. Not no_new_privs: it is one prctl(2), and Landlock and
#: seccomp cannot be entered without it.
LAYERS = ("session", "rlimits", "landlock", "fds", "privileges", "seccomp", "seccomp_notify",
          "namespaces", "mdwe")  # fmt: skip
SOURCE = b"print(1)"
OUTPUT = b"1\n"


class Wrong(Exception):
    """A measured program did not do what it must; its time would mean nothing."""


def base_python() -> str:
    """The interpreter that children run: a virtual environment's base."""
    return interpreter(None).executable


def policy(profile: str, *without: str) -> _core.Policy:
    """A profile's confinement, all layers in force or some taken out."""
    spec = policy_spec(Profile.load(profile), interpreter(None), frozenset())
    if without:
        # Denials are reported by the filter's own listener: without a filter there is none.
        out = {*without} | ({"seccomp_notify"} if "seccomp" in without else set())
        spec["skip_for_tests"] = tuple(sorted(out))
        spec["require"] = tuple(name for name in spec["require"] if name not in out)
    return _core.Policy(spec)


def request(profile: str) -> dict[str, Any]:
    """The smallest run under a profile's limits."""
    return {
        "source": SOURCE,
        "filename": "submission.py",
        "args": (),
        "stdin": b"",
        "env": {},
        "files": (),
        "limits": Profile.load(profile).limits.complete(),
        "checked": None,
        "confirm_only": False,
    }


def core_run(confinement: _core.Policy, asked: dict[str, Any]) -> Callable[[], Cost]:
    """A candidate: one fresh run in the core."""

    def work() -> None:
        data = _core.run(confinement, asked)
        if data["verdict"] != "accepted" or data["stdout"] != OUTPUT:
            raise Wrong(f"{data['verdict']}: {data['stderr'].decode(errors='replace')}")

    return lambda: timed(work)


def enough_memory(wanted_bytes: int) -> bool:
    """Whether this machine can give that much now."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["MemAvailable"].split()[0]) * 1024 >= wanted_bytes
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >= 2 * wanted_bytes
