"""tools/fill_bench.py puts figures into their places, and touches nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from bench.measure import Cost
from bench.report import Figure, Section

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("fill_bench", ROOT / "tools" / "fill_bench.py")
assert spec is not None and spec.loader is not None
fill_bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fill_bench)

MACHINE = {"cpus": 2, "kernel": "6.1.0-9 x86_64", "python": "3.11.2", "load_1min": 0.04}
PAGE = "a\n\n<!-- bench:peers -->\nold\n<!-- /bench:peers -->\n\nb <!-- bench:none -->\n"


def data(**more: Any) -> dict[str, Any]:
    samples = {"base": [Cost(0.002, 0.0)] * 4, "ours": [Cost(0.001, 0.0)] * 4}
    section = Section("peers", "t", "base", samples, notes=("A note.",), **more)
    return {"machine": MACHINE, "sections": {"peers": section.to_dict()}}


def test_a_place_is_filled_again_and_again(tmp_path: Path) -> None:
    once = fill_bench.fill(PAGE, data(figures=[Figure("size", 1.5, "MB")]), tmp_path)
    assert fill_bench.fill(once, data(figures=[Figure("size", 1.5, "MB")]), tmp_path) == once
    assert "| base | 2 | 2 | base |\n| ours | 1 | 1 | 0.5 |\n" in once
    assert "| size | 1.5 MB |" in once and "A note." in once and "old" not in once
    assert "CPython 3.11.2, Linux 6.1.0, 2 CPUs, load 0.0, 4 rounds." in once
    assert once.startswith("a\n\n<!-- bench:peers -->\n")
    assert once.endswith("<!-- /bench:peers -->\n\nb <!-- bench:none -->\n")


def test_what_was_not_measured_stays(tmp_path: Path) -> None:
    assert fill_bench.fill(PAGE, data(skipped="no data"), tmp_path) == PAGE
    assert fill_bench.fill(PAGE, {"machine": MACHINE, "sections": {}}, tmp_path) == PAGE


def test_the_picture_is_shown_when_it_is_there(tmp_path: Path) -> None:
    page = "<!-- bench:picture -->\n<!-- /bench:picture -->\n"
    assert fill_bench.fill(page, data(), tmp_path) == page
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bench.svg").write_text("<svg/>")
    shown = fill_bench.fill(page, data(), tmp_path)
    assert "](docs/bench.svg)\n" in shown
    assert fill_bench.fill(shown, data(), tmp_path) == shown


@pytest.mark.parametrize("page", fill_bench.PAGES)
def test_every_page_has_a_place_for_a_section_of_the_bench(page: str) -> None:
    keys = [m[2] for m in fill_bench.PLACE.finditer((ROOT / page).read_text("utf-8"))]
    bench = (ROOT / "bench" / "warm.py").read_text() + (ROOT / "bench" / "fresh.py").read_text()
    assert keys
    assert all(key == "picture" or f'key="{key}"' in bench for key in keys)
