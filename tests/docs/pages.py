"""The code blocks of a page, and how each is made to prove itself.

A page is one sitting in an empty folder: its blocks share that folder and one Python namespace, and
are taken in their order. What becomes of a block says its language:

============= ====================================================================================
``pycon``     a doctest session; what it shows must come out
``python``    is executed; what it prints must be the ``output`` block that follows, if one does
``console``   shell commands behind ``$``; what they print, both streams, must be what is shown.
              ``$ cat NAME`` with its output makes that file
``toml``      a profile that loads
``yaml``      must be read
``sh``        only its syntax is checked (it installs, or needs another machine), and that the
              targets of make, and the subcommands and options of csandbox, that it names exist
``output``    belongs to the block before it
``text``      is there to be read
============= ====================================================================================

``title=NAME`` behind the language: the block is not run but written to that file, for later ones.
Three dots on a line of their own in shown output stand for any lines.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import csandbox
from csandbox._cli.arguments import _parser

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(`{3,}|:{3,})(.*)$")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it begins, its language, the words behind that, its text."""

    page: str
    line: int
    language: str
    words: tuple[str, ...]
    text: str

    @property
    def title(self) -> str:
        """The file that it is, or ""."""
        return next((w.removeprefix("title=") for w in self.words if w.startswith("title=")), "")

    def __str__(self) -> str:
        """The place, for messages."""
        return f"{self.page}:{self.line}"


def blocks(page: str, text: str) -> Iterator[Block]:
    """Every fenced block, closed as CommonMark says. ValueError when one is not closed."""
    opened: tuple[int, str, str] | None = None
    kept: list[str] = []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        fence = FENCE.match(line.rstrip("\n"))
        if opened is None:
            if fence:
                opened, kept = (number, fence[1], fence[2].strip()), []
            elif re.match(r"^\s+```", line):
                raise ValueError(f"{page}:{number}: a fence that is indented is not executed")
        elif fence and not fence[2].strip() and fence[1].startswith(opened[1]):
            language, *words = opened[2].split() or [""]
            yield Block(page, opened[0], language, tuple(words), "".join(kept))
            opened = None
        else:
            kept.append(line)
    if opened is not None:
        raise ValueError(f"{page}:{opened[0]}: this block is not closed")


def without_pointers(text: str) -> str:
    """CPython 3.10 does not underline the failing expression in tracebacks."""
    if sys.version_info >= (3, 11):
        return text
    return re.sub(r"^ +[~^]+\n", "", text, flags=re.MULTILINE)


def same(got: str, shown: str) -> bool:
    """Whether what came out is what is shown; a line of three dots stands for any lines."""
    parts = [re.escape(part) for part in re.split(r"(?m)^ *\.\.\.\n", shown)]
    return re.fullmatch(r"(?:.*\n)*?".join(parts), got) is not None


def commands(text: str) -> list[tuple[str, str]]:
    """(command, shown output) of a console block; a command goes on behind a backslash."""
    parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n", text, flags=re.MULTILINE)
    assert parts[0] == "", "a console block begins with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def subcommands() -> dict[str, set[str]]:
    """Each command of csandbox, with its options."""
    (action,) = (a for a in _parser()._actions if isinstance(a, argparse._SubParsersAction))
    return {name: set(p._option_string_actions) for name, p in action.choices.items()}


@dataclass
class Sitting:
    """One page being executed in `folder`. `ran` counts blocks by their language."""

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    ran: dict[str, int] = field(default_factory=dict)

    def run(self, page: list[Block]) -> None:
        """Execute its blocks in their order. AssertionError names the place."""
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            for place, block in enumerate(page):
                following = page[place + 1] if place + 1 < len(page) else None
                output = following.text if following and following.language == "output" else None
                self._one(block, output)
        finally:
            os.chdir(before)

    def _one(self, block: Block, output: str | None) -> None:
        if block.title:
            target = self.folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
            self._count("file")
        elif block.language == "python":
            self._python(block, output)
            self._count("python")
        elif not block.language.startswith("{"):  # a directive of Sphinx
            KINDS[block.language](self, block)
            self._count(block.language)

    def _count(self, kind: str) -> None:
        self.ran[kind] = self.ran.get(kind, 0) + 1

    def _python(self, block: Block, output: str | None) -> None:
        said = io.StringIO()
        code = compile("\n" * block.line + block.text, str(ROOT / block.page), "exec")
        with contextlib.redirect_stdout(said):
            exec(code, self.names)
        if output is not None:
            assert same(said.getvalue(), output), f"{block} printed:\n{said.getvalue()}"

    def pycon(self, block: Block) -> None:
        """A doctest session; its names are the page's."""
        test = doctest.DocTestParser().get_doctest(
            block.text, self.names, str(block), block.page, block.line
        )
        said: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        done = runner.run(test, out=said.append, clear_globs=False)
        self.names = test.globs
        assert not said, "".join(said)
        assert done.attempted, f"{block}: no example"

    def console(self, block: Block) -> None:
        """A shell session in the page's folder."""
        mine = ("NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED", "COLUMNS")
        clean = {k: v for k, v in os.environ.items() if k not in mine}
        start = (
            f'csandbox() {{ "{sys.executable}" -m csandbox "$@"; }}; '
            f'python() {{ "{sys.executable}" "$@"; }}; '
        )
        for command, shown in commands(block.text):
            if re.fullmatch(r"cat \S+", command) and not Path(command[4:]).exists():
                Path(command[4:]).write_text(shown, encoding="utf-8")
                continue
            done = subprocess.run(
                ["sh", "-c", start + command],
                env={**clean, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=60,
            )
            wanted = without_pointers(shown)
            assert same(done.stdout, wanted), f"{block}: $ {command}\n{done.stdout}"

    def toml(self, block: Block) -> None:
        """A profile of one's own."""
        path = self.folder / "profile.toml"
        path.write_text(block.text, encoding="utf-8")
        csandbox.Profile.load(path)

    def yaml(self, block: Block) -> None:
        """Something for Kubernetes or Compose."""
        import yaml

        assert yaml.safe_load(block.text)

    def sh(self, block: Block) -> None:
        """Commands that are not run here."""
        done = subprocess.run(["sh", "-n"], input=block.text, text=True, capture_output=True)
        assert done.returncode == 0, f"{block}: {done.stderr}"
        there = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        for target in re.findall(r"\bmake ([a-z][a-z-]*)", block.text):
            assert target in there, f"{block}: make {target}"
        for command in re.findall(r"\bcsandbox ([a-z]+(?: --[a-z-]+)*)", block.text):
            name, *options = command.split()
            known = subcommands().get(name)
            assert known is not None, f"{block}: csandbox {command}"
            assert set(options) <= known, f"{block}: csandbox {command}"

    def nothing(self, block: Block) -> None:
        """To be read, or checked with the block before it."""


KINDS: dict[str, Callable[[Sitting, Block], None]] = {
    "pycon": Sitting.pycon,
    "console": Sitting.console,
    "toml": Sitting.toml,
    "yaml": Sitting.yaml,
    "sh": Sitting.sh,
    "output": Sitting.nothing,
    "text": Sitting.nothing,
}
