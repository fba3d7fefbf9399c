"""What a cell asks its caller while it runs: to show something in its place, or for a line.

A question is one byte and what belongs to it: ``d`` and a MIME bundle as JSON, ``i`` and a prompt.
The child's word, both of them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from csandbox._foreign import opened

Show = Callable[[Mapping[str, Any]], object]
Ask = Callable[[str], str]

# The child's own bound, and its word about what it left out.
DISPLAYS = 65
# The same for what they hold in sum, with room for the base64 of what it let through.
_SHOWN_BYTES = 12 * 1024 * 1024
# A prompt is a line for a person.
_PROMPT_BYTES = 10_000


def bundle(data: object) -> Mapping[str, Any]:
    """A MIME bundle out of JSON that hostile code may have written."""
    found: dict[str, Any] = {}
    for kind, value in data.items() if isinstance(data, dict) else ():
        if isinstance(value, dict) and set(value) == {"base64"}:
            try:
                found[kind] = base64.b64decode(str(value["base64"]), validate=True)
            except (binascii.Error, ValueError):
                continue
        else:
            found[kind] = value
    return MappingProxyType(found)


class Answers:
    """Answers the questions of one cell. `shown` is what was shown through it, in its order."""

    def __init__(self, on_display: Show | None, on_input: Ask | None) -> None:
        """Either may be None: nobody is there for such a question."""
        self.on_display, self.on_input = on_display, on_input
        self.shown: list[Mapping[str, Any]] = []
        self._room = _SHOWN_BYTES

    @property
    def ask(self) -> Callable[[bytes], bytes | None] | None:
        """For the core; None when there is nobody at all."""
        return None if self.on_display is None and self.on_input is None else self._answer

    def _answer(self, question: bytes) -> bytes | None:
        kind, data = question[:1], question[1:]
        if kind == b"d" and self.on_display is not None:
            if len(self.shown) == DISPLAYS or len(data) > self._room:
                return None
            self._room -= len(data)
            said = bundle(opened(data))
            self.shown.append(said)
            self.on_display(said)
            return b""
        if kind == b"i" and self.on_input is not None:
            return self._line(data[:_PROMPT_BYTES].decode("utf-8", "replace"))
        return None

    def _line(self, prompt: str) -> bytes:
        """With its end, as a stream gives it; empty: there is no more."""
        assert self.on_input is not None
        try:
            line = self.on_input(prompt)
        except EOFError:
            return b""
        return line.encode("utf-8", "replace") + b"\n"
