"""Which files an installed package consists of, so that exactly these become readable.

Read from the metadata that installers leave (RECORD, top_level.txt, Requires-Dist); nothing of a
package is imported or run. What is not installed is skipped: a profile names what may be used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*([^;]*)(;.*)?", re.ASCII | re.DOTALL)
_METADATA = (".dist-info", ".egg-info")


@dataclass(frozen=True)
class Packages:
    """Paths of the packages that were found.

    ``read``: files and folders readable below; ``list_folders``: site folders, which an import
    lists; ``module_path``: what is appended to the child's ``sys.path``; ``found``: normalised
    names.
    """

    read: tuple[str, ...]
    list_folders: tuple[str, ...]
    module_path: tuple[str, ...]
    found: tuple[str, ...]


def normalise(name: str) -> str:
    """PEP 503: runs of '-', '_' and '.' are one '-', case does not count."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _listing(site: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(os.listdir(site)))
    except OSError:
        return ()  # not there, or not readable for the caller either


@cache
def _installed(site: str) -> dict[str, Path]:
    """Normalised distribution name → its metadata folder (or file), in one site folder."""
    found: dict[str, Path] = {}
    for name in _listing(site):
        stem, suffix = os.path.splitext(name)
        if suffix in _METADATA:
            found.setdefault(normalise(stem.split("-")[0]), Path(site, name))
    return found


def _text(metadata: Path, name: str) -> str:
    """One metadata file, "" when there is none (an .egg-info may be a single file)."""
    try:
        return (metadata / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _requirements(metadata: Path) -> Iterator[str]:
    """Names that it needs always; what only an extra needs is left out.

    Read line by line: importlib.metadata takes some 5 ms a distribution, a run takes 10.
    """
    header = _text(metadata, "METADATA").partition("\n\n")[0]
    lines = [x.partition(":")[2] for x in header.splitlines() if x.startswith("Requires-Dist:")]
    lines += _text(metadata, "requires.txt").partition("[")[0].splitlines()
    for line in lines:
        match = _REQUIREMENT.fullmatch(line)
        if match and "extra" not in (match.group(3) or ""):
            yield match.group(1)


def _top_entries(metadata: Path) -> Iterator[str]:
    """Names directly in the site folder that belong to the distribution."""
    for line in _text(metadata, "RECORD").splitlines():
        # CSV, but a quoted name only occurs for one with a comma or a quote in it: no package's.
        parts = line.split(",", 1)[0].split("/", 2)
        if parts[0] in ("", "..") or parts[0].endswith(".pth"):
            continue
        # Bytecode of single-file modules lies in a folder that every package shares.
        yield "/".join(parts[:2]) if parts[0] == "__pycache__" else parts[0]
    for name in _text(metadata, "top_level.txt").split():
        yield from (name, f"{name}.py")
    yield metadata.name


def _guessed(site: str, name: str) -> Iterator[str]:
    """What a package without usable metadata is most likely called (Debian's, hand-copied ones)."""
    for word in dict.fromkeys((name, name.replace("-", "_"), normalise(name).replace("-", "_"))):
        yield from (word, f"{word}.py", f"{word}.libs")
    prefix = normalise(name).replace("-", "_") + "."
    yield from (n for n in _listing(site) if n.startswith(prefix) and n.endswith(".so"))


def _existing(site: str, names: Iterable[str]) -> list[str]:
    root = site.rstrip("/") + "/"
    paths = []
    for name in dict.fromkeys(names):
        path = os.path.join(site, name)
        # Metadata is written by installers, yet a name that leaves the site folder is never
        # granted.
        if os.path.normpath(path).startswith(root) and os.path.exists(path):
            paths.append(os.path.realpath(path))
    return paths


@lru_cache(maxsize=64)
def resolve(names: tuple[str, ...], sites: tuple[str, ...]) -> Packages:
    """Find the named distributions and all that they require, the first site folder winning.

    A name that is no distribution may be a module or folder of that name. Cached per process.
    """
    waiting = list(names)
    seen: set[str] = set()
    read: list[str] = []
    used: list[str] = []
    found: list[str] = []
    while waiting:
        name = waiting.pop(0)
        key = normalise(name)
        if key in seen:
            continue
        seen.add(key)
        for site in sites:
            metadata = _installed(site).get(key)
            entries: list[str] = []
            if metadata is not None:
                waiting += _requirements(metadata)
                entries += dict.fromkeys(_top_entries(metadata))
            paths = _existing(site, [*entries, *_guessed(site, name)])
            if paths:
                read += paths
                used.append(site)
                found.append(key)
                break
    folders = tuple(site for site in sites if site in used)
    return Packages(tuple(dict.fromkeys(read)), folders, folders, tuple(found))
