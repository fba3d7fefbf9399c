"""No host of a package index, no path of a build machine, nothing compiled is tracked."""

from __future__ import annotations

from pathlib import Path

import lint_tree
import pytest

PATH = Path("some/file")


@pytest.mark.parametrize(
    "text",
    [
        "https://py" + "pi.org/simple",
        "files.python" + "hosted.org",
        "deb." + "debian.org",
        "/ro" + "ot/.pyenv/versions",
        "see /tm" + "p/wt/build",
        "see /wo" + "rk/main",
    ],
)
def test_found_with_its_line(text: str) -> None:
    (finding,) = lint_tree.check(PATH, f"one\ntwo {text}\n".encode())
    assert finding.startswith("some/file:2: ")


@pytest.mark.parametrize(
    "text",
    ["pip install csandbox", "/root/.ssh/id_rsa", "/tmp/scratch", "http://127.0.0.1/", "/work"],
)
def test_not_found(text: str) -> None:
    assert lint_tree.check(PATH, text.encode()) == []


def test_compiled_and_large_files() -> None:
    assert lint_tree.check(PATH, b"\x7fELF\x02")[0].endswith("a compiled file")
    assert "larger than 1 MiB" in lint_tree.check(PATH, b"a" * ((1 << 20) + 1))[0]


def test_a_python_file_of_too_many_lines() -> None:
    path = PATH.with_suffix(".py")
    assert not lint_tree.check(path, b"x\n" * 500)
    assert "501 lines" in lint_tree.check(path, b"x\n" * 501)[0]
