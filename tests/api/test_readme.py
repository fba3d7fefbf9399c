"""README.md says what there is: targets, profile, verdicts, links.

Its blocks are executed by tests/docs/test_pages_run.py, as those of every page are.
"""

from __future__ import annotations

import re
from pathlib import Path

import csandbox

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [
    (match[1], PAGE.count("\n", 0, match.start()) + 1, match[2])
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
]


def blocks(language: str) -> list[tuple[int, str]]:
    """(line of the page, text) of each block in that language."""
    return [(line, text) for name, line, text in BLOCKS if name == language]


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    assert {name for name, _, _ in BLOCKS} == {"pycon", "console", "sh", "toml"}


def test_the_first_screen_has_ten_lines_of_code() -> None:
    line, text = blocks("pycon")[0]
    assert line <= 10
    assert 6 <= text.count(">>> ") <= 10


def test_the_targets_of_make_exist() -> None:
    named = re.findall(r"\bmake (\w+)", PAGE)
    there = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(named) <= set(there)
    assert {"demo", "test"} <= set(named)


def test_the_profile_is_one(tmp_path: Path) -> None:
    for _, text in blocks("toml"):
        (tmp_path / "mine.toml").write_text(text)
        profile = csandbox.Profile.load(tmp_path / "mine.toml")
        assert csandbox.check("import networkx, numpy", profile=profile).ok


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / target).exists(), target


def test_every_verdict_is_explained() -> None:
    from csandbox._result import VERDICTS

    explained = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(explained) == sorted([*VERDICTS, "verdict"])
