"""Directives for Sphinx: tables that are read out of csandbox itself, so that none can be stale.

============================ ==================================================================
``csandbox-profiles``        the built-in profiles side by side
``csandbox-profile-keys``    every key of a profile, with its kind and the value in each
``csandbox-verdicts``        every verdict with its code and what its page says
``csandbox-cli``             ``--help`` of every command
============================ ==================================================================
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable
from typing import Any

from docutils import nodes
from pygments.lexers.python import PythonLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import csandbox


def _paragraph(text: str, *, literal: bool = False) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.literal(text, text) if literal else nodes.Text(text))


def _table(head: list[str], rows: Iterable[list[nodes.Node]]) -> nodes.table:
    """A table of cells that are made already."""
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    group += nodes.thead("", _row([_paragraph(text) for text in head]))
    group += nodes.tbody("", *[_row(cells) for cells in rows])
    return nodes.table("", group)


def _row(cells: list[nodes.Node]) -> nodes.row:
    return nodes.row("", *[nodes.entry("", cell) for cell in cells])


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted key -> value; a table that is itself a value (env, import_help) stays one."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and name not in ("env", "guard.import_help"):
            found.update(flat(value, f"{name}."))
        else:
            found[name] = value
    return found


def shown(value: Any) -> str:
    """A value in a cell: long lists are their length."""
    if isinstance(value, dict | list | tuple) and len(str(value)) > 60:
        return f"{len(value)} names"
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value >= 1 << 20 and value % (1 << 20) == 0:
        return f"{value >> 20} MiB"
    return str(value)


class Profiles(SphinxDirective):
    """Name and summary of each built-in profile."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        loaded = map(csandbox.Profile.load, csandbox.Profile.builtin())
        rows = [[_paragraph(p.name, literal=True), _paragraph(p.summary)] for p in loaded]
        return [_table(["profile", "for"], rows)]


class ProfileKeys(SphinxDirective):
    """Every key, and its value in each built-in profile."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        names = list(csandbox.Profile.builtin())
        values = {name: flat(csandbox.Profile.load(name).to_dict()) for name in names}
        keys = [key for key in values[names[0]] if key not in ("name", "summary")]
        rows = [
            [_paragraph(key, literal=True), *[_paragraph(shown(values[n][key])) for n in names]]
            for key in keys
        ]
        return [_table(["key", *names], rows)]


def outcomes() -> list[csandbox.Result]:
    """A result of each kind that has a code of its own."""
    from csandbox._result import _LIMIT_CODES, VERDICTS

    found = []
    for verdict in VERDICTS:
        limit = {"time_limit": "cpu", "memory_limit": "memory", "output_limit": "output"}
        found.append(csandbox.Result(verdict, limit.get(verdict)))
        if verdict == "time_limit":
            found.append(csandbox.Result(verdict, "wall"))
        if verdict == "output_limit":
            found.append(csandbox.Result(verdict, "disk"))
        if verdict == "runtime_error":
            found.append(csandbox.Result(verdict, signal=11))
            found += [csandbox.Result(verdict, hit) for hit in _LIMIT_CODES]
    return found


class Verdicts(SphinxDirective):
    """Each verdict with its code and the first sentence of its page."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        from csandbox._cli.explain import _entries

        entries = _entries()
        rows = []
        for result in outcomes():
            more = f" ({result.limit_hit})" if result.limit_hit else ""
            more += " (a signal)" if result.signal else ""
            code = result.code
            what = entries[code]["summary"] if code else "It ran to its end and exited with 0."
            verdict = result.verdict
            word = nodes.paragraph("", "", nodes.literal(verdict, verdict), nodes.Text(more))
            rows.append([word, _paragraph(code or ""), _paragraph(what)])
        return [_table(["verdict", "code", "what"], rows)]


class CommandLine(SphinxDirective):
    """What ``--help`` says, for the whole and for each command."""

    def run(self) -> list[nodes.Node]:
        """A section for each."""
        from csandbox._cli import main

        found: list[nodes.Node] = []
        for command in ["", *_commands()]:
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
                main([*([command] if command else []), "--help"])
            title = f"csandbox {command}".strip()
            section = nodes.section(ids=[title.replace(" ", "-")], names=[title])
            section += nodes.title("", "", nodes.literal(title, title))
            section += nodes.literal_block(said.getvalue(), said.getvalue(), language="none")
            found.append(section)
        return found


def _commands() -> list[str]:
    """The commands, in the order in which --help lists them."""
    import argparse

    from csandbox._cli.arguments import _parser

    for action in _parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            return list(action.choices)
    raise RuntimeError("the command line has no commands")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    os.environ.update(COLUMNS="88", NO_COLOR="1")  # argparse folds by the terminal
    for language in ("ipython", "python-script"):  # fences that tests tell apart
        app.add_lexer(language, PythonLexer)
    app.add_directive("csandbox-profiles", Profiles)
    app.add_directive("csandbox-profile-keys", ProfileKeys)
    app.add_directive("csandbox-verdicts", Verdicts)
    app.add_directive("csandbox-cli", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
