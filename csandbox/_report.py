"""What the guard found: frozen data that prints itself as on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from csandbox import _core, _formats

if TYPE_CHECKING:
    from csandbox._core import DiagnosticData

EXPLAIN_URL = "docs/rules/{code}.md"


@dataclass(frozen=True)
class Diagnostic:
    """One finding, with its place in the source.

    ``severity`` is "error" (blocks the run), "advice" (never blocks) or "observed" (would block if
    its family were enforced). ``message`` says what and why in one sentence, ``label`` stands
    behind the caret, ``help`` says what to do instead, ``note`` adds to it; these three may be "".
    Lines and columns are 1-based, columns count characters, ``end_column`` is exclusive; a line of
    0 means the source as a whole. Where ``second_line`` is not 0, ``second_label`` says what
    another place has to do with it ("imported here"). The bytes are offsets into the text that
    would be compiled. Hostile text is escaped everywhere.
    """

    code: str
    name: str
    severity: str
    message: str
    label: str = ""
    help: str = ""
    note: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    start_byte: int = 0
    end_byte: int = 0
    second_label: str = ""
    second_line: int = 0
    second_column: int = 0
    second_start_byte: int = 0
    second_end_byte: int = 0
    filename: str = "submission.py"

    @classmethod
    def from_data(cls, data: DiagnosticData, filename: str) -> Diagnostic:
        """From what the C core returns."""
        return cls(**data, filename=filename)

    @property
    def url(self) -> str:
        """The rule's page, relative to the root of the project."""
        return EXPLAIN_URL.format(code=self.code)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data under ruff's field names."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "label": self.label,
            "help": self.help,
            "note": self.note,
            "filename": self.filename,
            "location": {"row": self.line, "column": self.column},
            "end_location": {"row": self.end_line, "column": self.end_column},
            "start_byte": self.start_byte,
            "end_byte": self.end_byte,
            "url": self.url,
            "related": self._related(),
        }

    def _related(self) -> list[dict[str, Any]]:
        if not self.second_line:
            return []
        place = {"row": self.second_line, "column": self.second_column}
        return [{"message": self.second_label, "location": place}]

    def __str__(self) -> str:
        """One line: ``file:line:column: severity[code] message``."""
        place = f"{_formats.visible(self.filename)}:"
        if self.line:
            place += f"{self.line}:{self.column}:"
        return f"{place} {self.severity}[{self.code}] {self.message}"


@dataclass(frozen=True, init=False, repr=False)
class Report:
    """All findings of one check, in the order of the source.

    Iterate over it for Diagnostics, ask ``ok`` whether the source may run, print it for a person,
    or take ``to_dict()``, ``to_sarif()``, ``to_github()`` or ``feedback()`` for a machine.
    ``suppressed`` counts findings beyond the limit per rule, by code. Immutable and picklable.
    """

    diagnostics: tuple[Diagnostic, ...]
    filename: str
    source: bytes = field(repr=False)
    suppressed: Mapping[str, int]

    def __init__(
        self,
        diagnostics: Sequence[DiagnosticData] = (),
        source: bytes = b"",
        filename: str = "submission.py",
        suppressed: Mapping[str, int] | None = None,
        guard: _core.Guard | None = None,
    ) -> None:
        """From what the C core returns; `source` is the text that the byte offsets count in."""
        found = tuple(Diagnostic.from_data(data, filename) for data in diagnostics)
        object.__setattr__(self, "diagnostics", found)
        object.__setattr__(self, "filename", filename)
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "suppressed", MappingProxyType(dict(suppressed or {})))

    def with_findings(self, diagnostics: Sequence[DiagnosticData]) -> Report:
        """The same report with other findings, such as those after the second opinion."""
        return Report(diagnostics, self.source, self.filename, self.suppressed)

    @property
    def ok(self) -> bool:
        """Whether nothing that was found blocks the run."""
        return all(found.severity != "error" for found in self.diagnostics)

    def __iter__(self) -> Iterator[Diagnostic]:
        """The findings, by place."""
        return iter(self.diagnostics)

    def __len__(self) -> int:
        """The number of findings kept; ``suppressed`` counts the others."""
        return len(self.diagnostics)

    def __bool__(self) -> bool:
        """Always true: ask ``ok``, since an empty report is the best one."""
        return True

    def render(self, *, color: bool = False) -> str:
        """The findings as on the terminal, "" when there are none."""
        data = [_formats.as_data(found) for found in self.diagnostics]
        text = _core.render(None, data, self.source, self.filename, color)
        for code, count in sorted(self.suppressed.items()):
            text += f"\n{code}: and {count} more\n"
        return text

    def __str__(self) -> str:
        """As on the terminal, without colours."""
        return self.render().rstrip("\n") or f"{_formats.visible(self.filename)}: nothing found"

    def __repr__(self) -> str:
        """One line with the codes found."""
        codes: dict[str, int] = {}
        for found in self.diagnostics:
            codes[found.code] = codes.get(found.code, 0) + 1
        listed = ", ".join(f"{code} x{n}" if n > 1 else code for code, n in codes.items())
        return f"<Report ok={self.ok} {self.filename!r}: {listed or 'nothing found'}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; the diagnostics have ruff's field names."""
        return {
            "ok": self.ok,
            "filename": self.filename,
            "diagnostics": [found.to_dict() for found in self.diagnostics],
            "suppressed": dict(self.suppressed),
        }

    def to_sarif(self) -> dict[str, Any]:
        """A SARIF 2.1.0 log with one run, for code scanning."""
        return _formats.sarif(self.diagnostics)

    def to_github(self) -> str:
        """Workflow commands that GitHub shows as annotations, one a line."""
        return _formats.github(self.diagnostics)

    def feedback(self, *, max_chars: int = 1200) -> str:
        """What a model needs for its next try, in at most `max_chars` characters.

        Errors first, one line each with the offending line of source and the help; what does not
        fit is counted. "" when nothing blocks the run.
        """
        return _formats.feedback(self.diagnostics, self.suppressed, self.source, max_chars)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return _formats.html(self.render() or str(self), self.ok)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by value."""
        data = [_formats.as_data(found) for found in self.diagnostics]
        return (Report, (data, self.source, self.filename, dict(self.suppressed)))
