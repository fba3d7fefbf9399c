"""HTML rebuilt from harmless parts: tables and text, as pandas and others show their data.

Nothing is passed on as it came. A tolerant parser reads; elements and attributes of the lists below
are written anew, text is escaped, the rest is dropped. No address is kept but of an image in the
text itself, so that showing an output asks no server for anything.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from html.parser import HTMLParser

_ELEMENTS = frozenset(
    (  # noqa: SIM905  # a list of words reads better so
        "a abbr b blockquote br caption code col colgroup dd del details div dl dt em "
        "figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp "
        "small span strong sub summary sup table tbody td tfoot th thead tr tt u ul var "
        "wbr"
    ).split()
)
_EMPTY = frozenset(
    (  # noqa: SIM905  # a list of words reads better so
        "br col hr img wbr"
    ).split()
)
# What stands between their tags is no text for people.
_SILENT = frozenset(
    (  # noqa: SIM905  # a list of words reads better so
        "script style iframe object embed noscript template title svg math"
    ).split()
)
_ATTRIBUTES = frozenset(
    (  # noqa: SIM905  # a list of words reads better so
        "align alt border colspan dir lang rowspan scope span title valign"
    ).split()
)
_STYLES = frozenset(
    (  # noqa: SIM905  # a list of words reads better so
        "background-color border border-collapse border-left color font-family font-style "
        "font-weight padding text-align text-decoration vertical-align white-space width"
    ).split()
)
_STYLE_VALUE = re.compile(r"[-#%.,\w\s]{1,100}|rgba?\([\d\s.,%]{1,40}\)", re.ASCII)
_IMAGE = re.compile(r"data:image/(png|jpeg|gif|svg\+xml);base64,([A-Za-z0-9+/=\s]+)", re.ASCII)
_DEPTH = 200


def _style(text: str) -> str:
    kept = []
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        name, value = name.strip().lower(), value.strip()
        if colon and name in _STYLES and _STYLE_VALUE.fullmatch(value):
            kept.append(f"{name}: {value}")
    return "; ".join(kept)


def _image(text: str) -> str | None:
    match = _IMAGE.fullmatch(text.strip())
    if match is None:
        return None
    try:
        data = base64.b64decode(match[2])
    except (binascii.Error, ValueError):
        return None
    return f"data:image/{match[1]};base64,{base64.b64encode(data).decode('ascii')}"


class _Rebuilder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._open: list[str] = []
        self._silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._silent or tag in _SILENT:
            self._silent.append(tag)
            return
        if tag not in _ELEMENTS or len(self._open) > _DEPTH:
            return
        words = []
        for name, value in attrs:
            kept: str | None = None
            if name in _ATTRIBUTES:
                kept = value or ""
            elif name == "style":
                kept = _style(value or "") or None
            elif name == "src" and tag == "img":
                kept = _image(value or "")
            if kept is not None:
                words.append(f' {name}="{html.escape(kept)}"')
        self.parts.append(f"<{tag}{''.join(words)}>")
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._silent and tag not in _SILENT:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag in self._silent:
                while self._silent.pop() != tag:
                    pass
        elif tag in self._open:
            while True:
                closed = self._open.pop()
                self.parts.append(f"</{closed}>")
                if closed == tag:
                    break

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(html.escape(data))

    def finish(self) -> str:
        self.close()
        self.parts.extend(f"</{tag}>" for tag in reversed(self._open))
        return "".join(self.parts)


def rebuilt(text: str) -> str:
    """HTML of harmless elements only. Never raises for what is in it."""
    builder = _Rebuilder()
    try:
        builder.feed(text)
        return builder.finish()
    except (AssertionError, ValueError, RecursionError):  # what html.parser has no answer to
        return f"<pre>{html.escape(text)}</pre>"
