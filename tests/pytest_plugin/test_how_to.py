"""docs/how-to/pytest-course.md: its files are written, its command is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PLAIN = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--csandbox-workers=1")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "pytest-course.md"
FILE = re.compile(r"^```\w+ title=(\S+)\n(.*?)^```$", re.M | re.S)
OUTPUT = re.compile(r"^```sh run\n(.*?)^```\n+^```output\n(.*?)^```$", re.M | re.S)


def test_page(pytester: pytest.Pytester) -> None:
    text = PAGE.read_text(encoding="utf-8")
    files = FILE.findall(text)
    assert len(files) == 7
    for name, content in files:
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    ((command, output),) = OUTPUT.findall(text)
    words = command.split()
    assert words.pop(0) == "pytest"
    done = pytester.runpytest_inprocess(*words, "test_course.py", *PLAIN)
    for line in output.splitlines():
        done.stdout.fnmatch_lines([f"{line.replace('[', '[[]')}*"])
    shown = done.stdout.str()
    assert "csandbox: run 1 of 1: rejected" in shown and "error[CSB308]: `os._exit`" in shown
    done = pytester.runpytest_inprocess("test_other.py", "test_inside.py", *PLAIN)
    done.assert_outcomes(passed=4)
