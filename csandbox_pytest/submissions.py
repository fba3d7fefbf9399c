"""The fixture `submission`: the same tests for each of many files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import csandbox
    from csandbox_pytest.pools import Sandbox


class _None:
    """Stands where there is no file: a test about nothing must not pass, nor vanish."""

    def __init__(self, why: str) -> None:
        self.why = why


class Submission:
    """One file that somebody handed in. It is never imported here, only run in the sandbox."""

    def __init__(self, path: Path, sandbox: Sandbox) -> None:
        """Read it."""
        self.path = path
        self.name = path.name
        self.source = path.read_bytes()
        self.sandbox = sandbox

    def _named(self, given: dict[str, Any]) -> dict[str, Any]:
        return {"filename": self.name, **given}

    def run(self, stdin: str | bytes = b"", **given: Any) -> csandbox.Result:
        """Run it as a program."""
        return self.sandbox.run(self.source, stdin=stdin, **self._named(given))

    def call(
        self, entry: str, args: Any = (), kwargs: Mapping[str, Any] | None = None, **given: Any
    ) -> csandbox.CallResult:
        """Call one of its functions by value: ``submission.call("area", (2, 3)).value``."""
        return self.sandbox.call(self.source, entry, args, kwargs, **self._named(given))

    def grade(self, tests: Iterable[Any], **given: Any) -> csandbox.GradeReport:
        """Judge it by tests that it cannot reach."""
        return self.sandbox.grade(self.source, tests, **given)

    def check(self) -> csandbox.Report:
        """What the profile does not allow in it."""
        return self.sandbox.check(self.source, filename=self.name)

    def __repr__(self) -> str:
        """One line."""
        return f"<submission {self.name}>"


def _patterns(config: pytest.Config) -> list[tuple[Path, str]]:
    """Patterns and where they begin: the command line's where pytest was called, the ini file's
    beside it.
    """
    given = config.getoption("csandbox_submissions")
    if given:
        return [(config.invocation_params.dir, pattern) for pattern in given]
    base = config.inipath.parent if config.inipath is not None else config.rootpath
    return [(base, pattern) for pattern in config.getini("csandbox_submissions")]


def _found(config: pytest.Config) -> list[Path] | str:
    patterns = _patterns(config)
    if not patterns:
        return (
            "there are no submissions: pass --csandbox-submissions GLOB, or set "
            "csandbox_submissions in the ini file"
        )
    found: set[Path] = set()
    for base, pattern in patterns:
        for name in glob.glob(os.path.join(base, pattern), recursive=True):
            if os.path.isfile(name):
                found.add(Path(name))
    if not found:
        words = ", ".join(f"{pattern!r} in {base}" for base, pattern in patterns)
        return f"no file matches {words}"
    return sorted(found)


def _name(path: Path, config: pytest.Config) -> str:
    try:
        return str(path.relative_to(config.rootpath))
    except ValueError:
        return str(path)


def _is_ours(metafunc: pytest.Metafunc, ours: object) -> bool:
    """Whether no conftest has a fixture `submission` of its own; theirs is left alone."""
    known = getattr(metafunc, "_arg2fixturedefs", {}).get("submission")
    wanted = getattr(ours, "__wrapped__", getattr(ours, "_fixture_function", ours))
    return not known or known[-1].func is wanted or known[-1].func is ours


def parametrize(metafunc: pytest.Metafunc, ours: object) -> None:
    """One test for each file, in the order of their names (xdist's workers must agree on it)."""
    if not _is_ours(metafunc, ours):
        return
    found = _found(metafunc.config)
    if isinstance(found, str):
        metafunc.parametrize("submission", [_None(found)], ids=["none"], indirect=True)
        return
    names = [_name(path, metafunc.config) for path in found]
    metafunc.parametrize("submission", found, ids=names, indirect=True)


def one(request: pytest.FixtureRequest, sandbox: Sandbox) -> Submission:
    """The submission of this test; fails the test when there is none."""
    given = getattr(request, "param", None)
    if isinstance(given, _None):
        pytest.fail(given.why, pytrace=False)
    if given is None:
        pytest.fail(
            "the fixture submission serves test functions that name it as an argument",
            pytrace=False,
        )
    try:
        return Submission(Path(given), sandbox)
    except OSError as error:
        pytest.fail(f"the submission cannot be read: {error}", pytrace=False)
