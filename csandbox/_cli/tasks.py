"""Reading a task's tests for `grade` and `audit`."""

from __future__ import annotations

import argparse

from csandbox._cli.arguments import Usage
from csandbox._cli.console import say
from csandbox._load_asserts import Loaded
from csandbox._load_tests import load_tests


def tests_of(path: str, options: argparse.Namespace) -> Loaded:
    """The tests; Usage when they cannot be read. What is no data test is said on stderr."""
    try:
        loaded = load_tests(path, entry=options.entry, compare=options.compare, row=options.row)
    except OSError as error:
        raise Usage(f"{path}: cannot be read: {error.strerror or error}") from error
    except KeyError as error:
        raise Usage(f"{path}: a task needs the field {error}") from error
    except ValueError as error:
        raise Usage(f"{path}: {error}") from error
    for part in loaded.unconverted:
        say(f"csandbox: {path}: not a test: {part}")
    return loaded
