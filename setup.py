"""What pyproject.toml cannot say: the two C extensions and the files made at build time.

`csandbox._core` is imported by the caller, `csandbox._child` by the confined interpreter.
Which file goes where is in tools/layout.py, how it is compiled in tools/native.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

import fetch_sources  # noqa: E402
import gen_python  # noqa: E402
import native  # noqa: E402


def fetch() -> None:
    """Fetch tree-sitter's sources when this is a git checkout without them."""
    try:
        fetch_sources.ensure()
    except fetch_sources.FetchError as error:
        raise SystemExit(f"error: {error}") from None


def generate() -> None:
    """Write the modules that are made from profiles/ and docs/rules/."""
    try:
        gen_python.generate()
    except gen_python.GenerateError as error:
        raise SystemExit(f"error: {error}") from None


class BuildExtensions(build_ext):
    """build_ext with our compiler cache; see tools/native.py for why."""

    def run(self) -> None:
        if not sys.platform.startswith("linux"):
            raise SystemExit("error: csandbox is for Linux: its layers are seccomp and Landlock")
        fetch()
        generate()  # here too: `build_ext --inplace` does not run build_py
        super().run()

    def build_extension(self, ext: Extension) -> None:
        target = Path(self.get_ext_fullpath(ext.name))
        build = native.build_core if ext.name.endswith("_core") else native.build_child
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


class BuildPython(build_py):
    """build_py that first writes the modules made at build time."""

    def run(self) -> None:
        generate()
        super().run()


class SourceDistribution(sdist):
    """sdist that carries tree-sitter's sources, so that it builds offline."""

    def run(self) -> None:
        fetch()
        super().run()


def extension(name: str) -> Extension:
    """An extension whose sources tools/layout.py finds; MANIFEST.in puts them in the sdist."""
    return Extension(name, sources=[], py_limited_api=native.limited_api())


setup(
    ext_modules=[extension("csandbox._core"), extension("csandbox._child")],
    cmdclass={
        "build_ext": BuildExtensions,
        "build_py": BuildPython,
        "sdist": SourceDistribution,
    },
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if native.limited_api() else {},
)
