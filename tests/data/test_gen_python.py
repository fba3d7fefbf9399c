"""profiles/*.toml and docs/rules/*.md become the Python modules that run time reads."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import gen_python
import pytest

ROOT = Path(__file__).resolve().parents[2]

PROFILE = """
# a comment that a reader of the copy wants
name = "strict"
limits = { cpu_s = 1.5, threads = 1 }
allow = ["a", 'b"\\']
on = true
text = \"\"\"
two
lines ☃\"\"\"
"""


def values(source: str) -> dict[str, Any]:
    """Assigned literals of a module, without running it."""
    return {
        node.target.id: ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value
    }


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("csandbox", "profiles", "docs/rules"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def test_profiles_keep_their_values_and_their_text(tree: Path) -> None:
    (tree / "profiles" / "strict.toml").write_text(PROFILE, encoding="utf-8")
    found = values(gen_python.profiles_module(tree / "profiles"))
    assert found["PROFILES"] == {
        "strict": {
            "name": "strict",
            "limits": {"cpu_s": 1.5, "threads": 1},
            "allow": ["a", 'b"\\'],
            "on": True,
            "text": "two\nlines ☃",
        }
    }
    assert found["SOURCES"] == {"strict": PROFILE}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a = ", "bad.toml: not valid TOML"),
        ("when = 2026-01-01", r"bad.toml: when: .*date"),
        ("n = { m = [inf] }", r"bad.toml: n: m: inf is not"),
        ('name = "good"', "bad.toml: its name is 'good'; it must be 'bad'"),
    ],
)
def test_a_profile_that_cannot_be_used_is_named(tree: Path, text: str, complaint: str) -> None:
    (tree / "profiles" / "bad.toml").write_text(text)
    with pytest.raises(gen_python.GenerateError, match=complaint):
        gen_python.profiles_module(tree / "profiles")


def test_only_pages_of_codes_are_taken(tree: Path) -> None:
    for name in ("CSB101", "CSR001", "README", "CSB10", "XCSB101"):
        (tree / "docs" / "rules" / f"{name}.md").write_text(f"# {name}\n")
    pages = values(gen_python.pages_module(tree / "docs" / "rules"))["PAGES"]
    assert pages == {"CSB101": "# CSB101\n", "CSR001": "# CSR001\n"}


def test_a_module_is_written_only_when_it_changes(tree: Path) -> None:
    assert len(gen_python.generate(tree)) == 3
    assert gen_python.generate(tree) == []
    (tree / "docs" / "rules" / "CSB101.md").write_text("# new\n")
    assert gen_python.generate(tree) == [tree / "csandbox" / "_rule_pages.py"]


def test_what_is_installed_is_what_the_tree_says() -> None:
    from csandbox import _builtin_profiles, _rule_pages

    folder = ROOT / "profiles"
    sources = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.toml")}
    assert sources == _builtin_profiles.SOURCES
    assert set(_builtin_profiles.PROFILES) == set(sources)
    pages = {path.stem for path in (ROOT / "docs" / "rules").glob("CS[BR][0-9][0-9][0-9].md")}
    assert set(_rule_pages.PAGES) == pages
