"""`make bench`: one run of all measurements, as a table and as JSON (build/bench.json).

Goals are shown, not enforced: a busy machine must not make a build fail.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from bench.core import base_python
from bench.fresh import fresh, layers
from bench.grade import grade
from bench.guard import guard
from bench.host import host
from bench.hostile import hostile
from bench.keeping import long, memory
from bench.report import Section
from bench.saturation import saturation
from bench.second import second
from bench.solutions import solutions
from bench.walk import walk
from bench.warm import peers, preloaded, solution, warm
from bench.where import where

ROOT = Path(__file__).resolve().parent.parent


def measurements(options: argparse.Namespace) -> dict[str, Callable[[], Section]]:
    """Every section by its key, in their order."""
    rounds = options.rounds
    found: dict[str, Callable[[], Section]] = {
        "warm": lambda: warm(6 * rounds),
        "peers": lambda: peers(max(1, rounds // 3)),
        "saturation": lambda: saturation(max(1, rounds // 20), options.block_runs),
        "warm_host": lambda: host(2 * rounds, options.warm_bytes, kind="warm", threads=64),
        "warm_solution": lambda: solution(2 * rounds, options.data),
        "preloaded": lambda: preloaded(rounds),
        "grade": lambda: grade(max(1, rounds // 3), max(2, options.block_runs // 8)),
        "memory": memory,
        "where": lambda: where(2 * rounds),
        "fresh": lambda: fresh(rounds),
        "guard": lambda: guard(options.check_rounds, options.check_bytes),
        "solutions": lambda: solutions(options.check_rounds, options.data),
        "hostile": lambda: hostile(max(1, options.check_rounds // 5)),
        "second": lambda: second(rounds),
        "walk": lambda: walk(options.check_rounds, options.data),
        "host": lambda: host(rounds, options.held_bytes),
        "layers": lambda: layers(rounds),
    }
    if options.long:
        found["long"] = lambda: long(options.long)
    return found


def main() -> int:
    """Measure, print, write; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=150, help="of the runs (default 150)")
    parser.add_argument("--check-rounds", type=int, default=15, help="of the check (default 15)")
    parser.add_argument("--check-bytes", type=int, default=1_000_000, help="of source to check")
    parser.add_argument("--held-bytes", type=int, default=2_000_000_000, help="by the large host")
    parser.add_argument("--block-runs", type=int, default=400, help="of saturation (default 400)")
    parser.add_argument("--warm-bytes", type=int, default=4_000_000_000, help="by its large host")
    parser.add_argument("--long", type=int, default=0, metavar="RUNS", help="100000: some minutes")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench.json", metavar="FILE")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder with datasets/")
    parser.add_argument("--only", nargs="+", default=[], metavar="SECTION", help="not all of them")
    options = parser.parse_args()
    numbers = (options.rounds, options.check_rounds, options.check_bytes, options.held_bytes)
    if min(*numbers, options.block_runs, options.warm_bytes) < 1:
        parser.error("every number must be at least 1")
    chosen = measurements(options)
    unknown = set(options.only) - set(chosen)
    if unknown:
        named, known = (", ".join(sorted(names)) for names in (unknown, chosen))
        parser.error(f"--only: no section {named}; there are {known}")
    machine = {
        "cpus": os.cpu_count(),
        "kernel": f"{platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "interpreter": base_python(),
        "load_1min": os.getloadavg()[0],
    }
    print(
        f"CPython {machine['python']}, Linux {machine['kernel']}, {machine['cpus']} CPUs, "
        f"load {machine['load_1min']:.1f}\n",
        flush=True,
    )
    sections: list[Section] = []
    for name, measure in chosen.items():
        if not options.only or name in options.only:
            sections.append(measure())
            print(sections[-1].text(), flush=True)
    data = {"machine": machine, "sections": {s.key: s.to_dict() for s in sections}}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
