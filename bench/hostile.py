"""What hostile sources cost the check, by kind, beside honest code of the same size.

Each kind is about a megabyte, the most that profiles take. CPU time of this process, in one run
with the standard library of the same size, so that the ratio means something on a busy machine.
What is not answered as fast as honest code must be refused by a code of CSB0xx, and early.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import csandbox
from bench.guard import corpus
from bench.report import Section

MEGABYTE = 1_000_000
#: No refused kind should cost more of a megabyte, in milliseconds of CPU.
GOAL_MS = 100.0
HONEST = "standard library"


def filled(piece: str, head: str = "", tail: str = "") -> str:
    """The piece again and again, a megabyte with what stands around it."""
    times = (MEGABYTE - len(head) - len(tail)) // len(piece)
    return head + piece * times + tail


def kinds() -> dict[str, str | bytes]:
    """Sources by their kind."""
    chance = random.Random(4)
    tokens = ["(", ")", "a ", "1 ", "'", "\n", " ", "if ", "for ", "lambda ", ":", "=", "[", "f'"]
    depths = "".join(" " * depth + "if 1:\n" for depth in range(90)) + " " * 91 + "x\n"
    return {
        "open brackets": filled("("),
        "open brackets, 10 MB": "(" * 10 * MEGABYTE,
        "closed brackets": "(" * (MEGABYTE // 2) + ")" * (MEGABYTE // 2),
        "unary minus": filled("-", "x = ", "1"),
        "not": filled("not ", "x = ", "1"),
        "lambda": filled("lambda: ", "x = ", "1"),
        "sum": filled(" + 1", "x = 1"),
        "attributes": filled(".b", "x = a"),
        "conditions": filled(" if 1 else 1", "x = 1"),
        "findings": filled("eval(1)\n"),
        "findings, few tokens": filled("eval('" + "a" * 50 + "')\n"),
        "short lines": filled("x\n"),
        "names in a list": filled("a,", "x = [", "]"),
        "numbers in a list": filled("1234, ", "x = [", "]"),
        "parameters": "def f(" + ",".join(f"a{number}" for number in range(140_000)) + "): pass\n",
        "returns": filled(" return\n", "def f():\n"),
        "comprehension": filled("for x in x ", "[x ", "]"),
        "attributes by string": filled("getattr(a, 'b' + 'c' * 1000)\n"),
        "format": filled("'{0.__x}'.format\n"),
        "f-string": filled("{a}", 'x = f"', '"'),
        "f-strings in f-strings": filled('{f"', 'x = f"'),
        "adjacent strings": filled('"" ', "x = "),
        "one string": "x = '" + "a" * MEGABYTE + "'",
        "escapes": filled("\\x41", "x = '", "'"),
        "a string without an end": "x = '" + "a" * MEGABYTE,
        "continuations": filled("\\\n", "x = ", "1"),
        "continuations, in runs": filled("x = 1 " + " \\\n" * 30 + "\n"),
        "comments": filled("#\n", "if 1:\n  x\n", "y"),
        "long comments": filled("# some words\n", "if 1:\n  x\n", "y"),
        "blocks 90 deep": filled(depths),
        "blank lines": filled("\n", "", "x"),
        "form feeds": filled("\f", "", "x"),
        "form feeds and lines": filled("\fx = 1\n"),
        "line ends of all kinds": filled("a = 1\r\nb = 2\rc = 3\n\r\n\r"),
        "65,536 columns": filled("if 1:\n" + " " * 65_536 + "x\n"),
        "every byte": bytes(range(256)) * (MEGABYTE // 256),
        "every byte but NUL": bytes(range(1, 128)) * (MEGABYTE // 127),
        "lone surrogates": "x = '\ud800'\n" * (MEGABYTE // 10),
        "bidirectional marks": filled("# \u202e\n")[: MEGABYTE // 2],
        "dots": filled("."),
        "dots, apart": filled(". " * 20 + "a" * 60 + " "),
        "exec": filled("exec "),
        "assigned twice": filled("x = = 1\n"),
        "prose": filled("The quick brown fox jumps over the lazy dog, and then sleeps.\n"),
        "brackets that do not match": filled("foo(bar[baz{a: b) c] d} "),
        "random text": "".join(chance.choices([chr(c) for c in range(32, 127)], k=MEGABYTE)),
        "random tokens": "".join(chance.choices(tokens, k=MEGABYTE // 2)),
        "random bytes": chance.randbytes(MEGABYTE),
    }


@dataclass
class Answer:
    """What one kind cost, in milliseconds of CPU for each million bytes, and how it ended."""

    kind: str
    check_ms: list[float] = field(default_factory=list)
    render_ms: list[float] = field(default_factory=list)
    codes: str = ""

    def add(self, source: str | bytes) -> None:
        """Check and render once more."""
        raw = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
        began = time.thread_time()
        report = csandbox.check(raw, profile="compute")
        checked = time.thread_time()
        for shown in (report.to_dict(), report.to_sarif(), str(report), report._repr_html_()):
            json.dumps(shown)
        done = time.thread_time()
        per_ms = 1e3 * MEGABYTE / len(raw)
        self.check_ms.append((checked - began) * per_ms)
        self.render_ms.append((done - checked) * per_ms)
        self.codes = ", ".join(sorted({found.code for found in report})) or "accepted"

    def row(self, honest_ms: float) -> dict[str, Any]:
        """The least of the rounds, as data: what disturbs only ever adds."""
        best = min(self.check_ms)
        return {
            "kind": self.kind,
            "check_ms": best,
            "render_ms": min(self.render_ms),
            "of_honest": best / honest_ms,
            "codes": self.codes,
        }


@dataclass
class Table(Section):
    """The section of the report: kinds as rows."""

    rows: Sequence[dict[str, Any]] = ()

    def text(self) -> str:
        """The table for a terminal."""
        lines = [f"{self.title}\n", f"  {'':28} {'check':>9} {'÷ honest':>9} {'render':>9}  answer"]
        lines += [
            f"  {row['kind']:28} {row['check_ms']:6.1f} ms {row['of_honest']:8.2f}x "
            f"{row['render_ms']:6.1f} ms  {row['codes']}"
            for row in self.rows
        ]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes), ""])

    def to_dict(self) -> dict[str, Any]:
        """What bench.json holds."""
        return {"title": self.title, "rows": list(self.rows), "notes": list(self.notes)}


def hostile(rounds: int) -> Table:
    """Every kind once a round, and a megabyte of the standard library among them."""
    honest = b"\n".join(corpus(MEGABYTE))[: 1 << 20]
    sources: dict[str, str | bytes] = {HONEST: honest, **kinds()}
    answers = {kind: Answer(kind) for kind in sources}
    for _ in range(rounds):
        for kind, source in sources.items():
            answers[kind].add(source)
    honest_ms = min(answers[HONEST].check_ms)
    rows = [answer.row(honest_ms) for answer in answers.values()]
    rows.sort(key=lambda row: -row["check_ms"])
    refused = [row for row in rows if "CSB008" in row["codes"]]
    worst = max(refused, key=lambda row: row["check_ms"])
    accepted = max(row["of_honest"] for row in rows)
    return Table(
        key="hostile",
        base=HONEST,
        title="hostile sources: ms of CPU for each million bytes",
        rows=rows,
        notes=(
            f"Refused for its budget: at most {worst['check_ms']:.0f} ms ({worst['kind']}; goal ≤ "
            f"{GOAL_MS:g}). Nothing costs more than {accepted:.1f} times as much as honest code.",
        ),
    )
