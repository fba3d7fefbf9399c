"""What a profile may contain: one table of keys, and the merge and checks that read it.

A profile is handled as a flat mapping from dotted key to value ("guard.imports.allow"), so that an
error can name the key, and a child profile can replace or extend exactly one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from csandbox import _core
from csandbox._errors import ProfileError
from csandbox._limits import Limits

Flat = dict[str, Any]
Problem = str | None
FEATURES: Final = (
    "no_new_privs",
    "seccomp",
    "seccomp_notify",
    "landlock",
    "rlimits",
    "privileges",
    "fds",
    "session",
    "namespaces",
    "cgroup",
    "mdwe",
)
# Layers that a profile takes when they are there, does without, or insists on.
CHOICES: Final = ("auto", "off", "require")
SYSCALL_SETS: Final = ("core", "read-files", "write-files", "threads", "asyncio", "timers")
FAMILIES: Final = ("imports", "traversal", "builtins")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_CODE = re.compile(r"CSB[0-9]{0,3}", re.ASCII)
_DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def _nearest(word: str, known: tuple[str, ...] | list[str], cutoff: float = 0.6) -> str:
    near = get_close_matches(word, known, n=1, cutoff=cutoff)
    return f"; did you mean {near[0]!r}?" if near else ""


def _text(value: object) -> Problem:
    return None if isinstance(value, str) else "must be a string"


def _name(value: object) -> Problem:
    if isinstance(value, str) and _NAME.fullmatch(value):
        return None
    return "must be a name of letters, digits, '_', '-' and '.', at most 64 characters"


def _boolean(value: object) -> Problem:
    return None if isinstance(value, bool) else "must be true or false"


def _count(value: object) -> Problem:
    if isinstance(value, bool) or not isinstance(value, int):
        return "must be a whole number"
    return None if 0 < value < 1 << 31 else "must be above 0 and below 2^31"


def _choice(*words: str) -> Callable[[object], Problem]:
    def problem(value: object) -> Problem:
        if value in words:
            return None
        listed = " or ".join(f'"{word}"' for word in words)
        return f"must be {listed}" + _nearest(str(value), words)

    return problem


def _each(check: Callable[[str], Problem]) -> Callable[[object], Problem]:
    def problem(value: object) -> Problem:
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            return 'must be a list of strings, for example ["a", "b"]'
        for item in value:
            if not isinstance(item, str):
                return f"must hold strings only, and {item!r} is none"
            wrong = check(item)
            if wrong is not None:
                return f"{item!r} {wrong}"
        return None

    return problem


def _matches(pattern: re.Pattern[str], what: str) -> Callable[[str], Problem]:
    return lambda item: None if pattern.fullmatch(item) else f"is not {what}"


def _code(item: str) -> Problem:
    if not _CODE.fullmatch(item):
        return 'is not a code or its beginning, such as "CSB1" or "CSB101"'
    if not any(rule["code"].startswith(item) for rule in _core.rules()):
        return "is the beginning of no rule's code; `csandbox rules` lists them"
    return None


def _one_of(*words: str) -> Callable[[str], Problem]:
    return lambda item: (
        None
        if item in words
        else f"is unknown{_nearest(item, words) or '; known: ' + ', '.join(words)}"
    )


def _absolute(item: str) -> Problem:
    if "\0" in item:
        return "holds a NUL"
    return None if os.path.isabs(item) else "is not an absolute path"


def _table(key: re.Pattern[str], what: str) -> Callable[[object], Problem]:
    def problem(value: object) -> Problem:
        if not isinstance(value, Mapping):
            return "must be a table of strings"
        for name, text in value.items():
            if not isinstance(name, str) or not key.fullmatch(name):
                return f"{name!r} is not {what}"
            if not isinstance(text, str):
                return f"{name} must be a string, not {type(text).__name__}"
            if "\0" in text:
                return f"{name} holds a NUL"
        return None

    return problem


def _limit(_: object) -> Problem:
    return None  # Limits checks its own values, with their units


# Dotted key -> check. The order is that of to_dict() and of the documentation.
KEYS: Final[dict[str, Callable[[object], Problem]]] = {
    "name": _name,
    "summary": _text,
    "guard.enabled": _boolean,
    "guard.select": _each(_code),
    "guard.ignore": _each(_code),
    "guard.builtins_allow": _each(_matches(_DOTTED, "a name")),
    "guard.attributes_allow": _each(_matches(_DOTTED, "a name")),
    **{f"guard.mode.{family}": _choice("enforce", "observe") for family in FAMILIES},
    "guard.imports.allow": _each(_matches(_DOTTED, "a module name")),
    "guard.imports.deny": _each(_matches(_DOTTED, "a module name")),
    "guard.import_help": _table(_DOTTED, "a module name"),
    "guard.limits.source_bytes": _count,
    "guard.limits.nodes": _count,
    "guard.limits.depth": _count,
    "guard.limits.findings_per_rule": _count,
    "guard.limits.time_ms": _count,
    **{f"limits.{name}": _limit for name in Limits().to_dict()},
    "files.scratch": _choice("ro", "rw"),
    "files.read": _each(_absolute),
    "packages.names": _each(_matches(_DISTRIBUTION, "the name of a distribution")),
    "packages.preload": _each(_matches(_DOTTED, "a module name")),
    "syscalls.sets": _each(_one_of(*SYSCALL_SETS)),
    "syscalls.on_denied": _choice("errno", "kill"),
    "env": _table(_VARIABLE, "a variable name"),
    "isolation.require": _each(_one_of(*FEATURES)),
    "isolation.allow_degraded": _each(_one_of(*FEATURES)),
    "isolation.namespaces": _choice(*CHOICES),
    "isolation.cgroup": _choice(*CHOICES),
}
LISTS: Final = tuple(
    key
    for key in KEYS
    if key.rpartition(".")[2]
    in {"select", "ignore", "builtins_allow", "attributes_allow", "allow", "deny", "read", "names",
        "preload", "sets", "require", "allow_degraded"}
)  # fmt: skip
TABLES: Final = ("guard.import_help", "env")
_SECTIONS: Final = frozenset(
    key.rpartition(".")[0][:end]
    for key in KEYS
    for end in [len(key.rpartition(".")[0]), key.find(".")]
    if end > 0
)


def extend_key(key: str) -> str:
    """The key that appends to a list instead of replacing it ("guard.imports.extend_allow")."""
    section, dot, name = key.rpartition(".")
    return f"{section}{dot}extend_{name}"


_EXTEND: Final = {extend_key(key): key for key in LISTS}


def limits_of(flat: Flat) -> Limits:
    """The [limits] part as Limits; ProfileError as Limits raises it."""
    return Limits(**{k.partition(".")[2]: v for k, v in flat.items() if k.startswith("limits.")})


class Source:
    """Where values come from, for messages: a file, a built-in profile, or the caller's code."""

    def __init__(self, label: str, path: str | None) -> None:
        """`label` begins each message; `path` is set for files only."""
        self.label = label
        self.path = path

    def error(self, key: str | None, sentence: str) -> ProfileError:
        """A ProfileError that names this source and the key."""
        place = f"{self.label}: {key}: " if key else f"{self.label}: "
        return ProfileError(place + sentence, path=self.path, key=key)


