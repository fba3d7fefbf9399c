"""The measurements measure: order, arithmetic, and one short run of all of them."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench import measure
from bench.guard import corpus
from bench.measure import Cost
from bench.report import Section

ROOT = Path(__file__).resolve().parents[2]


def walls(*values: float) -> list[Cost]:
    return [Cost(value, value / 2) for value in values]


def test_candidates_take_turns() -> None:
    called: list[str] = []

    def candidate(name: str) -> Cost:
        called.append(name)
        return Cost(len(called), 0.0)

    names = ("a", "b", "c")
    samples = measure.interleave(
        {name: lambda name=name: candidate(name) for name in names}, 20, warm_up=1
    )
    turns = [tuple(called[at : at + 3]) for at in range(0, len(called), 3)]
    assert len(turns) == 21
    assert all(sorted(turn) == list(names) for turn in turns)
    assert len(set(turns)) > 1  # not always the same one first
    assert {name: len(costs) for name, costs in samples.items()} == dict.fromkeys(names, 20)
    assert all(cost.wall_s > 3 for costs in samples.values() for cost in costs)  # no warm-up


@pytest.mark.parametrize(
    "values, share, expected",
    [((5,), 0.5, 5), ((1, 3), 0.5, 2), ((3, 1, 2), 0.5, 2), ((0, 10), 0.9, 9), ((4, 9), 1.0, 9)],
)
def test_quantile(values: tuple[float, ...], share: float, expected: float) -> None:
    assert measure.quantile(values, share) == pytest.approx(expected)


def test_ratio() -> None:
    samples = {"base": walls(1, 2, 3), "ours": walls(2, 2, 9)}
    by = measure.ratio(samples, "ours", "base")
    assert by["p50"] == 1 and by["cpu_p50"] == 1
    assert by["p90"] == pytest.approx((2 + 0.8 * 7) / 2.8)
    assert by["paired"] == 2


def test_time_of_a_sleep_and_of_work() -> None:
    slept = measure.timed(lambda: time.sleep(0.05))
    assert slept.wall_s >= 0.05 > slept.cpu_s + 0.03
    child = measure.timed(
        lambda: subprocess.run([sys.executable, "-S", "-c", "sum(range(10**7))"], check=True)
    )
    assert child.cpu_s > 0.02  # the child's


@pytest.mark.parametrize("ours, met", [(1.0, True), (1.1, True), (1.2, False)])
def test_goals(ours: float, met: bool) -> None:
    section = Section("k", "title", "base", {"base": walls(1), "ours": walls(ours)})
    section.goals = {"ours": (0.0, 1.15)}
    assert section.met("ours") is met and section.met("base") is None
    assert f"goal ≤ 1.15: {'met' if met else 'MISSED'}" in section.text()


def test_what_is_not_measured_says_why() -> None:
    section = Section("k", "title", "base", skipped="there is less than 2.0 GB free")
    assert "not measured: there is less than 2.0 GB free" in section.text()
    assert section.to_dict()["rows"] == {}


def test_the_corpus_is_real_code() -> None:
    sources = corpus(50_000)
    assert 50_000 <= sum(map(len, sources)) < 300_000
    assert corpus(50_000) == sources


@pytest.mark.slow
def test_one_short_run_of_all(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "bench.json"
    (tmp_path / "datasets").mkdir()
    task = {"prompt": "def double(x):\n", "canonical_solution": "    return 2 * x\n"}
    tasks = gzip.compress(json.dumps(task).encode())
    (tmp_path / "datasets" / "humaneval.jsonl.gz").write_bytes(tasks)
    numbers = ["--rounds=2", "--check-rounds=1", "--check-bytes=20000", "--held-bytes=50000000"]
    numbers += ["--warm-bytes=50000000", "--block-runs=8", "--long=40"]
    done = subprocess.run(
        [sys.executable, "-m", "bench", *numbers, "--json", str(target), "--data", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    sections = json.loads(target.read_text())["sections"]
    timed = {"warm", "peers", "warm_host", "warm_solution", "preloaded"}
    timed |= {"grade", "fresh", "guard", "solutions", "second", "host", "layers"}
    least = {"saturation": 5, "memory": 5, "where": 5, "long": 5, "walk": 4}  # figures
    assert set(sections) == timed | set(least) | {"hostile"}
    hostile = sections.pop("hostile")  # a table of its own shape: kinds and what each costs
    assert hostile["title"] in done.stdout and len(hostile["rows"]) >= 2
    for key, section in sections.items():
        assert section["title"] in done.stdout
        assert not section["skipped"], (key, section["skipped"])
        assert len(section["rows"]) >= 2 if key in timed else len(section["figures"]) >= least[key]
        for name, row in section["rows"].items():
            assert row["rounds"] >= 1 and row["p50_ms"] > 0 and row["ratio"]["p50"] > 0
            assert f"  {name} " in done.stdout
        for figure in section["figures"]:
            assert f"  {figure['name']} " in done.stdout
    goals = {name for s in sections.values() for name, row in s["rows"].items() if row["goal"]}
    assert {"csandbox.run", "csandbox.check", "process that holds 0.1 GB", "pool.run"} <= goals
    picture = tmp_path / "bench.svg"
    subprocess.run(
        [sys.executable, "-m", "bench.plot", "--json", str(target), "--svg", str(picture)],
        cwd=ROOT,
        check=True,
    )
    assert "csandbox, warm" in picture.read_text()


def test_wrong_numbers_are_usage(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--rounds=0"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2 and "at least 1" in done.stderr


def test_one_section_and_none_without_its_data(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--only", "solutions", "--json", str(target)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert list(json.loads(target.read_text())["sections"]) == ["solutions"]
    assert "not measured: no --data DIR" in done.stdout


def test_what_is_called_fresh_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third `csandbox.run` of a profile takes a spare unless it is told not to."""
    import csandbox
    from bench.fresh import _public

    asked = []
    run = csandbox.run

    def watched(*args: Any, **keywords: Any) -> csandbox.Result:
        asked.append(keywords.get("fresh"))
        return run(*args, **keywords)

    monkeypatch.setattr(csandbox, "run", watched)
    _public()
    assert set(asked) == {True}
