"""`make bench-plot`: the comparison of the last `make bench` as an SVG, from its JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: Row of the section "peers" -> how it is called in the picture, and its colour.
BARS = {
    "pool.run": ("csandbox, warm: CPython, contained", "#1a7f37"),
    "monty": ("pydantic-monty: a subset of Python", "#8c959f"),
    "smolagents": ("smolagents, local: no isolation", "#8c959f"),
    "bare fork+compile+exec+exit": ("bare fork of a warm CPython: no isolation", "#8c959f"),
    "python3 -I -c": ("python3 -I -c: no isolation", "#8c959f"),
    "csandbox.run, fresh": ("csandbox, fresh interpreter", "#4ac26b"),
    "sandlock": ("sandlock, python3 -I -c", "#8c959f"),
}


def rows(data: dict[str, Any]) -> list[tuple[str, str, float]]:
    """Label, colour and milliseconds of what was measured, fastest first."""
    measured = data["sections"]["peers"]["rows"]
    found = [(*BARS[name], row["p50_ms"]) for name, row in measured.items() if name in BARS]
    return sorted(found, key=lambda row: row[2])


def draw(data: dict[str, Any], target: Path) -> None:
    """Write the picture: the same bytes for the same figures."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "csandbox", "font.size": 10, "svg.fonttype": "none"}
    )
    from matplotlib import pyplot

    bars = rows(data)[::-1]
    figure, axes = pyplot.subplots(figsize=(8.2, 0.46 * len(bars) + 1.1), layout="constrained")
    drawn = axes.barh([b[0] for b in bars], [b[2] for b in bars], color=[b[1] for b in bars])
    axes.bar_label(
        drawn,
        labels=[f" {b[2]:.0f} ms" if b[2] >= 10 else f" {b[2]:.2g} ms" for b in bars],
        padding=2,
    )
    axes.set_xscale("log")
    axes.set_xlim(right=max(b[2] for b in bars) * 4)
    axes.set_xlabel("milliseconds for print(1), median of one interleaved run (log scale)")
    axes.spines[["top", "right"]].set_visible(False)
    machine = data["machine"]
    axes.set_title(
        f"CPython {machine['python']}, Linux {machine['kernel'].split('-')[0]}, "
        f"{machine['cpus']} CPUs",
        fontsize=9,
        loc="left",
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def main() -> int:
    """Read, draw."""
    parser = argparse.ArgumentParser(prog="python -m bench.plot", description=__doc__)
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench.json", metavar="FILE")
    parser.add_argument("--svg", type=Path, default=ROOT / "docs" / "bench.svg", metavar="FILE")
    options = parser.parse_args()
    try:
        data = json.loads(options.json.read_text(encoding="utf-8"))
    except OSError as error:
        parser.error(f"{options.json}: {error.strerror}; make it with: make bench")
    if "peers" not in data["sections"]:
        parser.error(f"{options.json} has no section 'peers'; make it with: make bench")
    draw(data, options.svg)
    print(f"written to {options.svg}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
