"""What of a MIME bundle may be shown in a notebook's page.

A notebook's page runs with its user's rights: a script in an output of this kernel could type into
another kernel's cells. So what the child made is let through by kind: pictures and plain text as
they are, HTML rebuilt from a list of harmless elements, SVG as an image (nothing runs in it), LaTeX
that is only mathematics. Everything else is left out.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from csandbox.jupyter.safe_html import rebuilt
from csandbox.jupyter.safe_latex import is_mathematics

_PICTURES = ("image/png", "image/jpeg", "image/gif")
_MAGIC = {"image/png": b"\x89PNG\r\n", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8"}
# Frontends choke on more, and a notebook that holds it cannot be opened again.
_TEXT_LIMIT = 1_000_000


def _svg_as_image(text: str) -> str:
    data = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    return f'<img alt="SVG" src="data:image/svg+xml;base64,{data}">'


def _picture(kind: str, data: object) -> str | None:
    """The picture as base64, when it is one."""
    if isinstance(data, str):
        try:
            data = base64.b64decode(data, validate=False)
        except ValueError:
            return None
    if not isinstance(data, bytes) or not data.startswith(_MAGIC[kind]):
        return None
    return base64.b64encode(data).decode("ascii")


def safe_bundle(bundle: Mapping[str, Any]) -> dict[str, Any]:
    """A bundle that a frontend may show; always with text/plain."""
    found: dict[str, Any] = {}
    left_out = []
    for kind, data in bundle.items():
        if kind in _PICTURES:
            picture = _picture(kind, data)
            if picture is not None:
                found[kind] = picture
        elif kind == "text/html" and isinstance(data, str):
            found[kind] = rebuilt(data[:_TEXT_LIMIT])
        elif kind == "image/svg+xml" and isinstance(data, str):
            found.setdefault("text/html", _svg_as_image(data[:_TEXT_LIMIT]))
        elif kind == "text/latex" and isinstance(data, str) and is_mathematics(data):
            found[kind] = data
        elif kind == "application/json":
            found[kind] = json.loads(json.dumps(data))
        elif kind != "text/plain":
            left_out.append(str(kind)[:80])
    plain = bundle.get("text/plain", "")
    found["text/plain"] = str(plain)[:_TEXT_LIMIT]
    if left_out and len(found) == 1 and not plain:
        found["text/plain"] = f"(not shown: {', '.join(left_out)})"
    return found
