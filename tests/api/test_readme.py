"""README.md is true: what its blocks show is what comes out.

``pycon`` blocks are one doctest session. A ``console`` block is a shell session in an empty folder:
`$ cat NAME` with its output makes that file, every other command must print what is shown, stdout
and stderr together. ``sh`` blocks are not run; the targets of make that they name must exist.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import csandbox

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [
    (match[1], PAGE.count("\n", 0, match.start()) + 1, match[2])
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
]


def blocks(language: str) -> list[tuple[int, str]]:
    """(line of the page, text) of each block in that language."""
    return [(line, text) for name, line, text in BLOCKS if name == language]


def session(text: str) -> list[tuple[str, str]]:
    """(command, shown output) of a console block."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    assert parts[0] == "", "a console block begins with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def without_pointers(text: str) -> str:
    """CPython 3.10 does not underline the failing expression in tracebacks."""
    if sys.version_info >= (3, 11):
        return text
    return re.sub(r"^ +[~^]+\n", "", text, flags=re.MULTILINE)


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    assert {name for name, _, _ in BLOCKS} == {"pycon", "console", "sh", "toml"}


def test_python_sessions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    tried = 0
    said: list[str] = []
    for line, text in blocks("pycon"):
        test = doctest.DocTestParser().get_doctest(text, names, "README.md", "README.md", line)
        runner = doctest.DocTestRunner(verbose=False)
        tried += runner.run(test, out=said.append, clear_globs=False).attempted
        names = test.globs
    assert not said, "".join(said)
    assert tried >= 20


@pytest.mark.parametrize("line, text", blocks("console"))
def test_shell_sessions(line: int, text: str, tmp_path: Path) -> None:
    mine = ("NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED")
    clean = {k: v for k, v in os.environ.items() if k not in mine}
    start = f'csandbox() {{ "{sys.executable}" -m csandbox "$@"; }}; '
    for command, shown in session(text):
        if command.startswith("cat "):
            (tmp_path / command.removeprefix("cat ")).write_text(shown)
            continue
        done = subprocess.run(
            ["sh", "-c", start + command],
            cwd=tmp_path,
            env={**clean, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        assert done.stdout == without_pointers(shown), f"README.md:{line}: $ {command}"


def test_the_targets_of_make_exist() -> None:
    named = re.findall(r"\bmake (\w+)", PAGE)
    there = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(named) <= set(there)
    assert {"demo", "test"} <= set(named)


def test_the_profile_is_one(tmp_path: Path) -> None:
    for _, text in blocks("toml"):
        (tmp_path / "mine.toml").write_text(text)
        profile = csandbox.Profile.load(tmp_path / "mine.toml")
        assert csandbox.check("import networkx, numpy", profile=profile).ok


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / target).exists(), target


def test_every_verdict_is_explained() -> None:
    from csandbox._result import VERDICTS

    explained = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(explained) == sorted([*VERDICTS, "verdict"])
