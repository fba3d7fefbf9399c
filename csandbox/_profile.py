"""Profiles: what code may do, as one validated, immutable object that every layer reads."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from csandbox import _schema
from csandbox._arguments import absolute_path, shown
from csandbox._errors import ProfileError
from csandbox._limits import Limits
from csandbox._toml import load_toml


def _rebuild(cls: type[Any], values: dict[str, Any]) -> Any:
    return cls(**{k: MappingProxyType(v) if isinstance(v, dict) else v for k, v in values.items()})


class _Section:
    """Frozen values; pickled and copied through plain dicts, which MappingProxyType is not."""

    def __reduce__(self) -> tuple[Any, ...]:
        values = {k: dict(v) if isinstance(v, Mapping) else v for k, v in vars(self).items()}
        return _rebuild, (type(self), values)


@dataclass(frozen=True)
class GuardSection(_Section):
    """What the static check refuses (see docs/rules)."""

    enabled: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    builtins_allow: tuple[str, ...]
    attributes_allow: tuple[str, ...]
    mode: Mapping[str, str]
    imports_allow: tuple[str, ...]
    imports_deny: tuple[str, ...]
    import_help: Mapping[str, str]
    source_bytes: int
    nodes: int
    depth: int
    findings_per_rule: int
    time_ms: int

    __hash__ = None  # type: ignore[assignment]  # mappings inside; hash the Profile instead


@dataclass(frozen=True)
class FilesSection(_Section):
    """The scratch folder's mode ("ro" or "rw") and paths of the host readable below."""

    scratch: str
    read: tuple[str, ...]


@dataclass(frozen=True)
class PackagesSection(_Section):
    """Distributions that the child may import, and modules to load ahead in the warm engine."""

    names: tuple[str, ...]
    preload: tuple[str, ...]


@dataclass(frozen=True)
class SyscallsSection(_Section):
    """Names of system call sets, and what a denied call meets ("errno" or "kill")."""

    sets: tuple[str, ...]
    on_denied: str


@dataclass(frozen=True)
class IsolationSection(_Section):
    """Layers without which nothing runs, layers that may be missing, and a word for each other.

    ``namespaces`` and ``cgroup`` are "auto" (entered where this machine lets us), "off" or
    "require".
    """

    require: tuple[str, ...]
    allow_degraded: tuple[str, ...]
    namespaces: str
    cgroup: str


@dataclass(frozen=True, repr=False, eq=False)
class Profile:
    """One validated profile.

    Made by ``Profile.load(name_or_path)`` and ``.replace(...)``; immutable, hashable, picklable,
    and usable from any thread. Two profiles are equal when all their values are.
    """

    name: str
    summary: str
    guard: GuardSection
    limits: Limits
    files: FilesSection
    packages: PackagesSection
    syscalls: SyscallsSection
    env: Mapping[str, str]
    isolation: IsolationSection

    @classmethod
    def builtin(cls) -> tuple[str, ...]:
        """Names of the built-in profiles, from the strictest to the widest."""
        names = _builtin_trees()
        order = ("minimal", "contest", "compute", "agent", "open")
        return (*(n for n in order if n in names), *sorted(set(names) - set(order)))

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str]) -> Profile:
        """A built-in profile by name, or a TOML file by path.

        A string with a ``/`` or ending in ``.toml`` is a path, as is every ``os.PathLike``.
        Raises ProfileError that names the file, the dotted key and the nearest valid key.
        """
        if isinstance(name_or_path, str) and not is_path(name_or_path):
            return _load_builtin(name_or_path)
        if not isinstance(name_or_path, (str, os.PathLike)):
            raise TypeError(
                "profile must be a name, a path or a Profile, "
                f"not {type(name_or_path).__name__} ({shown(name_or_path)})"
            )
        try:
            path = absolute_path(name_or_path, "profile")
        except ValueError as error:
            raise ProfileError(str(error)) from error
        source = _schema.Source(os.fspath(name_or_path), path)
        flat = _resolve(load_toml(path), source, (path,))
        flat.setdefault("name", Path(path).stem)
        return _finish(flat, source)

    def replace(self, **changes: Any) -> Profile:
        """A copy with some values changed, written as in a file.

        Each keyword is a top-level key ("name", "summary") or a section given as a mapping::

            profile.replace(limits={"cpu_s": 2}, guard={"imports": {"extend_allow": ["numpy"]}})

        ``limits`` may be a ``Limits``. Raises ProfileError as ``load`` does.
        """
        given = changes.get("limits")
        if isinstance(given, Limits):
            changes["limits"] = {k: v for k, v in given.to_dict().items() if v is not None}
        source = _schema.Source("Profile.replace()", None)
        layer = dict(_schema.flatten(changes, source))
        if "extends" in layer:
            raise source.error("extends", "only a file can extend; load the other profile instead")
        _schema.check_layer(layer, source)
        base = dict(_schema.flatten(self.to_dict(), source))
        return _finish(_schema.merge(base, layer), source)

    def to_dict(self) -> dict[str, Any]:
        """All values, nested as in a file, with everything that was extended worked in."""
        guard = self.guard
        limits = {k: v for k, v in self.limits.to_dict().items() if v is not None}
        flat: dict[str, Any] = {
            "name": self.name,
            "summary": self.summary,
            "guard.enabled": guard.enabled,
            "guard.select": guard.select,
            "guard.ignore": guard.ignore,
            "guard.builtins_allow": guard.builtins_allow,
            "guard.attributes_allow": guard.attributes_allow,
            **{f"guard.mode.{family}": guard.mode[family] for family in _schema.FAMILIES},
            "guard.imports.allow": guard.imports_allow,
            "guard.imports.deny": guard.imports_deny,
            "guard.import_help": guard.import_help,
            "guard.limits.source_bytes": guard.source_bytes,
            "guard.limits.nodes": guard.nodes,
            "guard.limits.depth": guard.depth,
            "guard.limits.findings_per_rule": guard.findings_per_rule,
            "guard.limits.time_ms": guard.time_ms,
            **{f"limits.{name}": value for name, value in limits.items()},
            "files.scratch": self.files.scratch,
            "files.read": self.files.read,
            "packages.names": self.packages.names,
            "packages.preload": self.packages.preload,
            "syscalls.sets": self.syscalls.sets,
            "syscalls.on_denied": self.syscalls.on_denied,
            "env": self.env,
            "isolation.require": self.isolation.require,
            "isolation.allow_degraded": self.isolation.allow_degraded,
            "isolation.namespaces": self.isolation.namespaces,
            "isolation.cgroup": self.isolation.cgroup,
        }
        return _schema.unflatten(flat)

    @cached_property
    def _digest(self) -> str:
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def digest(self) -> str:
        """SHA-256 (hexadecimal) over all values: equal for equal profiles, in every process."""
        return self._digest

    def __eq__(self, other: object) -> bool:
        """Equal when all values are."""
        return self.digest() == other.digest() if isinstance(other, Profile) else NotImplemented

    def __hash__(self) -> int:
        """Hash of the digest."""
        return hash(self._digest)

    def __repr__(self) -> str:
        """Name and the beginning of the digest."""
        return f"<csandbox.Profile {self.name} {self._digest[:12]}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as plain data, checked again when it is read."""
        return _from_dict, (self.to_dict(),)


