"""The command line. Data goes to stdout, messages to stderr; exit codes are in ``--help``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from csandbox._cli.arguments import Usage, parse
from csandbox._cli.console import say, usable_streams
from csandbox._errors import ProfileError, SandboxError

OK, WANTING, USAGE, INFRASTRUCTURE = 0, 1, 2, 3
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
READER_GONE = 141  # 128 + SIGPIPE


def _detach_stdout() -> None:
    """Point stdout at nothing, so that the flush at exit cannot fail a second time."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, sys.stdout.fileno())
    except (OSError, ValueError):
        pass  # stdout is no file: nothing will be flushed into it
    finally:
        os.close(nothing)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0 fine, 1 found wanting, 2 usage, 3 infrastructure."""
    with usable_streams():
        return _run(sys.argv[1:] if argv is None else argv)


def _run(argv: Sequence[str]) -> int:
    try:
        command = parse(argv)
        code = command()
        sys.stdout.flush()
        return code
    except Usage as error:
        say(f"csandbox: {error}")
        return USAGE
    except ProfileError as error:
        say(f"csandbox: {error}")
        return USAGE
    except SandboxError as error:
        say(f"csandbox: {error}")
        say("csandbox: nothing was run; `csandbox doctor` says what this system can enforce")
        return INFRASTRUCTURE
    except BrokenPipeError:
        _detach_stdout()
        return READER_GONE
    except OSError as error:
        _detach_stdout()
        say(f"csandbox: cannot write the output: {error.strerror or error}")
        return INFRASTRUCTURE
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        say("csandbox: out of memory; this says nothing about the code")
        return INFRASTRUCTURE
    except Exception:
        # Uncaught, it would end us with 1, which is a judgement of the code.
        import traceback

        say(traceback.format_exc())
        say("csandbox: this is a defect of csandbox and says nothing about the code")
        return INFRASTRUCTURE
