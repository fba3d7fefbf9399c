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
from bench.guard import guard
from bench.host import host
from bench.report import Section
from bench.second import second
from bench.solutions import solutions

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Measure, print, write; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=150, help="of the runs (default 150)")
    parser.add_argument("--check-rounds", type=int, default=15, help="of the check (default 15)")
    parser.add_argument("--check-bytes", type=int, default=1_000_000, help="of source to check")
    parser.add_argument("--held-bytes", type=int, default=2_000_000_000, help="by the large host")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench.json", metavar="FILE")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder with datasets/")
    parser.add_argument("--only", nargs="+", default=[], metavar="SECTION", help="not all of them")
    options = parser.parse_args()
    if min(options.rounds, options.check_rounds, options.check_bytes, options.held_bytes) < 1:
        parser.error("every number must be at least 1")
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
    measures: dict[str, Callable[[], Section]] = {
        "fresh": lambda: fresh(options.rounds),
        "guard": lambda: guard(options.check_rounds, options.check_bytes),
        "solutions": lambda: solutions(options.check_rounds, options.data),
        "second": lambda: second(options.rounds),
        "host": lambda: host(options.rounds, options.held_bytes),
        "layers": lambda: layers(options.rounds),
    }
    if set(options.only) - set(measures):
        parser.error(f"--only takes {', '.join(measures)}")
    for key in options.only or measures:
        sections.append(measures[key]())
        print(sections[-1].text(), flush=True)
    data = {"machine": machine, "sections": {s.key: s.to_dict() for s in sections}}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
