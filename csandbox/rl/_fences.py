"""Fenced blocks in a text, in one pass: lines, no regular expression that could take long."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: What stands behind the fence when the block is Python; nothing at all counts only where no block
#: says that it is Python.
PYTHON = frozenset({"python", "py", "python3", "py3", "python2", "ipython", "ipython3"})

_OPEN = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`\n]*)\Z")
_TAG = re.compile(r"[\w+#.-]+")


@dataclass(frozen=True)
class Block:
    """One fenced block: its text, its language as a word in lower case, whether it was closed."""

    text: str
    language: str
    closed: bool

    @property
    def is_python(self) -> bool:
        """Whether its fence says Python."""
        return self.language in PYTHON


def _language(info: str) -> str:
    """The first word of "python3 title=x", "{.python}" or "Python"."""
    found = _TAG.search(info)
    return found[0].lower().lstrip(".") if found else ""


def _opening(line: str) -> tuple[int, str, str] | None:
    """Columns of indentation, the fence and the language, when a block begins in this line.

    A fence behind words ("Here it is: ```python") begins one too when a language ends the line.
    """
    found = _OPEN.match(line)
    if found:
        return len(found[1]), found[2], _language(found[3])
    before, fence, tag = line.rpartition("```")
    if fence and "```" not in before and tag.strip().lower() in PYTHON:
        return 0, fence, tag.strip().lower()
    return None


def _closes(line: str, fence: str, indent: int) -> bool:
    """Whether the line is a fence of the same kind, as long, and not much further in."""
    bare = line.strip()
    return (
        len(bare) >= len(fence)
        and not bare.strip(fence[0])
        and len(line) - len(line.lstrip()) <= indent + 3
    )


def _without(indent: int, lines: list[str]) -> str:
    """The lines with the fence's own indentation taken away, as far as they have it."""
    if indent:
        lines = [line[min(indent, len(line) - len(line.lstrip(" \t"))) :] for line in lines]
    return "".join(line + "\n" for line in lines)


def _last_line(lines: list[str], fence: str) -> bool:
    """Whether the fence closes behind the last line of code; it is taken away."""
    for place in range(len(lines) - 1, -1, -1):
        line = lines[place].rstrip()
        if line:
            if line.endswith(fence):
                lines[place:] = [line[: -len(fence)].rstrip(fence[0])]
                return True
            return False
    return False


def fenced_blocks(text: str) -> list[Block]:
    """All blocks in order; only the last one can be unclosed. Line ends become line feeds."""
    blocks: list[Block] = []
    lines: list[str] = []
    inside: tuple[int, str, str] | None = None
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if inside is None:
            inside = _opening(line)
            lines = []
        elif _closes(line, inside[1], inside[0]):
            blocks.append(Block(_without(inside[0], lines), inside[2], True))
            inside = None
        else:
            lines.append(line)
    if inside is not None:
        closed = _last_line(lines, inside[1])
        while lines and not lines[-1].strip():
            lines.pop()
        blocks.append(Block(_without(inside[0], lines), inside[2], closed))
    return blocks
