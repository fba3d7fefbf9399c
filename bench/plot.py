"""`make bench-plot`: the comparison of the last `make bench` as an SVG, from its JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OURS, CONTAINED, OPEN = "#1a7f37", "#57606a", "#c8ced6"
#: Row of the section "peers" -> how it is called in the picture, and its colour.
BARS = {
    "pool.run": ("csandbox, warm", OURS),
    "csandbox.run, fresh": ("csandbox, fresh interpreter", OURS),
    "monty": ("pydantic-monty (a subset of Python)", CONTAINED),
    "sandlock": ("sandlock (python3 -I -c)", CONTAINED),
    "smolagents": ("smolagents, local executor", OPEN),
    "bare fork+compile+exec+exit": ("fork of a warm CPython", OPEN),
    "python3 -I -c": ("python3 -I -c", OPEN),
}
GROUPS = {"csandbox": OURS, "others that contain": CONTAINED, "no isolation": OPEN}


def rows(data: dict[str, Any]) -> list[tuple[str, str, float]]:
    """Label, colour and milliseconds of what was measured, fastest first."""
    measured = data["sections"]["peers"]["rows"]
    found = [(*BARS[name], row["p50_ms"]) for name, row in measured.items() if name in BARS]
    return sorted(found, key=lambda row: row[2])


def words(milliseconds: float) -> str:
    """Two digits with a unit, as on an axis and behind a bar."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.2g} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"


def draw(data: dict[str, Any], target: Path) -> None:
    """Write the picture: the same bytes for the same figures."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "csandbox", "font.size": 10, "svg.fonttype": "none"}
    )
    from matplotlib import pyplot

    bars = rows(data)[::-1]
    figure, axes = pyplot.subplots(figsize=(8.2, 0.4 * len(bars) + 1.4), layout="constrained")
    figure.patch.set_facecolor("white")
    drawn = axes.barh(
        [b[0] for b in bars], [b[2] for b in bars], color=[b[1] for b in bars], height=0.68
    )
    axes.bar_label(drawn, labels=[f" {words(b[2])}" for b in bars], padding=2)
    for label, bar in zip(axes.get_yticklabels(), bars, strict=True):
        label.set_fontweight("bold" if bar[1] == OURS else "normal")
    axes.set_xscale("log")
    axes.set_xlim(right=max(b[2] for b in bars) * 3)
    axes.xaxis.set_major_formatter(lambda value, _: words(value))
    axes.grid(axis="x", color="#e5e8eb")
    axes.set_axisbelow(True)
    axes.tick_params(length=0, which="both")
    axes.spines[:].set_visible(False)
    machine = data["machine"]
    axes.set_xlabel(
        f"median of one interleaved run, log scale; CPython {machine['python']}, "
        f"Linux {machine['kernel'].split('-')[0]}, {machine['cpus']} CPUs",
        fontsize=9, color="#57606a",
    )  # fmt: skip
    figure.suptitle("Time to run print(1) once", fontsize=12, fontweight="bold", x=0.01, ha="left")
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=colour) for colour in GROUPS.values()]
    figure.legend(handles, GROUPS, loc="upper right", ncols=3, frameon=False, fontsize=9)
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
