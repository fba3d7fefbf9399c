"""The interpreter that a child runs: what must be readable for it to start and to import.

Only paths are worked out here; what the child may do with them is decided in C. Everything is
described once per process, because an interpreter does not move while it is in use.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from csandbox import _describe
from csandbox._arguments import absolute_path
from csandbox._errors import SetupError

_OLDEST = (3, 10)
_PT_INTERP = 3
_DESCRIBE_TIMEOUT_S = 30.0

# Files of the system that the C library, time zones and os.urandom() read. None tells about a user.
_SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    "/dev/random",
    "/usr/share/zoneinfo",
    "/usr/lib/locale",
    "/etc/localtime",
)


@dataclass(frozen=True)
class Interpreter:
    """One CPython, as paths (all absolute and resolved).

    ``module_path`` is the child's ``sys.path`` without packages; ``read`` are files and folders
    that are readable below; ``list_folders`` may be listed, so that an import finds what it may
    read; ``execute`` are the interpreter and its dynamic loader; ``sites`` are the folders that
    packages lie in.
    """

    executable: str
    version: tuple[int, int, int]
    module_path: tuple[str, ...]
    read: tuple[str, ...]
    list_folders: tuple[str, ...]
    execute: tuple[str, ...]
    sites: tuple[str, ...]


def elf_loader(path: str) -> str | None:
    """The dynamic loader that an ELF file names (PT_INTERP), resolved; None when it names none."""
    with Path(path).open("rb") as file:
        head = file.read(64)
        if (
            len(head) < 52
            or head[:4] != b"\x7fELF"
            or head[4] not in (1, 2)
            or head[5] not in (1, 2)
        ):
            return None
        order = "<" if head[5] == 1 else ">"
        if head[4] == 2:  # 64 bit: e_phoff at 32, e_phentsize and e_phnum at 54
            (offset,) = struct.unpack_from(order + "Q", head, 32)
            size, count = struct.unpack_from(order + "HH", head, 54)
            fields, place, length = order + "I4xQ16xQ", 1, 2
        else:  # 32 bit: e_phoff at 28, e_phentsize and e_phnum at 42
            (offset,) = struct.unpack_from(order + "I", head, 28)
            size, count = struct.unpack_from(order + "HH", head, 42)
            fields, place, length = order + "II8xI", 1, 2
        for index in range(count):
            file.seek(offset + index * size)
            entry = struct.unpack_from(fields, file.read(struct.calcsize(fields)))
            if entry[0] == _PT_INTERP:
                file.seek(entry[place])
                name = file.read(min(entry[length], 4096)).rstrip(b"\0")
                return os.path.realpath(os.fsdecode(name))
    return None


def without(folder: str, excluded: Iterable[str]) -> tuple[list[str], list[str]]:
    """Grant a folder except some folders below it.

    Landlock cannot take a part out of a grant, so a folder that holds an excluded one is replaced
    by its entries. Returns (readable paths, folders that must stay listable).
    """
    excluded = [path for path in excluded if path != folder]
    inside = [path for path in excluded if path.startswith(folder.rstrip("/") + "/")]
    if not inside:
        return [folder], []
    readable: list[str] = []
    listable = [folder]
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda item: item.name):
            if entry.path in inside:
                continue
            if entry.is_dir(follow_symlinks=False):
                more, folders = without(entry.path, inside)
                readable += more
                listable += folders
            else:
                readable.append(entry.path)
    return readable, listable


def _site_like(folder: str) -> list[str]:
    """Site folders directly in a library folder or in its python3.x folders."""
    found = []
    for base in [folder, *(str(path) for path in Path(folder).glob("python3*"))]:
        for name in _describe.SITE_NAMES:
            path = os.path.join(base, name)
            if os.path.isdir(path):
                found.append(path)
    return found


def _library_paths(prefix: str, multiarch: str) -> tuple[list[str], list[str]]:
    """Shared libraries: the system's folders, and single files of another prefix (conda, pyenv)."""
    folders = ["/lib64", "/usr/lib64"]
    if multiarch:
        folders += [f"/lib/{multiarch}", f"/usr/lib/{multiarch}"]
    else:  # musl and older layouts keep them in the folder itself
        folders += ["/lib", "/usr/lib"]
    read: list[str] = []
    listable: list[str] = []
    for folder in dict.fromkeys(os.path.realpath(f) for f in folders if os.path.isdir(f)):
        more, also = without(folder, _site_like(folder))
        read += more
        listable += also
    own = os.path.join(prefix, "lib")
    if os.path.isdir(own) and os.path.realpath(own) not in ("/lib", "/usr/lib"):
        with os.scandir(own) as entries:
            read += sorted(e.path for e in entries if ".so" in e.name and not e.is_dir())
    return read, listable