def _unknown(key: str, source: Source) -> ProfileError:
    known = [*KEYS, *_EXTEND, "extends"]
    section, _, name = key.rpartition(".")
    inside = [*known, *_SECTIONS]
    siblings = {k.rpartition(".")[2]: k for k in inside if k.rpartition(".")[0] == section}
    near = [siblings[n] for n in get_close_matches(name, list(siblings), n=1, cutoff=0.5)]
    if not near:  # the right name in the wrong section, or a whole section misspelt
        near = [k for k in known if k.rpartition(".")[2] == name]
    near = near or get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    return source.error(key, f"unknown key{hint}")


def flatten(tree: Mapping[str, Any], source: Source, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values of a parsed file; an unknown key is an error at once."""
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if key in KEYS or key in _EXTEND or key == "extends":
            yield key, value
        elif key == "guard.mode" and isinstance(value, str):
            yield from ((f"guard.mode.{family}", value) for family in FAMILIES)
        elif key in _SECTIONS and isinstance(value, Mapping):
            yield from flatten(value, source, f"{key}.")
        elif key in _SECTIONS:
            raise source.error(key, f"must be a table ([{key}]), not {type(value).__name__}")
        else:
            raise _unknown(key, source)


def check_layer(layer: Flat, source: Source) -> None:
    """Check one file's own values: types, known words, and contradictions within the file."""
    for key, value in layer.items():
        if key == "extends":
            continue
        problem = KEYS[_EXTEND.get(key, key)](value)
        if problem is not None:
            raise source.error(key, f"{problem} (here: {_short(value)})")
    try:
        limits_of(layer)
    except ProfileError as error:
        raise source.error(error.key, error.message) from None
    given = {k: layer.get(k, []) for k in ("isolation.require", "isolation.allow_degraded")}
    both = set(given["isolation.require"]) & set(given["isolation.allow_degraded"])
    if both:
        raise source.error(
            "isolation.allow_degraded",
            f"{sorted(both)[0]!r} is required and may be missing; choose",
        )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def merge(base: Flat, layer: Flat) -> Flat:
    """`base` with `layer` on top: lists are replaced, or extended by extend_ keys; tables join."""
    merged = dict(base)
    for key, value in layer.items():
        if key in TABLES:
            merged[key] = {**merged.get(key, {}), **value}
        elif key in KEYS:
            merged[key] = list(value) if key in LISTS else value
    for key, value in layer.items():
        if key in _EXTEND:
            joined = [*merged.get(_EXTEND[key], []), *value]
            merged[_EXTEND[key]] = list(dict.fromkeys(joined))
    limits = limits_of(base).merge(limits_of(layer))
    merged = {k: v for k, v in merged.items() if not k.startswith("limits.")}
    merged.update((f"limits.{k}", v) for k, v in limits.to_dict().items() if v is not None)
    # What a child allows to be missing is no longer required by its parent's word.
    for mine, other in (("require", "allow_degraded"), ("allow_degraded", "require")):
        key, theirs = f"isolation.{mine}", f"isolation.{other}"
        named = {*layer.get(key, []), *layer.get(extend_key(key), [])}
        merged[theirs] = [name for name in merged.get(theirs, []) if name not in named]
    return merged


def check_whole(flat: Flat, source: Source) -> None:
    """Check a finished profile: nothing missing, nothing that contradicts something else."""
    for key in KEYS:
        if key not in flat and key != "limits.wall_s":
            raise source.error(key, "no value, and no profile that this one extends has one")
    for code in flat["guard.ignore"]:
        if "CSB0".startswith(code) or code.startswith("CSB0"):
            raise source.error(
                "guard.ignore",
                f"{code!r} covers integrity rules (CSB0…), which cannot be deselected: without "
                "them the guard would read another program than the one that runs",
            )
    clash = set(flat["guard.imports.allow"]) & set(flat["guard.imports.deny"])
    if clash:
        raise source.error("guard.imports.deny", f"{sorted(clash)[0]!r} is allowed and denied")
    for layer in ("namespaces", "cgroup"):
        if flat[f"isolation.{layer}"] == "off" and layer in flat["isolation.require"]:
            raise source.error(
                f"isolation.{layer}", 'is "off", but isolation.require names it: use "require"'
            )
    for needed in ("core", "read-files"):
        if needed not in flat["syscalls.sets"]:
            raise source.error(
                "syscalls.sets", f"{needed!r} is missing; no interpreter runs without"
            )
    if flat["files.scratch"] == "rw" and "write-files" not in flat["syscalls.sets"]:
        raise source.error(
            "files.scratch", 'is "rw", but syscalls.sets has no "write-files": add it, or use "ro"'
        )
    if flat["limits.threads"] > 1 and "threads" not in flat["syscalls.sets"]:
        raise source.error(
            "limits.threads", 'is above 1, but syscalls.sets has no "threads": add it, or use 1'
        )


def unflatten(flat: Flat) -> dict[str, Any]:
    """The nested form, as a file would have it, in the order of KEYS."""
    tree: dict[str, Any] = {}
    for key in KEYS:
        if key not in flat:
            continue
        node = tree
        *sections, name = key.split(".")
        for section in sections:
            node = node.setdefault(section, {})
        value = flat[key]
        node[name] = list(value) if key in LISTS else dict(value) if key in TABLES else value
    return tree
