"""Which names to offer: what the child has, less what the guard refuses.

The child is asked for names (its word); the guard is asked about each, by code that uses it, so
that nothing is offered that a cell would be refused for. Answers of the guard are remembered.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from typing import Any

from csandbox import check
from csandbox._profile import Profile
from csandbox._session import Session

_DOTTED = re.compile(r"(?:([^\W\d]\w*(?:\.[^\W\d]\w*)*)\.)?([^\W\d]\w*)?$")
_IMPORT = re.compile(r"^\s*import\s+(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*([\w.]*)$")
_FROM = re.compile(r"^\s*from\s+([\w.]*)$")
_FROM_IMPORT = re.compile(
    r"^\s*from\s+([\w.]+)\s+import\s+\(?\s*(?:\w+(?:\s+as\s+\w+)?\s*,\s*)*(\w*)$"
)
_MOST = 500

Names = list[tuple[str, str]]  # name, kind


class Allowed:
    """The guard of one profile, asked about single names."""

    def __init__(self, profile: Profile) -> None:
        """Nothing is asked yet."""
        self.profile = profile
        self._known: dict[str, bool] = {}

    def __call__(self, code: str) -> bool:
        """Whether a cell of this code would be let through."""
        if code not in self._known:
            self._known[code] = check(code, profile=self.profile).ok
        return self._known[code]

    def module(self, name: str) -> bool:
        """Whether it may be imported."""
        return self(f"import {name}")

    def member(self, module: str, name: str) -> bool:
        """Whether it may be taken out of the module."""
        return self(f"from {module} import {name}")

    def builtin(self, name: str) -> bool:
        """Whether it may be used as programs use it."""
        return self(f"{name}()") if name[:1].islower() else self(name)


class Completer:
    """Completion and inspection in one session."""

    def __init__(self, session: Session, profile: Profile) -> None:
        """Borrow the session."""
        self.session = session
        self.allowed = Allowed(profile)
        self._available: list[str] | None = None

    def _pairs(self, found: object) -> Names:
        """The child's list, which may be anything."""
        return [
            (pair[0], pair[1])
            for pair in (found if isinstance(found, list) else ())
            if isinstance(pair, list)
            and len(pair) == 2
            and all(isinstance(word, str) for word in pair)
            and pair[0].isidentifier()
        ]

    def _modules(self) -> list[str]:
        """Top-level modules that may be imported and are there."""
        if self._available is None:
            names = {name.partition(".")[0] for name in self.allowed.profile.guard.imports_allow}
            asked = sorted(name for name in names if self.allowed.module(name))
            found = self.session.explore("available", asked)
            self._available = [n for n in asked if isinstance(found, list) and n in found]
        return self._available

    def _submodules(self, path: str, prefix: str) -> Names:
        dotted = [
            name
            for name in self.allowed.profile.guard.imports_allow
            if name.startswith(f"{path}.{prefix}")
        ]
        parts = {name[len(path) + 1 :].partition(".")[0] for name in dotted}
        if self.allowed.module(path) and path.partition(".")[0] in self._modules():
            found = self.session.explore("module_members", path, prefix)
            parts |= {n for n in found if isinstance(n, str)} if isinstance(found, list) else set()
        return [(n, "module") for n in sorted(parts) if self.allowed.module(f"{path}.{n}")]

    def complete(self, code: str, cursor: int) -> tuple[int, Names]:
        """Where the replaced text begins, and what could stand there."""
        before = code[:cursor]
        line = before.rpartition("\n")[2]
        names, prefix = self._at(line)
        return cursor - len(prefix), names[:_MOST]

    def _at(self, line: str) -> tuple[Names, str]:
        found = _FROM_IMPORT.match(line)
        if found is not None:
            return self._of_module(found[1], found[2]), found[2]
        found = _IMPORT.match(line) or _FROM.match(line)
        if found is not None:
            path, dot, prefix = found[1].rpartition(".")
            if dot:
                return self._submodules(path, prefix), prefix
            return [(n, "module") for n in self._modules() if n.startswith(prefix)], prefix
        found = _DOTTED.search(line)
        if found is None or not (found[1] or found[2]):
            return [], ""
        path, prefix = found[1] or "", found[2] or ""
        return self._members(path, prefix), prefix

    def _of_module(self, module: str, prefix: str) -> Names:
        if not self.allowed.module(module):
            return []
        found = self.session.explore("module_members", module, prefix)
        names = [n for n in found if isinstance(n, str)] if isinstance(found, list) else []
        return [(n, "instance") for n in self._wanted(names, prefix)
                if self.allowed.member(module, n)]  # fmt: skip

    @staticmethod
    def _wanted(names: Iterable[str], prefix: str) -> list[str]:
        """Names that begin so; private ones only when asked for."""
        return sorted(
            n for n in names
            if n.isidentifier() and n.startswith(prefix) and (prefix[:1] == "_" or n[:1] != "_")
        )  # fmt: skip

    def _members(self, path: str, prefix: str) -> Names:
        found = self.session.explore("members", path, prefix)
        answer = found if isinstance(found, dict) else {}
        own, names = self._pairs(answer.get("own")), self._pairs(answer.get("names"))
        module = answer.get("module")
        kinds = dict(names)
        offered = self._wanted(kinds, prefix)
        if module == "builtins" and not path:
            offered = [name for name in offered if self.allowed.builtin(name)]
        elif isinstance(module, str) and re.fullmatch(r"[\w.]+", module):
            offered = [name for name in offered if self.allowed.member(module, name)]
        else:
            offered = [name for name in offered if self.allowed(f"x.{name}")]
        first = [(n, k) for n, k in sorted(own) if n in self._wanted([n], prefix)]
        words = [] if path else [(w, "keyword") for w in keyword.kwlist if w.startswith(prefix)]
        return first + words + [(name, kinds[name]) for name in offered]

    def about(self, code: str, cursor: int, detail: int) -> dict[str, Any] | None:
        """What the child knows of the name at the cursor; None when it is no name."""
        path = name_at(code, cursor)
        if path is None or keyword.iskeyword(path):
            return None
        found = self.session.explore("about", path, detail > 0)
        return found if isinstance(found, dict) else None


def name_at(code: str, cursor: int) -> str | None:
    """The dotted name at the cursor, or the one whose call the cursor is in."""
    for match in re.finditer(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*", code):
        if match.start() <= cursor <= match.end():
            part = code[match.start() : max(cursor, match.start() + 1)]
            rest = re.match(r"\w*", code[match.start() + len(part) :])
            return part + (rest[0] if rest else "")
    before = code[:cursor]
    depth = 0
    for index in range(len(before) - 1, -1, -1):
        depth += (before[index] in ")]}") - (before[index] in "([{")
        if depth < 0:
            found = re.search(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*)\s*$", before[:index])
            return found[1] if found and before[index] == "(" else None
    return None


def described(about: dict[str, Any]) -> str:
    """Plain text for a tooltip or a pager."""
    lines = []
    for title, key in (
        ("Signature", "signature"), ("Type", "type"), ("Value", "value"),
    ):  # fmt: skip
        if about.get(key):
            lines.append(f"{title}: {about[key]}")
    for title, key in (("Docstring", "doc"), ("Source", "source")):
        if about.get(key):
            lines.append(f"{title}:\n{about[key]}")
    return "\n".join(lines)
