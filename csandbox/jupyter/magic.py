"""``%%csandbox`` and ``%csandbox`` for ordinary IPython kernels.

A cell or a line runs in a session with a name. Variables go in and come out by value, as plain
data, and only those that are named.
"""

from __future__ import annotations

import argparse
import atexit
import sys
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from csandbox import CellResult, Profile, SandboxError, Session
from csandbox._units import parse_bytes, parse_seconds
from csandbox.jupyter.findings import ending_html, folded_violations_html, report_html
from csandbox.jupyter.safe import safe_bundle


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise UsageError(f"%%csandbox: {message}")

    def exit(self, status: int = 0, message: str | None = None) -> Any:
        raise UsageError(message or "")


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if not name.isidentifier():
            raise argparse.ArgumentTypeError(f"{name!r} is not the name of a variable")
    return names


def _flat(lists: list[list[str]]) -> list[str]:
    return [name for names in lists for name in names]


def _parser() -> _Parser:
    parser = _Parser(prog="%%csandbox", add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add("-p", "--profile", default=None, help="of the session (default: compute)")
    add("-s", "--session", default="default", help="its name: each has variables of its own")
    add("-i", "--in", dest="given", type=_names, action="append", default=[], metavar="NAMES")
    add("-o", "--out", type=_names, action="append", default=[], metavar="NAMES")
    add("--cpu", type=parse_seconds, default=None, metavar="TIME", help="for this cell")
    add("--wall", type=parse_seconds, default=None, metavar="TIME", help="for this cell")
    add("--memory", type=parse_bytes, default=None, metavar="SIZE", help="of a new session")
    add("--reset", action="store_true", help="end the session first")
    add("-h", "--help", action="store_true", help="say this")
    return parser


def _split(line: str) -> tuple[list[str], str]:
    """Options of the line magic, and the code behind them."""
    words, rest = [], line.strip()
    while rest.startswith("-"):
        word, _, rest = rest.partition(" ")
        words.append(word)
        rest = rest.lstrip()
        if word not in ("--reset", "-h", "--help") and "=" not in word:
            value, _, rest = rest.partition(" ")
            words.append(value)
            rest = rest.lstrip()
    return words, rest


class _Stream:
    """A stream of the child, on one of ours."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def __call__(self, data: bytes) -> None:
        self.target.write(data.decode("utf-8", "replace"))
        self.target.flush()


@magics_class
class SandboxMagics(Magics):
    """The magics of one shell, and their sessions."""

    def __init__(self, shell: Any) -> None:
        """No session yet."""
        super().__init__(shell)
        self.sessions: dict[str, Session] = {}
        atexit.register(self.close)

    def close(self) -> None:
        """End all sessions."""
        for session in self.sessions.values():
            session.close()
        self.sessions.clear()

    def _session(self, options: argparse.Namespace) -> Session:
        old = self.sessions.get(options.session)
        if old is not None and (options.reset or not old.alive):
            old.close()
            old = None
        if old is not None:
            has = old.profile.name
            if options.profile is not None and Profile.load(options.profile).name != has:
                raise UsageError(
                    f"%%csandbox: the session {options.session!r} has profile {has}; add --reset, "
                    "or name another with --session"
                )
            return old
        limits = None if options.memory is None else {"memory_bytes": options.memory}
        new = Session(options.profile or "compute", limits=limits)
        self.sessions[options.session] = new
        return new

    def _put(self, session: Session, names: list[str]) -> None:
        values = {}
        for name in names:
            if name not in self.shell.user_ns:
                raise UsageError(f"%%csandbox: -i {name}: there is no such variable")
            values[name] = self.shell.user_ns[name]
        if values:
            try:
                session.set(**values)
            except (TypeError, ValueError) as error:
                raise UsageError(f"%%csandbox: -i takes plain data: {error}") from None

    @line_cell_magic
    def csandbox(self, line: str, cell: str | None = None) -> Any:
        """Run a cell (or a line, whose value is returned as plain data) in a confined session.

        -i a,b  variables that go in      -o c,d  variables that come out      both by value
        -p NAME profile      -s NAME session      --reset begin anew
        --cpu 2s --wall 5s --memory 256MiB
        """
        words, code = (line.split(), cell) if cell is not None else _split(line)
        parser = _parser()
        options = parser.parse_args(words)
        if options.help:
            print(parser.format_help())
            return None
        try:
            return self._perform(options, code, is_line=cell is None)
        except SandboxError as error:
            raise UsageError(f"%%csandbox: {error}") from None

    def _perform(self, options: argparse.Namespace, code: str, *, is_line: bool) -> Any:
        session = self._session(options)
        self._put(session, _flat(options.given))
        if not code.strip():
            return None
        limits = {"cpu_s": options.cpu, "wall_s": options.wall}
        result = session.run(
            code,
            limits={name: value for name, value in limits.items() if value is not None} or None,
            on_stdout=_Stream(sys.stdout),
            on_stderr=_Stream(sys.stderr),
            on_display=lambda bundle: display(safe_bundle(bundle), raw=True),
            on_input=_line,
        )
        value = None
        if is_line and result.ok and result.value_repr is not None:
            value = self._taken(session, "_")
        _show(result, with_value=not is_line)
        if result.ok:
            for name in _flat(options.out):
                self.shell.user_ns[name] = self._taken(session, name)
        return value

    @staticmethod
    def _taken(session: Session, name: str) -> Any:
        """The value of a variable. UsageError for one that is missing or no plain data."""
        try:
            return session.get(name)
        except KeyError:
            raise UsageError(f"%%csandbox: the cell has made no variable {name!r}") from None
        except TypeError as error:
            raise UsageError(f"%%csandbox: only plain data comes out: {error}") from None


def _line(prompt: str) -> str:
    """A line from whoever sits at the notebook; no more of them where nobody does."""
    try:
        return input(prompt)
    except NotImplementedError:
        raise EOFError from None


class CellFailed(Exception):
    """A cell of ``%%csandbox`` did not end well; the notebook stops here, as at any exception."""

    def _render_traceback_(self) -> list[str]:
        """For IPython: the child's traceback, not that of the magic."""
        return str(self).split("\n")


def _show(result: CellResult, *, with_value: bool) -> None:
    """Value, findings and how it ended; raises CellFailed unless it is ok."""
    if with_value and result.value_repr is not None:
        display(safe_bundle(result.value or {"text/plain": result.value_repr}), raw=True)
    if result.report is not None and len(result.report):
        html = {"text/html": report_html(result.report), "text/plain": result.report.render()}
        display(html, raw=True)
    if result.raised is None and not result.ok and result.verdict not in (
        "rejected", "compile_error",
    ):  # fmt: skip
        html = {"text/html": ending_html(result, result.alive), "text/plain": result.summary()}
        display(html, raw=True)
    elif result.violations:
        html = {
            "text/html": folded_violations_html(result),
            "text/plain": "system calls were denied",
        }
        display(html, raw=True)
    if not result.ok:
        raised = result.raised
        raise CellFailed(raised.traceback.rstrip() if raised is not None else result.summary())


def register(ipython: Any) -> None:
    """Add the magics to a shell."""
    ipython.register_magics(SandboxMagics)
