"""What pyproject.toml cannot say: the two C extensions and the files made at build time.

`csandbox._core` is imported by the caller, `csandbox._child` by the confined interpreter;
`csandbox._janitor` is a program.
Which file goes where is in tools/layout.py, how it is compiled in tools/native.py.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import setuptools
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

import fetch_sources  # noqa: E402
import gen_python  # noqa: E402
import native  # noqa: E402


class BuildExtensions(build_ext):
    """build_ext with our compiler cache; see tools/native.py for why."""

    def build_extension(self, ext: Extension) -> None:
        target = Path(self.get_ext_fullpath(ext.name))
        build = getattr(native, f"build{ext.name.partition('.')[2]}")
        try:
            build(target.resolve(), self.distribution.get_version())
        except native.BuildError as error:
            raise SystemExit(f"error: {error}") from None

    def copy_extensions_to_source(self) -> None:
        """Replace, never overwrite: a running process may have the old file mapped."""
        for ext in self.extensions:
            built = Path(self.build_lib, self.get_ext_filename(ext.name))
            place = ROOT / self.get_ext_filename(ext.name)
            content = built.read_bytes()
            if place.exists() and place.read_bytes() == content:
                continue
            new = place.with_name(f".{place.name}.{os.getpid()}")
            new.write_bytes(content)
            new.chmod(0o755)
            new.replace(place)


def prepare() -> None:
    """Bring or make what git does not hold, before setuptools looks which files there are.

    A source distribution has tree-sitter's sources already, so nothing is fetched for it.
    """
    if not sys.platform.startswith("linux"):
        raise SystemExit("error: csandbox is for Linux: its layers are seccomp and Landlock")
    # Setuptools 70.1 has bdist_wheel itself; before, "invalid command" is all that pip would say.
    old = tuple(map(int, setuptools.__version__.split(".")[:2])) < (70, 1)
    makes_wheel = {"bdist_wheel", "dist_info", "editable_wheel"} & set(sys.argv)
    if old and makes_wheel and importlib.util.find_spec("wheel") is None:
        raise SystemExit(
            f"error: setuptools {setuptools.__version__} makes wheels with the package wheel, "
            "which is not installed: pip install wheel"
        )
    try:
        fetch_sources.ensure()
        gen_python.generate()
    except (fetch_sources.FetchError, gen_python.GenerateError) as error:
        raise SystemExit(f"error: {error}") from None


def extension(name: str) -> Extension:
    """An extension whose sources tools/layout.py finds; MANIFEST.in puts them in the sdist."""
    return Extension(name, sources=[], py_limited_api=native.limited_api())


prepare()
setup(
    # The last is a program; as an extension it comes to lie beside the others, wherever that is.
    ext_modules=[extension(f"csandbox._{name}") for name in ("core", "child", "janitor")],
    cmdclass={"build_ext": BuildExtensions},
    # Here, since what pyproject.toml may say of licences differs between setuptools releases, and a
    # virtual environment of CPython 3.10 or 3.11 starts with an old one.
    license="Apache-2.0",
    license_files=["LICENSE", "third_party/src/*/LICENSE"],
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if native.limited_api() else {},
)
