"""``csandbox call FILE ENTRY``."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from csandbox._call import call, shown
from csandbox._cli.arguments import Usage
from csandbox._cli.console import (
    emit,
    emit_json,
    emit_stream,
    is_terminal,
    one_line,
    say,
    visible,
)
from csandbox._cli.files import read_source
from csandbox._cli.limits import limits_of
from csandbox._cli.run import exit_code
from csandbox._profile import Profile

_MOST_SHOWN = 100_000


def _json(text: str, option: str, kind: type, what: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Usage(f"{option}: no JSON: {error}") from error
    if type(value) is not kind:
        raise Usage(f"{option} must be {what}, for example {'[1, 2]' if kind is list else '{}'}")
    return value


def command(options: argparse.Namespace) -> int:
    """Call the function; the value goes to stdout, what the program printed to stderr."""
    profile = Profile.load(options.profile)
    args = _json(options.args, "--args", list, "a JSON list")
    kwargs = _json(options.kwargs, "--kwargs", dict, "a JSON object")
    limits = limits_of(options)
    source, name = read_source(options.file)
    try:
        adapters = {int(key) if key.isdecimal() else key: name for key, name in options.adapt}
        result = call(
            source,
            options.entry,
            args,
            kwargs,
            adapters=adapters,
            profile=profile,
            limits=limits,
            filename=name,
            python=options.python,
        )
    except (TypeError, ValueError) as error:
        raise Usage(str(error)) from error
    if options.json:
        emit_json(result.to_dict())
        return exit_code(result)
    emit_stream(result.stdout_bytes, result.stdout, sys.stderr, False)
    emit_stream(result.stderr_bytes, result.stderr, sys.stderr, False)
    if result.ok:
        text = shown(result.value, _MOST_SHOWN)
        emit(visible(text) if is_terminal(sys.stdout) else text)
    elif not options.quiet:
        if result.report is not None and not result.report.ok:
            say(result.report.render(color=False))
        say(f"csandbox: {one_line(result.summary())}")
    return exit_code(result)
