"""The text of a completion, which is a string or a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def text_of(completion: Any) -> str:
    """The text: of a chat, what the assistant said last.

    A message is a mapping (or an object) with ``role`` and ``content``; content may be text, parts
    of which those with ``text`` count, or None, as with tool calls: then an earlier message counts.
    Raises TypeError.
    """
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping) or hasattr(completion, "content"):
        return _content(completion)
    if isinstance(completion, Sequence):
        for message in reversed(completion):
            if _field(message, "role") in (None, "assistant"):
                text = _content(message)
                if text:
                    return text
        return ""
    raise TypeError(
        "a completion must be text or a list of messages with role and content, "
        f"not {type(completion).__name__}"
    )


def _field(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _content(message: Any) -> str:
    if isinstance(message, str):
        return message
    content = _field(message, "content")
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, Sequence):
        parts = (part if isinstance(part, str) else _field(part, "text") for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    raise TypeError(f"a message's content must be text or parts, not {type(content).__name__}")
