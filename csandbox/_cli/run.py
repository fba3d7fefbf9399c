"""``csandbox run FILE``."""

from __future__ import annotations

import argparse
import sys

from csandbox._cli.arguments import Usage
from csandbox._cli.console import (
    emit_json,
    emit_stream,
    is_terminal,
    one_line,
    paint,
    say,
    wants_color,
)
from csandbox._cli.files import (
    collect_folder,
    read_file,
    read_source,
    read_stdin,
    write_collected,
)
from csandbox._cli.limits import limits_of
from csandbox._profile import Profile
from csandbox._result import Result
from csandbox._run import run


def _stdin(options: argparse.Namespace) -> bytes:
    if options.stdin is not None and options.no_stdin:
        raise Usage("--stdin and --no-stdin exclude each other")
    if options.stdin not in (None, "-"):
        return read_file(options.stdin)
    if options.file == "-":
        if options.stdin == "-":
            raise Usage("stdin cannot be the program and its input at once")
        return b""
    if options.no_stdin or (options.stdin is None and (not sys.stdin or is_terminal(sys.stdin))):
        return b""
    return read_stdin()


def exit_code(result: Result) -> int:
    """0 accepted, 1 not, 3 when the sandbox failed."""
    if result.verdict == "internal_error":
        return 3
    return 0 if result.ok else 1


def command(options: argparse.Namespace) -> int:
    """Run the program; its streams go to ours, one line about the end to stderr."""
    profile = Profile.load(options.profile)
    source, name = read_source(options.file)
    files = {inside: read_file(path) for inside, path in options.files_in}
    if len(files) < len(options.files_in):
        raise Usage("--file: two files cannot have one name in the working folder")
    limits = limits_of(options)
    into = collect_folder(options.collect, options.into)
    stdin = _stdin(options)
    try:
        result = run(
            source,
            stdin=stdin,
            args=options.program_args,
            env=dict(options.env),
            files=files,
            collect=options.collect,
            profile=profile,
            limits=limits,
            allow_degraded=options.allow_degraded,
            namespaces=options.namespaces,
            cgroup=options.cgroup,
            filename=name,
            fresh=options.fresh,
            python=options.python,
            audit_log=options.audit_log,
        )
    except ValueError as error:
        raise Usage(str(error)) from error
    if into is not None:
        write_collected(into, result.files)
        for inside, reason in result.files_skipped.items():
            say(f"csandbox: not collected: {one_line(inside)}: {reason}")
    if options.json:
        emit_json(result.to_dict())
        return exit_code(result)
    emit_stream(result.stdout_bytes, result.stdout, sys.stdout, options.raw)
    emit_stream(result.stderr_bytes, result.stderr, sys.stderr, options.raw)
    color = wants_color(options.color, sys.stderr)
    if not result.ok and result.report is not None and not result.report.ok:
        say_report = result.report.render(color=color)
        print(say_report, file=sys.stderr)
    if not options.quiet and (not result.ok or _weak(result)):
        verdict, colon, rest = result.summary().partition(":")
        shown = paint(verdict, "green" if result.ok else "red", color) + one_line(colon + rest)
        print(f"csandbox: {shown}{_weak(result)}", file=sys.stderr)
    return exit_code(result)


def _weak(result: Result) -> str:
    weak = [name for name, state in result.isolation.items() if state.startswith("degraded")]
    return f" (degraded: {', '.join(weak)})" if weak else ""