def _describe_other(python: str) -> dict[str, object]:
    """Run another interpreter once, isolated and without site, and read its description."""
    import subprocess  # only here: it costs as much to import as a run takes to start

    command = [python, "-I", "-S", _describe.__file__]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DESCRIBE_TIMEOUT_S,
            check=True,
            env={},
        )
        described: dict[str, object] = json.loads(done.stdout)
    except FileNotFoundError as error:
        raise ValueError(f"python: {python!r} does not exist") from error
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise ValueError(
            f"python: {python!r} is no CPython that can be used: {error}; it must be 3.10 or newer"
        ) from error
    return described


def _strings(value: object) -> Sequence[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _build(facts: dict[str, object]) -> Interpreter:
    executable = str(facts["executable"])
    raw_version = facts["version"]
    version = tuple(int(n) for n in raw_version) if isinstance(raw_version, list) else ()
    if not executable:
        raise SetupError(
            step="exec",
            message="this program embeds Python and does not say where its interpreter is; "
            "pass python='/path/to/python3'",
        )
    if facts["implementation"] != "cpython" or len(version) != 3 or version < _OLDEST:
        shown = ".".join(map(str, version))
        raise ValueError(
            f"python: {executable} is {facts['implementation']} {shown}; "
            "CPython 3.10 or newer is needed"
        )
    stdlib = [os.path.realpath(path) for path in _strings(facts["stdlib"])]
    sites = _strings(facts["sites"])
    read: list[str] = []
    listable: list[str] = []
    for path in stdlib:
        more, also = (
            without(path, [*sites, *_site_like(path)]) if os.path.isdir(path) else ([path], [])
        )
        read += more
        listable += also
    libraries, also = _library_paths(str(facts["prefix"]), str(facts["multiarch"]))
    read += libraries
    listable += also
    read += [os.path.realpath(path) for path in _SYSTEM_FILES if os.path.exists(path)]
    execute = [executable]
    loader = elf_loader(executable)
    if loader is not None:
        execute.append(loader)
    config = _describe.environment_config(executable)
    if config is not None:  # a copied virtual environment: getpath reads it to find the stdlib
        read.append(config)
    return Interpreter(
        executable=executable,
        version=(version[0], version[1], version[2]),
        module_path=tuple(dict.fromkeys(stdlib)),
        read=tuple(dict.fromkeys([*execute, *read])),
        list_folders=tuple(dict.fromkeys(listable)),
        execute=tuple(dict.fromkeys(execute)),
        sites=tuple(sites),
    )


@cache
def _described(python: str | None) -> Interpreter:
    return _build(_describe.describe(own=True) if python is None else _describe_other(python))


def interpreter(python: str | os.PathLike[str] | None = None) -> Interpreter:
    """The caller's own interpreter, or another one by path, described once per process.

    A virtual environment stands for its base interpreter plus its own packages. Raises ValueError
    when the path is no CPython from 3.10 on, SetupError when the caller's own cannot be found.
    """
    return _described(None if python is None else absolute_path(python, "python"))
