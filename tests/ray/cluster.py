"""A Ray cluster of two nodes on this machine, an actor killed in the middle; prints JSON.

A program of its own, run by test_grader_pool.py and `make test-rl`: what Ray leaves in a process
(threads, descriptors) does not meet the other tests, and the whole of it can be given a time limit.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

import csandbox
import csandbox.ray

COUNT = 60
SOURCES = (
    "def f(x):\n    return 2 * x\n",
    "def f(x):\n    return x\n",
    "def f(x:\n",
    "def f(x):\n    raise ValueError(x)\n",
    "import os\nos._exit(0)\n",
)


def pairs(count: int) -> Iterator[tuple[str, list[csandbox.CallTest]]]:
    for number in range(count):
        tests = [csandbox.CallTest("f", [n + 1], 2 * n + 2) for n in (number, number + 1)]
        yield SOURCES[number % len(SOURCES)], tests


def told(report: csandbox.GradeReport) -> dict[str, Any]:
    """A report without what differs from run to run."""
    rows = [(row.id, row.verdict, row.weight, row.reason) for row in report]
    return {"score": report.score, "seed": report.seed, "rows": rows, "profile": report.profile}


def grandchildren(pid: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        try:
            stat = Path("/proc", entry, "stat").read_text() if entry.isdigit() else ""
        except OSError:
            continue
        if stat and int(stat.rpartition(")")[2].split()[1]) == pid:
            found += [int(entry), *grandchildren(int(entry))]
    return found


def gone(pids: list[int]) -> bool:
    """Whether all of them ended (a zombie has), within seconds."""
    for _ in range(100):
        left = []
        for pid in pids:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state not in "ZX":
                left.append(pid)
        if not left:
            return True
        time.sleep(0.1)
    return False


def same_as_local(pool: csandbox.ray.GraderPool) -> dict[str, Any]:
    local = [(n, told(r)) for n, r in csandbox.grade_many(pairs(COUNT), seed=5, stop="never")]
    far = [(n, told(r)) for n, r in pool.grade_many(pairs(COUNT), seed=5, stop="never")]
    loose = [(n, told(r)) for n, r in pool.grade_many(pairs(COUNT), seed=5, stop="never",
                                                      ordered=False)]  # fmt: skip
    return {"ordered": far == local, "unordered": sorted(loose) == local, "count": len(far)}


def killed(pool: csandbox.ray.GraderPool) -> dict[str, Any]:
    """SIGKILL for one actor after some reports: nothing is lost, nothing comes twice."""
    victim = pool.stats()[0]["pid"]
    below = grandchildren(victim)
    seen: list[int] = []
    scores: dict[int, float | None] = {}
    for place, report in pool.grade_many(pairs(COUNT), ordered=False, seed=5):
        if not seen:
            os.kill(victim, signal.SIGKILL)
        seen.append(place)
        scores[place] = report.score
    stats = pool.stats()
    return {
        "places": sorted(seen) == list(range(COUNT)),
        "scores": [scores[n] for n in range(COUNT)] == [
            1.0 if n % len(SOURCES) == 0 else 0.0 for n in range(COUNT)
        ],
        "lost": [one["lost"] for one in stats],
        "new_pid": stats[0]["pid"] != victim,
        "had_children": len(below) > 0,
        "children_gone": gone(below),
    }  # fmt: skip


def held_back(pool: csandbox.ray.GraderPool) -> dict[str, Any]:
    """An endless input is read only some way ahead of what was taken."""
    taken = 0

    def endless() -> Iterator[tuple[str, list[csandbox.CallTest]]]:
        nonlocal taken
        for _ in itertools.count():
            taken += 1
            yield SOURCES[0], [csandbox.CallTest("f", [1], 2)]

    results = pool.grade_many(endless())
    for _ in range(10):
        next(results)
    most = taken
    results.close()
    return {"ahead": most - 10, "bound": 16 * pool.workers + 32}


def deadly(pool: csandbox.ray.GraderPool) -> dict[str, Any]:
    """A submission that takes its actor with it each time has no score; the others have theirs."""
    killer = csandbox.CheckerTest(
        lambda answer: os.kill(os.getpid(), signal.SIGKILL), stdin="", id="kills"
    )
    fine = [csandbox.StdioTest("", "1\n")]
    mixed = [("print(1)\n", [killer] if n == 1 else fine) for n in range(6)]
    reports = dict(pool.grade_many(mixed))
    return {
        "scores": [reports[n].score for n in range(6)],
        "verdict": reports[1].verdict,
        "reason": reports[1].tests[0].reason,
    }


def raised(pool: csandbox.ray.GraderPool) -> str:
    try:
        list(pool.grade_many([("x", [])]))
    except ValueError as error:
        return str(error)
    return "nothing"


def page() -> int:
    """Run the blocks of docs/how-to/ray.md; returns how many."""
    text = (Path(__file__).resolve().parents[2] / "docs/how-to/ray.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in blocks:
            exec(compile(block, "ray.md", "exec"), names)
    return len(blocks)


def main() -> None:
    small = {"object_store_memory": 80 << 20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **small})
    cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
    ray.init(address=cluster.address, log_to_driver=False)
    found: dict[str, Any] = {"ray": ray.__version__}
    try:
        with csandbox.ray.GraderPool(actors_per_node=1, retries=1) as pool:
            stats = pool.stats()
            found["nodes"] = len({one["node"] for one in stats})
            found["actors"], found["workers"] = pool.actors, pool.workers
            for measure in (same_as_local, held_back, raised, killed, deadly):
                found[measure.__name__] = measure(pool)
            pids = [one["pid"] for one in pool.stats()]
        found["closed"] = gone(pids)
        found["blocks"] = page()
    finally:
        ray.shutdown()
        cluster.shutdown()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
