"""The reference names everything that is public, and the index leads to every page."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import csandbox
from csandbox._cli.explain import _entries
from csandbox._result import _LIMIT_CODES, _VERDICT_CODES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
CONSTANTS = {"KiB", "MiB", "GiB", "__version__"}


def from_code() -> ModuleType:
    """The Sphinx extension; `make docs` has an environment of its own, so it may be missing."""
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("from_code", DOCS / "_ext" / "from_code.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_is_in_the_reference_once() -> None:
    text = "".join(path.read_text("utf-8") for path in DOCS.glob("reference/*.md"))
    named = re.findall(r"^\.\. auto(?:function|class|exception):: (\w+)", text, re.MULTILINE)
    assert sorted(named) == sorted(set(csandbox.__all__) - CONSTANTS)


def test_the_index_leads_to_every_page() -> None:
    pages = {str(p.relative_to(DOCS).with_suffix("")) for p in DOCS.glob("**/*.md")} - {"index"}
    listed: set[str] = set()
    for path in [DOCS / "index.md", *DOCS.glob("*/*.md")]:
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text("utf-8"), re.DOTALL):
            for entry in re.findall(r"^(?!:)(\S+)$", tree, re.MULTILINE):
                found = list(path.parent.glob(f"{entry}.md"))
                assert found, f"{path.relative_to(ROOT)}: {entry}"
                listed |= {str(p.resolve().relative_to(DOCS).with_suffix("")) for p in found}
    assert listed == pages


def test_no_page_is_empty_or_very_long() -> None:
    for path in DOCS.glob("**/*.md"):
        assert 3 <= len(path.read_text("utf-8").splitlines()) <= 300, path


def test_every_verdict_has_a_page_behind_its_code() -> None:
    assert {*_VERDICT_CODES.values(), *_LIMIT_CODES.values()} <= set(_entries())


def test_values_in_the_table_of_profiles() -> None:
    shown = from_code().shown
    assert [shown(v) for v in (True, 256 << 20, ["a", "b"], [], 0.5, "x")] == [
        "yes", "256 MiB", "a b", "none", "0.5", "x",
    ]  # fmt: skip
    assert shown(["long name"] * 20) == "20 names"


def test_every_key_is_in_each_profile() -> None:
    flat = from_code().flat
    keys = {name: set(flat(csandbox.Profile.load(name).to_dict())) for name in ("minimal", "open")}
    assert keys["minimal"] == keys["open"] and "limits.cpu_s" in keys["open"]
