"""Findings in other people's formats: SARIF, GitHub, HTML, and text for a model's next try."""

from __future__ import annotations

import html as _html
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from csandbox import _core

if TYPE_CHECKING:
    from csandbox._core import DiagnosticData
    from csandbox._report import Diagnostic

SARIF_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_SARIF_LEVELS = {"error": "error", "observed": "warning", "advice": "note"}
_GITHUB_COMMANDS = {"error": "error", "observed": "warning", "advice": "notice"}
_HIDDEN = {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}

#: A line of source in feedback() is cut to this many characters.
_EXCERPT = 80


def visible(text: str) -> str:
    """The text with every character that a terminal would obey or hide as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _HIDDEN
        else character
        for character in text
    )


def as_data(found: Diagnostic) -> DiagnosticData:
    """What the C core's renderer takes."""
    fields = (
        *("code", "name", "severity", "message", "label", "help", "note", "line", "column"),
        *("end_line", "end_column", "start_byte", "end_byte", "second_label", "second_line"),
        *("second_column", "second_start_byte", "second_end_byte"),
    )
    return cast("DiagnosticData", {name: getattr(found, name) for name in fields})


def _region(found: Diagnostic) -> dict[str, int]:
    """SARIF's region. Ends are exclusive in both; an empty region is not allowed on its own."""
    return {
        "startLine": found.line,
        "startColumn": found.column,
        "endLine": found.end_line,
        "endColumn": found.end_column,
    }


def _sarif_result(found: Diagnostic, index: int) -> dict[str, Any]:
    artifact = {"uri": _uri(found.filename)}
    location: dict[str, Any] = {"artifactLocation": artifact}
    if found.line:
        location["region"] = _region(found)
    text = found.message + (f" ({found.help})" if found.help else "")
    related: dict[str, Any] = {}
    if found.second_line:
        region = {"startLine": found.second_line, "startColumn": found.second_column}
        place = {"artifactLocation": artifact, "region": region}
        message = {"text": found.second_label}
        related["relatedLocations"] = [{"physicalLocation": place, "message": message}]
    return {
        **related,
        "ruleId": found.code,
        "ruleIndex": index,
        "level": _SARIF_LEVELS.get(found.severity, "warning"),
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
    }


def _uri(filename: str) -> str:
    """A relative or absolute path as a URI reference."""
    from urllib.parse import quote

    return quote(filename.encode("utf-8", "surrogateescape"), safe="/")


def sarif(diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """A SARIF 2.1.0 log; columns count Unicode code points."""
    rules = _core.rules()
    index = {rule["code"]: at for at, rule in enumerate(rules)}
    described = [
        {
            "id": rule["code"],
            "name": rule["name"],
            "shortDescription": {"text": rule["summary"]},
            "helpUri": f"docs/rules/{rule['code']}.md",
            "defaultConfiguration": {"level": _SARIF_LEVELS[rule["severity"]]},
        }
        for rule in rules
    ]
    run = {
        "tool": {"driver": {"name": "csandbox", "rules": described}},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(found, index.get(found.code, -1)) for found in diagnostics],
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _github_escape(text: str, *, value: bool = False) -> str:
    """Percent-escapes of GitHub's workflow commands; properties escape `:` and `,` too."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if value else text


def github(diagnostics: Iterable[Diagnostic]) -> str:
    """One workflow command a finding."""
    lines = []
    for found in diagnostics:
        places = [f"file={_github_escape(visible(found.filename), value=True)}"]
        if found.line:
            places += [f"line={found.line}", f"col={found.column}", f"endLine={found.end_line}"]
            if found.end_line == found.line:
                places.append(f"endColumn={found.end_column}")
        places.append(f"title={_github_escape(found.code, value=True)}")
        command = _GITHUB_COMMANDS.get(found.severity, "warning")
        text = found.message + (f"\n{found.help}" if found.help else "")
        lines.append(f"::{command} {','.join(places)}::{_github_escape(text)}")
    return "\n".join(lines)


def _line_of(source: bytes, found: Diagnostic) -> str:
    """The source line around the finding, visible and cut to `_EXCERPT` characters."""
    if not found.line:
        return ""
    at = found.start_byte
    first, last = source.rfind(b"\n", 0, at) + 1, source.find(b"\n", at)
    last = len(source) if last < 0 else last
    # Four bytes a character at most: what is further away is not shown. A character that is cut
    # in two is outside what is kept.
    begin = max(first, at - 4 * _EXCERPT)
    before = source[begin:at].decode("utf-8", "ignore").lstrip()
    behind = source[at : min(last, at + 4 * _EXCERPT)].decode("utf-8", "ignore").rstrip()
    kept = max(_EXCERPT - len(behind), _EXCERPT // 3)  # of what stands before it
    dots = "..." if begin > first or len(before) > kept else ""
    text = (dots + before[-kept:] + behind).replace("\t", " ")[: _EXCERPT + 1]
    text = visible(text)
    return text if len(text) <= _EXCERPT else text[: _EXCERPT - 3] + "..."


def feedback(
    diagnostics: Sequence[Diagnostic],
    suppressed: Mapping[str, int],
    source: bytes,
    max_chars: int,
) -> str:
    """Errors as short paragraphs, as many as fit; the rest is counted."""
    if max_chars < 1:
        raise ValueError(f"max_chars must be at least 1, not {max_chars}")
    errors = [found for found in diagnostics if found.severity == "error"]
    if not errors:
        return ""
    total = len(errors) + sum(suppressed.values())
    text = f"The code was not run: {total} problem{'s' if total > 1 else ''}.\n"
    said: set[str] = set()
    shown = 0
    for found in errors:
        entry = f"- line {found.line}: {found.message}" if found.line else f"- {found.message}"
        excerpt = _line_of(source, found)
        entry += f"\n    {excerpt}" if excerpt else ""
        if found.help and found.help not in said:  # the same advice once is enough
            entry += f"\n  fix: {found.help}"
        room = max_chars - len(text) - len(entry) - 1
        if room < (0 if shown + 1 == total else len(f"- and {total} more\n")):
            break
        said.add(found.help)
        text += entry + "\n"
        shown += 1
    if shown < total:
        text += f"- and {total - shown} more\n"
    return text[:max_chars]


def html(text: str, ok: bool) -> str:
    """The terminal's text in a box; everything is escaped."""
    color = "#2e7d32" if ok else "#c62828"
    style = f"border-left:3px solid {color};padding-left:0.7em;margin:0;white-space:pre"
    return f'<pre style="{style}">{_html.escape(text)}</pre>'
