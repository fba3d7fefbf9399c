"""``csandbox explain [CODE]``."""

from __future__ import annotations

import argparse
import re
import sys
from difflib import get_close_matches

from csandbox import _core
from csandbox._cli.arguments import Usage
from csandbox._cli.console import emit, emit_json, paint, wants_color

_MOST = 5  # guesses shown
_LONGEST = 100  # characters from which something is guessed; each guess costs their square


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


def _hint(asked: str, entries: dict[str, dict[str, str]]) -> str:
    """What was probably meant: a code with a slip in it, a name like that, or a word of either.

    A code with another number is another code: nothing is guessed from it.
    """
    if len(asked) > _LONGEST:
        return ""
    code, word = asked.upper(), asked.lower()
    near = [
        known
        for known in entries
        if (code and known.startswith(code))
        or known in {code[:i] + code[i + 1 :] for i in range(len(code))}
    ]
    if near:
        return f"Did you mean {', '.join(near[:_MOST])}{', ...' * (len(near) > _MOST)}? "
    names = {entry["name"]: known for known, entry in entries.items()}
    alike = get_close_matches(word, names, n=1, cutoff=0.75)
    if alike:
        return f"Did you mean {names[alike[0]]} {alike[0]}? "
    if len(word) < 3:
        return ""
    whole = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    for text in (lambda entry: f"{entry['name']} {entry['summary']}", _what_it_does):
        about = [
            f"{known} {one['name']}" for known, one in entries.items() if whole.search(text(one))
        ]
        if about:
            return f"About that are {', '.join(about[:_MOST])}. "
    return ""


def _what_it_does(entry: dict[str, str]) -> str:
    """The first section of the code's page."""
    return "".join(_pages().get(entry["code"], "").split("\n## ")[1:2])


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
        raise Usage(
            f"no code {options.code!r}. {_hint(options.code, entries)}`csandbox explain` lists all"
        )
    page = _pages().get(code, "")
    if options.json:
        emit_json({**entries[code], "page": page})
    else:
        emit(page or f"# {code} {entries[code]['name']}\n\n{entries[code]['summary']}")
    return 0