def is_path(text: str) -> bool:
    return "/" in text or text.endswith(".toml")


def _builtin_trees() -> dict[str, dict[str, Any]]:
    from csandbox._builtin_profiles import PROFILES

    return PROFILES


def _builtin_tree(name: str, source: _schema.Source | None) -> dict[str, Any]:
    trees = _builtin_trees()
    if name in trees:
        return trees[name]
    near = get_close_matches(name, trees, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"built in are {', '.join(Profile.builtin())}."
    sentence = (
        f"no built-in profile is called {shown(name)}; {hint} "
        "A file is given by a path with a / in it, or ending in .toml, such as ./mine.toml"
    )
    if source is not None:
        raise source.error("extends", sentence)
    raise ProfileError(sentence)


@cache
def _load_builtin(name: str) -> Profile:
    source = _schema.Source(f"built-in profile {name}", None)
    return _finish(_resolve(_builtin_tree(name, None), source, (name,)), source)


def _resolve(
    tree: Mapping[str, Any], source: _schema.Source, chain: tuple[str, ...]
) -> _schema.Flat:
    """The tree's values on top of those of the profiles that it extends, the furthest first."""
    layer = dict(_schema.flatten(tree, source))
    _schema.check_layer(layer, source)
    parent = layer.pop("extends", None)
    if parent is None:
        return _schema.merge({}, layer)
    if not isinstance(parent, str) or not parent:
        raise source.error("extends", "must be the name of a built-in profile or a path")
    if is_path(parent):
        folder = os.path.dirname(source.path) if source.path else os.getcwd()
        path = os.path.abspath(os.path.join(folder, parent))
        link, label = path, _schema.Source(path, path)
    else:
        link, label = parent, _schema.Source(f"built-in profile {parent}", None)
    if link in chain:
        raise source.error("extends", "a profile extends itself: " + " → ".join((*chain, link)))
    below = load_toml(link) if is_path(parent) else _builtin_tree(parent, source)
    base = _resolve(below, label, (*chain, link))
    base.pop("name", None)  # a child without a name of its own is not its parent
    return _schema.merge(base, layer)


def _finish(flat: _schema.Flat, source: _schema.Source) -> Profile:
    _schema.check_whole(flat, source)
    try:
        limits = _schema.limits_of(flat)
    except ProfileError as error:
        raise source.error(error.key, error.message) from None

    def pick(section: str) -> dict[str, Any]:
        values = {}
        for key, value in flat.items():
            head, _, name = key.rpartition(".")
            if head == section:
                values[name] = tuple(value) if key in _schema.LISTS else value
        return values

    imports = {f"imports_{name}": value for name, value in pick("guard.imports").items()}
    own = pick("guard")
    own["import_help"] = MappingProxyType(dict(own["import_help"]))
    return Profile(
        name=flat["name"],
        summary=flat["summary"],
        guard=GuardSection(
            mode=MappingProxyType(pick("guard.mode")), **own, **imports, **pick("guard.limits")
        ),
        limits=limits,
        files=FilesSection(**pick("files")),
        packages=PackagesSection(**pick("packages")),
        syscalls=SyscallsSection(**pick("syscalls")),
        env=MappingProxyType(dict(flat["env"])),
        isolation=IsolationSection(**pick("isolation")),
    )


def _from_dict(tree: dict[str, Any]) -> Profile:
    source = _schema.Source("profile", None)
    layer = dict(_schema.flatten(tree, source))
    _schema.check_layer(layer, source)
    return _finish(_schema.merge({}, layer), source)


def as_profile(profile: str | os.PathLike[str] | Profile) -> Profile:
    """The Profile itself, or the one that the name or path stands for."""
    return profile if isinstance(profile, Profile) else Profile.load(profile)
