"""Describe the interpreter that runs this file: where its parts lie, as one JSON object.

Runs in two ways: imported, for the caller's own interpreter, and as a script under any CPython from
3.10 on (``python -I -S _describe.py``), for another one. So it imports the standard library only
and must not import csandbox. It never imports ``site``: a .pth file runs code.
"""

from __future__ import annotations

import os
import sys

SITE_NAMES = ("site-packages", "dist-packages")
# Absent before 3.9, which is refused, but by a message about its version.
_PLATLIBDIR = getattr(sys, "platlibdir", "lib")


def _real(path: str) -> str:
    return os.path.realpath(path)


def environment_config(executable: str) -> str | None:
    """The pyvenv.cfg that belongs to an executable, where getpath looks for it; else None."""
    folder = os.path.dirname(executable)
    for place in (folder, os.path.dirname(folder)):
        config = os.path.join(place, "pyvenv.cfg")
        if os.path.isfile(config):
            return config
    return None


def _own_sites() -> list[str]:
    """Site folders of an interpreter that runs without site, worked out from its prefixes."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    prefixes = []
    config = environment_config(sys.executable)
    with_system = True
    if config is not None:
        prefixes.append(os.path.dirname(config))
        with open(config, encoding="utf-8") as file:
            text = file.read().lower().replace(" ", "")
        with_system = "include-system-site-packages=true" in text
    if with_system:
        prefixes += [sys.base_prefix, sys.base_exec_prefix]
    sites = []
    for prefix in prefixes:
        for lib in dict.fromkeys((_PLATLIBDIR, "lib")):
            for name in SITE_NAMES:
                sites.append(os.path.join(prefix, lib, version, name))
        if prefix == "/usr":  # Debian keeps its own packages and the administrator's apart
            sites.append(f"/usr/local/lib/{version}/dist-packages")
            sites.append("/usr/lib/python3/dist-packages")
    return sites


def _standard_library() -> list[str]:
    """The module path of ``-I -S``: zip, stdlib, lib-dynload. The zip seldom exists."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    library = os.path.dirname(_real(os.__file__))
    zipped = os.path.join(sys.base_prefix, _PLATLIBDIR, f"python{version.replace('.', '')}.zip")
    # Seldom differs from <stdlib>/lib-dynload, but it does where lib and lib64 are apart.
    dynamic = [os.path.join(library, "lib-dynload")]
    dynamic.append(
        os.path.join(sys.base_exec_prefix, _PLATLIBDIR, f"python{version}", "lib-dynload")
    )
    found = [zipped] if os.path.isfile(zipped) else []
    found.append(library)
    found += list(dict.fromkeys(_real(path) for path in dynamic if os.path.isdir(path)))
    return found


def describe(own: bool = False) -> dict[str, object]:
    """Plain data about this interpreter; `own` takes the site folders from ``sys.path``.

    ``executable`` is resolved; ``stdlib`` is the module path without site folders; ``sites`` are
    the existing site folders in the order of the module path.
    """
    # In a virtual environment the base interpreter, which also a copied environment leads to.
    executable = getattr(sys, "_base_executable", None) or sys.executable
    if not os.path.isfile(executable):
        executable = sys.executable
    if own:
        sites = [p for p in sys.path if os.path.basename(p.rstrip("/")) in SITE_NAMES]
    else:
        sites = _own_sites()
    existing = [path for path in sites if os.path.isdir(path)]
    return {
        "executable": _real(executable) if executable else "",
        "implementation": sys.implementation.name,
        "version": list(sys.version_info[:3]),
        "prefix": _real(sys.base_prefix),
        "multiarch": getattr(sys.implementation, "_multiarch", ""),
        "stdlib": _standard_library(),
        "sites": list(dict.fromkeys(_real(path) for path in existing)),
    }


if __name__ == "__main__":
    import json

    json.dump(describe(), sys.stdout)
