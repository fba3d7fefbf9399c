"""Write the Python modules that are made at build time; all are git-ignored.

``csandbox/_builtin_profiles.py`` from ``profiles/*.toml``, so that the TOML files are the one
source of truth, CPython 3.10 needs no TOML reader for them, and an editable install and a wheel
hold the same thing. ``PROFILES`` has each file parsed (``extends`` not worked in), ``SOURCES``
its text with the comments, for whoever wants a copy to change.

``csandbox/_rule_pages.py`` from ``docs/rules/CS[BR]*.md``, for ``csandbox explain CODE``.

``csandbox/_attack_programs.py`` from ``tests/escape/attacks/*.txt``, for ``csandbox doctor
--attack``.
"""

from __future__ import annotations

import math
import pprint
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MARK = "# Made by tools/gen_python.py from {}; do not edit.\n"


class GenerateError(Exception):
    """An input cannot be used; the message names the file."""


def generate(root: Path = ROOT) -> list[Path]:
    """Write each module where their content has changed; return the written ones."""
    package = root / "csandbox"
    modules = {
        package / "_builtin_profiles.py": profiles_module(root / "profiles"),
        package / "_rule_pages.py": pages_module(root / "docs" / "rules"),
        package / "_attack_programs.py": attacks_module(root / "tests" / "escape" / "attacks"),
    }
    return [path for path, text in modules.items() if _write(path, text)]


def profiles_module(folder: Path) -> str:
    """Python source that holds every profile of `folder` by its file's name."""
    files = sorted(folder.glob("*.toml"))
    parsed = {path.stem: _parse(path) for path in files}
    for name, tree in parsed.items():
        if tree.get("name", name) != name:
            raise GenerateError(f"{name}.toml: its name is {tree['name']!r}; it must be {name!r}")
        _check_literal(tree, f"{name}.toml")
    sources = {path.stem: path.read_text(encoding="utf-8") for path in files}
    return "\n".join(
        [
            MARK.format("profiles/*.toml"),
            "from typing import Any\n",
            f"PROFILES: dict[str, dict[str, Any]] = {_literal(parsed)}\n",
            f"SOURCES: dict[str, str] = {_literal(sources)}\n",
        ]
    )


def pages_module(folder: Path) -> str:
    """Python source that holds every rule page of `folder` by its code."""
    pages = {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted(folder.glob("*.md"))
        if re.fullmatch(r"CS[BR][0-9]{3}", path.stem)
    }
    return "\n".join(
        [MARK.format("docs/rules/*.md"), f"PAGES: dict[str, str] = {_literal(pages)}\n"]
    )


def attacks_module(folder: Path) -> str:
    """Python source that holds every attack of `folder` by its file's name."""
    programs = {
        path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))
    }
    mark = MARK.format("tests/escape/attacks/*.txt")
    return "\n".join([mark, f"ATTACKS: dict[str, str] = {_literal(programs)}\n"])


def _parse(path: Path) -> dict[str, Any]:
    toml = _toml()
    try:
        tree: dict[str, Any] = toml.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # also a UnicodeDecodeError
        raise GenerateError(f"{path.name}: not valid TOML: {error}") from error
    return tree


def _toml() -> Any:
    if sys.version_info >= (3, 11):
        import tomllib

        return tomllib
    try:
        import tomli
    except ImportError:
        raise GenerateError(
            "CPython 3.10 cannot read TOML by itself and tomli is not installed\n"
            "hint: pip install tomli (pyproject.toml lists it as a build requirement)"
        ) from None
    return tomli


def _check_literal(value: Any, where: str) -> None:
    """Refuse what has no literal: dates, inf and nan."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_literal(inner, f"{where}: {key}")
    elif isinstance(value, list):
        for inner in value:
            _check_literal(inner, where)
    elif not isinstance(value, (str, int, float)) or not math.isfinite(
        0 if isinstance(value, str) else value
    ):
        raise GenerateError(
            f"{where}: {value!r} is not text, a finite number, a truth value or a list"
        )


def _literal(value: Any) -> str:
    return pprint.pformat(value, width=100, sort_dicts=False)


def _write(path: Path, text: str) -> bool:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
    return True


if __name__ == "__main__":
    try:
        generate()
    except GenerateError as error:
        sys.exit(f"error: {error}")
