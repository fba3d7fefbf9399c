"""From a profile and an interpreter to one compiled confinement, made once and kept."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from csandbox import _core, _schema
from csandbox._arguments import several, shown
from csandbox._cleaning import dismiss, look_after
from csandbox._errors import ProfileError, SetupError
from csandbox._interpreter import Interpreter, interpreter
from csandbox._packages import resolve
from csandbox._place import beside_core
from csandbox._profile import Profile

# The uid and gid of a child when the caller is root: in the range 60578 to 61183 that systemd's
# table of uids leaves to nobody, and below 65536, so that it exists in the usual rootless container
# too.
CHILD_UID = 60700


# Layers for which a profile has a word of their own: "auto", "off" or "require".
_CHOSEN = ("namespaces", "cgroup")


def child_module() -> str:
    """Path of the ``_child`` extension, which lies beside ``_core``; it is never imported here."""
    return beside_core("_child")


def degraded_names(allow_degraded: Iterable[str]) -> frozenset[str]:
    """The caller's choice of layers that may be missing, checked."""
    given = several(allow_degraded, "allow_degraded", '["landlock"]')
    for name in given:
        if name not in _schema.FEATURES:
            near = get_close_matches(shown(name), _schema.FEATURES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(_schema.FEATURES)}"
            raise ValueError(f"allow_degraded: {shown(name)} is no layer; {hint}")
    return frozenset(given)


# A run's share of what is free in memory, so that a dozen at once cannot fill it.
_MEMORY_SHARE = 16
_MEMORY_FOLDER = "/dev/shm"


@lru_cache(maxsize=1)
def _is_in_memory(path: str) -> bool:
    """Whether this very path is a tmpfs that we may write to."""
    try:
        mounts = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return False
    return any(line.split()[1:3] == [path, "tmpfs"] for line in mounts) and os.access(
        path, os.R_OK | os.W_OK | os.X_OK
    )


def _fits_in_memory(bounds: Mapping[str, float | int]) -> bool:
    free = os.statvfs(_MEMORY_FOLDER)
    share = free.f_bavail * free.f_frsize // _MEMORY_SHARE
    return bounds["disk_bytes"] <= min(bounds["memory_bytes"], share)


def scratch_base(profile: Profile, bounds: Mapping[str, float | int] | None = None) -> str:
    """The folder in which private scratch folders are made; SetupError when there is none.

    That is the folder for temporary files, as ``tempfile`` finds it. When nobody chose one (it is
    /tmp) and what a run may write is small, it is a tmpfs instead: a folder is then made and
    removed in microseconds, where a busy disk takes milliseconds. ``bounds`` are the run's limits.
    """
    try:
        folder = os.path.realpath(tempfile.gettempdir())
        if (
            folder == "/tmp"
            and not any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
            and _is_in_memory(_MEMORY_FOLDER)
            and (
                profile.files.scratch == "ro"
                or _fits_in_memory(bounds or profile.limits.complete())
            )
        ):
            return _MEMORY_FOLDER
        return folder
    except OSError as error:
        raise SetupError(
            step="scratch",
            errno=error.errno or 0,
            message="no folder for temporary files can be written; set TMPDIR to one that can",
        ) from error


def extra_paths(profile: Profile) -> list[str]:
    """Paths of the host that a child may read, resolved; ProfileError when one is missing."""
    for path in profile.files.read:
        if not os.path.exists(path):
            raise ProfileError(
                f"profile {profile.name}: files.read: {path!r} does not exist on this machine",
                key="files.read",
            )
    return [os.path.realpath(path) for path in profile.files.read]


def policy_spec(
    profile: Profile, python: Interpreter, degraded: frozenset[str], base: str | None = None
) -> dict[str, Any]:
    """What ``_core.Policy`` takes; scratch folders are made in `base`."""
    packages = resolve(profile.packages.names, python.sites)
    child = child_module()
    insisted = [f for f in _CHOSEN if getattr(profile.isolation, f) == "require"]
    required = (*profile.isolation.require, *insisted)
    may_miss = degraded | set(profile.isolation.allow_degraded)
    return {
        "profile": profile.name,
        "python": python.executable,
        "child_module": child,
        "module_path": (*python.module_path, *packages.module_path),
        "read": tuple(dict.fromkeys([*python.read, *packages.read, *extra_paths(profile), child])),
        "list": tuple(dict.fromkeys([*python.list_folders, *packages.list_folders])),
        "execute": python.execute,
        "scratch": profile.files.scratch,
        "syscalls": profile.syscalls.sets,
        "on_denied": profile.syscalls.on_denied,
        "env": dict(profile.env),
        "require": tuple(f for f in dict.fromkeys(required) if f not in may_miss),
        "degrade": tuple(sorted(may_miss)),
        "namespaces": "off" if profile.isolation.namespaces == "off" else "auto",
        "cgroup": "off" if profile.isolation.cgroup == "off" else "auto",
        "uid": CHILD_UID,
        "scratch_base": scratch_base(profile) if base is None else base,
    }


@lru_cache(maxsize=256)
def _replaced(profile: Profile, chosen: tuple[tuple[str, str], ...]) -> Profile:
    return profile.replace(isolation=dict(chosen))


def with_layers(profile: Profile, **words: str | None) -> Profile:
    """The profile with the caller's word for a layer; None keeps the profile's own.

    Raises ValueError for a word that is none of "auto", "off" and "require".
    """
    chosen = []
    for name, word in words.items():
        if word is None or word == getattr(profile.isolation, name):
            continue
        if word not in _schema.CHOICES:
            listed = ", ".join(map(repr, _schema.CHOICES))
            raise ValueError(f"{name} must be one of {listed}, not {shown(word)}")
        chosen.append((name, word))
    return _replaced(profile, tuple(chosen)) if chosen else profile


@lru_cache(maxsize=64)
def _compiled(
    profile: Profile,
    python: str | None,
    degraded: frozenset[str],
    base: str,
    _identity: tuple[int, ...],
) -> _core.Policy:
    return _core.Policy(policy_spec(profile, interpreter(python), degraded, base))


def policy_of(
    profile: Profile,
    python: str | None,
    degraded: frozenset[str],
    bounds: Mapping[str, float | int] | None = None,
) -> _core.Policy:
    """The compiled confinement, made once per profile, interpreter and choice of layers.

    Made anew when this process has become another user or its folder for temporary files is
    another one. ``bounds`` are the run's limits, the profile's when left out. Raises
    UnsupportedError when a required layer cannot be enforced here, SetupError, ValueError.
    """
    base = scratch_base(profile, bounds)
    try:
        folder = os.stat(base)
    except OSError:
        return _core.Policy(policy_spec(profile, interpreter(python), degraded, base))
    identity = (os.geteuid(), folder.st_dev, folder.st_ino)
    policy = _compiled(profile, python, degraded, base, identity)
    look_after(policy)
    return policy


def clear_caches() -> None:
    """Forget compiled policies and descriptions (packages installed since are then seen)."""
    from csandbox import _interpreter, _packages

    dismiss()
    _compiled.cache_clear()
    _interpreter._described.cache_clear()
    _packages.resolve.cache_clear()
    _packages._installed.cache_clear()
    _packages._listing.cache_clear()
