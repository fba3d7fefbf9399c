"""Writing to people: colour only where it is wanted, hostile text never raw on a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any, TextIO

_STYLES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "blue": "34", "dim": "2"}
# C0 and C1 controls move the cursor and set titles; Cf holds the bidirectional overrides.
_HOSTILE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def wants_color(choice: str, stream: TextIO) -> bool:
    """Whether to colour: --color, then NO_COLOR, FORCE_COLOR, TERM=dumb, then a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    if os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(stream)


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream is a terminal; a closed or replaced stream is none."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


@contextlib.contextmanager
def usable_streams() -> Iterator[None]:
    """Streams that every command can write to, whatever it was started with.

    A closed one (``>&-``) is None, for which print() takes the other: what is written there is
    dropped, as CPython drops it. One whose encoding lacks a character gets its escape.
    """
    with contextlib.ExitStack() as stack:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is None:
                nothing = stack.enter_context(open(os.devnull, "w"))
                setattr(sys, name, nothing)
                stack.callback(setattr, sys, name, None)
            elif getattr(stream, "errors", None) == "strict" and hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        yield


def paint(text: str, style: str, color: bool) -> str:
    """The text in a style, or as it is without colour."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if color and text else text


def visible(text: str) -> str:
    """The text with everything that a terminal would obey, or hide, written out as an escape."""
    return "".join(
        char
        if char in "\n\t" or unicodedata.category(char) not in _HOSTILE_CATEGORIES
        else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in text
    )


def one_line(text: str) -> str:
    """`visible`, and newlines and tabs written out too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def say(message: str) -> None:
    """One message for people, on stderr; never fails because stderr is closed."""
    if not is_terminal(sys.stdout):
        sys.stdout.flush()  # where both go into one pipe, the order is what people see
    with contextlib.suppress(OSError, ValueError):  # there is nobody to tell
        print(visible(message), file=sys.stderr)


def emit(text: str) -> None:
    """Data for stdout, with a final newline."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def emit_json(data: Any) -> None:
    """JSON for stdout. ASCII only, so that hostile text in it cannot reach a terminal either."""
    emit(json.dumps(data, indent=2, ensure_ascii=True))


def emit_stream(content: bytes, text: str, stream: TextIO, raw: bool) -> None:
    """What a child wrote: byte for byte into a file or pipe, made harmless on a terminal."""
    if not content:
        return
    if is_terminal(stream) and not raw:
        shown = visible(text)
        stream.write(shown if shown.endswith("\n") else shown + "\n")
        stream.flush()
        return
    stream.flush()
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # a replaced stream that takes text only
        stream.write(text)
        return
    buffer.write(content)
    buffer.flush()
