"""SECURITY.md says what the code and the tests say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from csandbox._schema import FEATURES

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "SECURITY.md").read_text()
ATTACKS = sorted((ROOT / "tests" / "escape" / "attacks").glob("*.txt"))
KERNEL = sorted((ROOT / "tests" / "kernel").glob("test_*.py"))


def rows() -> dict[str, list[str]]:
    """The table of layers: name in backticks -> cells."""
    table = TEXT.partition("## The layers")[2].partition("**Limits**")[0]
    found = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = re.match(r"`(\w+)`", cells[0])
        if name:
            found[name[1]] = cells
    return found


def in_the_way(path: Path) -> list[str]:
    found = re.search(r"^# layers: (.*)$", path.read_text(), re.MULTILINE)
    return [] if found is None else [name for name in found[1].split() if name != "none"]


def test_the_table_has_a_row_for_each_layer_and_no_other() -> None:
    assert sorted(rows()) == sorted(FEATURES)


@pytest.mark.parametrize("layer", FEATURES)
def test_a_row_says_what_is_stopped_and_what_holds_when_it_fails(layer: str) -> None:
    _, stops, _, if_it_fails = rows()[layer]
    assert len(stops) > 10
    assert len(if_it_fails) > 5


@pytest.mark.parametrize("layer", FEATURES)
def test_each_layer_has_an_attack_that_it_stops(layer: str) -> None:
    """In the attacks' headers, taken out in a test of tests/kernel, or with a file there."""
    attacks = [path.stem for path in ATTACKS if layer in in_the_way(path)]
    taken_out = [p for p in KERNEL if re.search(rf'without=\[[^\]]*"{layer}"', p.read_text())]
    own_file = (ROOT / "tests" / "kernel" / f"test_{layer}.py").exists()
    assert attacks or taken_out or own_file, layer


def test_attacks_name_layers_that_exist() -> None:
    for path in ATTACKS:
        assert set(in_the_way(path)) <= set(FEATURES), path.name


def test_what_it_points_to_exists() -> None:
    for name in re.findall(r"`((?:tests|ext|bench|tools|docs)/[\w./-]+)`", TEXT):
        assert (ROOT / name).exists(), name
    for target in re.findall(r"\]\((docs/[^)#]+)\)", TEXT):
        assert (ROOT / target).exists(), target
