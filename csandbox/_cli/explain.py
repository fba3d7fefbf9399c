"""``csandbox explain [CODE]``."""

from __future__ import annotations

import argparse
import sys
from difflib import get_close_matches

from csandbox import _core
from csandbox._cli.arguments import Usage
from csandbox._cli.console import emit, emit_json, paint, wants_color


def _pages() -> dict[str, str]:
    from csandbox._rule_pages import PAGES

    return PAGES


def _title(page: str) -> tuple[str, str]:
    """Name and sentence of a page: the rest of its heading, and its first paragraph."""
    heading, _, rest = page.lstrip().partition("\n")
    name = heading.lstrip("# ").partition(" ")[2].strip(" :—-()")
    paragraph = rest.strip().partition("\n\n")[0]
    return name, " ".join(paragraph.split())


def _entries() -> dict[str, dict[str, str]]:
    """Code → name and summary: rules from the core, run-time outcomes from their pages."""
    entries = {}
    for code, page in _pages().items():
        name, summary = _title(page)
        entries[code] = {"code": code, "name": name, "summary": summary}
    for rule in _core.rules():
        entries[rule["code"]] = {key: rule[key] for key in ("code", "name", "summary")}
    return dict(sorted(entries.items()))


def command(options: argparse.Namespace) -> int:
    """Print the page of a code, or list all codes."""
    entries = _entries()
    if options.code is None:
        if options.json:
            emit_json(list(entries.values()))
            return 0
        color = wants_color(options.color, sys.stdout)
        width = max((len(entry["name"]) for entry in entries.values()), default=0)
        for code, entry in entries.items():
            emit(f"{paint(code, 'bold', color)}  {entry['name'].ljust(width)}  {entry['summary']}")
        return 0
    code = options.code.upper()
    if code not in entries:
        by_name = {entry["name"]: known for known, entry in entries.items()}
        code = by_name.get(options.code.lower(), code)
    if code not in entries:
        near = get_close_matches(code, entries, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        raise Usage(f"no code {options.code!r}; {hint}`csandbox explain` lists all")
    page = _pages().get(code, "")
    if options.json:
        emit_json({**entries[code], "page": page})
    else:
        emit(page or f"# {code} {entries[code]['name']}\n\n{entries[code]['summary']}")
    return 0
