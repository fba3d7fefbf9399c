"""Put the figures of `make bench` into the pages that have a place for them.

Usage: fill_bench.py [BENCH.json]; without a name it is build/bench.json.

A place is ``<!-- bench:KEY -->`` to ``<!-- /bench:KEY -->``, where KEY is a section of the bench.
What stands between them is replaced: rows, figures, machine and notes. In README.md the place
``picture`` becomes docs/bench.svg when that is there. Nothing else of a page is touched.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/explanation/comparison.md", "docs/explanation/cost-of-layers.md")
PICTURE = "docs/bench.svg"
PLACE = re.compile(r"(<!-- bench:(\w+) -->\n).*?(<!-- /bench:\2 -->)", re.DOTALL)


def number(value: float) -> str:
    """Three digits, so that nobody reads more into a measurement."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def table(section: Mapping[str, Any], machine: Mapping[str, Any]) -> str:
    """One section as Markdown. ValueError when it was not measured."""
    if section["skipped"]:
        raise ValueError(f"{section['title']}: not measured: {section['skipped']}")
    rows = section["rows"]
    text = ""
    if rows:
        text = "| | median ms | p90 ms | by the base |\n|---|---:|---:|---:|\n"
        for name, row in rows.items():
            by = "base" if name == section["base"] else number(row["ratio"]["p50"])
            text += f"| {name} | {number(row['p50_ms'])} | {number(row['p90_ms'])} | {by} |\n"
    if section["figures"]:
        text += "\n| | |\n|---|---:|\n" if rows else "| | |\n|---|---:|\n"
        for figure in section["figures"]:
            text += f"| {figure['name']} | {number(figure['value'])} {figure['unit']} |\n"
    kernel = machine["kernel"].partition("-")[0]
    load = f", load {machine['load_1min']:.1f}"
    rounds = {row["rounds"] for row in rows.values()}
    text += f"\nCPython {machine['python']}, Linux {kernel}, {machine['cpus']} CPUs{load}"
    text += f", {max(rounds)} rounds.\n" if rounds else ".\n"
    return text + "".join(f"\n{note}\n" for note in section["notes"])


def picture(root: Path) -> str:
    """The line that shows the picture, or nothing."""
    if not (root / PICTURE).is_file():
        return ""
    return f"![How long print(1) takes in csandbox and elsewhere]({PICTURE})\n"


def fill(page: str, data: Mapping[str, Any], root: Path) -> str:
    """The page with its places filled; what was not measured leaves its place as it is."""

    def one(place: re.Match[str]) -> str:
        if place[2] == "picture":
            return place[1] + picture(root) + place[3]
        section = data["sections"].get(place[2])
        if section is None or section["skipped"]:
            return place[0]
        return f"{place[1]}\n{table(section, data['machine'])}\n{place[3]}"

    return PLACE.sub(one, page)


def main() -> int:
    """Fill every page; say which changed."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "bench.json"
    try:
        data = json.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        print(f"{error}; run `make bench` first", file=sys.stderr)
        return 2
    for name in PAGES:
        page = ROOT / name
        before = page.read_text(encoding="utf-8")
        after = fill(before, data, ROOT)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"filled {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
