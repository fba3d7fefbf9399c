"""Folders of tests as judges keep them: ``01.in`` beside ``01.out``."""

from __future__ import annotations

import os
import re
from pathlib import Path

from csandbox._grade_tests import AnyTest, StdioTest
from csandbox._load_asserts import Loaded, Unconverted

#: How an input's name becomes its output's, most usual first.
_PAIRS = (
    (re.compile(r"(.+)\.in"), ("{0}.out", "{0}.ans", "{0}.a")),
    (re.compile(r"(.+)\.txt"), ("{0}.out", "{0}.ans")),
    (re.compile(r"(.*)input(.*)\.txt"), ("{0}output{1}.txt",)),
    (re.compile(r"(.*)input(.*)"), ("{0}output{1}",)),
    (re.compile(r"(\d+)"), ("{0}.a", "{0}.out")),
)


def load_folder(
    folder: str | os.PathLike[str], *, compare: str = "lines", hidden: bool = True
) -> Loaded:
    """Program tests from a folder and the folders in it, in the order of names.

    An input is ``NAME.in`` (``.out``, ``.ans`` or ``.a`` beside it), ``inputN.txt``, or Polygon's
    ``NN`` with ``NN.a``. A test below a folder named ``sample`` or ``samples`` is not hidden. An
    input without an output is reported. Raises NotADirectoryError, ValueError when there are none.
    """
    top = Path(folder)
    if not top.is_dir():
        raise NotADirectoryError(f"{top} is no folder")
    tests: list[AnyTest] = []
    left: list[Unconverted] = []
    for number, path in enumerate(sorted(p for p in top.rglob("*") if p.is_file()), 1):
        candidates = _outputs(path)
        if not candidates:
            continue
        output = next((p for p in candidates if p.is_file()), None)
        name = path.relative_to(top).as_posix()
        if output is None:
            if path.suffix == ".in":
                left.append(Unconverted(number, name, "there is no output file beside it"))
            continue
        shown = {part.lower() for part in path.relative_to(top).parts[:-1]}
        secret = hidden and not shown & {"sample", "samples"}
        try:
            tests.append(
                StdioTest(
                    path.read_bytes(), output.read_bytes(), id=name, compare=compare, hidden=secret
                )
            )
        except ValueError as error:
            left.append(Unconverted(number, name, str(error)))
    if not tests and not left:
        raise ValueError(f"{top} has no inputs such as 01.in with 01.out beside them")
    return Loaded(tuple(tests), tuple(left))


def _outputs(path: Path) -> list[Path]:
    for pattern, outputs in _PAIRS:
        match = pattern.fullmatch(path.name)
        if match:
            found = [path.with_name(text.format(*match.groups())) for text in outputs]
            if any(p.is_file() for p in found) or path.suffix == ".in":
                return [p for p in found if p != path]
    return []
