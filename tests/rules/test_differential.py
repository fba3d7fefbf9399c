"""The parser and CPython see the same: a sample of real files, the corpus, and what was found.

``make differential`` looks at all files and hunts for new differences.
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest

import csandbox

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import diff_hunt  # noqa: E402
import differential  # noqa: E402

CONFIG = differential.guard()
PAGE = (ROOT / "docs" / "explanation" / "parser-differences.md").read_text("utf-8")
STRICT = csandbox.Profile.load("contest").replace(guard={"builtins_allow": []})


def strict(source: str) -> set[str]:
    """Codes that block where no builtin is lifted."""
    return {
        found.code for found in csandbox.check(source, profile=STRICT) if found.severity == "error"
    }


def unexplained(outcomes: dict[str, differential.Outcome]) -> dict[str, list[str]]:
    return {name: one.detail for name, one in outcomes.items() if one.verdict == "unexplained"}


def judged(path: Path, share: float) -> dict[str, differential.Outcome]:
    found = differential.sources([path], share, random.Random(20))
    return {name: outcome for name, _, outcome in differential.judged(found, 1)}


def test_a_sample_of_the_standard_library_and_packages_is_seen_alike() -> None:
    for folder in differential.default_paths()[:2]:
        outcomes = judged(folder, 0.003)
        assert unexplained(outcomes) == {}
        assert sum(one.verdict == "same" for one in outcomes.values()) > 2


def test_the_corpus_of_differences_is_explained_or_refused() -> None:
    outcomes = judged(ROOT / "tests" / "rules" / "differentials.jsonl", 1)
    assert len(outcomes) == 227
    assert unexplained(outcomes) == {}


@pytest.mark.parametrize("kind", differential.EXPLANATIONS)
def test_each_explained_kind_has_an_example_that_is_of_that_kind(kind: str) -> None:
    row = re.search(rf"^\| `{kind}` \| `(.*?)` \|", PAGE, re.MULTILINE)
    assert row is not None
    outcome = differential.judge(CONFIG, row[1].encode())
    assert (outcome.verdict, outcome.kinds) == ("explained", [kind])


def test_the_hunt_starts_and_ends_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    found = differential.hunt(CONFIG, [b"import a\nx = f'{a}'\n"], 1.0, 7)
    assert "hunt: " in capsys.readouterr().out
    assert all(differential.judge(CONFIG, one).verdict == "unexplained" for one in found.values())


def test_a_difference_is_found_and_made_small() -> None:
    """The comparison can fail, and the minimiser keeps what matters."""
    source = b"import a\nb = c.d(e)\nf(g)\n"

    def interesting(text: bytes) -> bool:
        read = differential.compiled(text.decode())
        if read is None:
            return False
        seen = differential._core.view(text)
        seen["attributes"] = []  # as if the walk had overlooked them
        cpython = differential.diff_views.of_tree(read[0])
        return differential.compared(text, cpython, seen).verdict == "unexplained"

    assert interesting(source)
    small = diff_hunt.minimised(source, interesting, float("inf"))
    assert interesting(small)
    assert len(small) <= 8


def test_the_view_is_the_walks() -> None:
    seen = differential._core.view(
        b"import os.path as p, a\nfrom .b import c as d, e\nfrom q import *\n"
        b"@f(1)\ndef g(h=i.j, *k: l): return m.n(o, p=q)[r] + b'\\xff' 'x'\n"
        b"match s:\n case T(u=1, v=W.x): y += 1\nf'a{z!r:>{w}b}{{' 'c'\nf'{x = }'\n"
    )
    assert seen["imports"] == ["os.path", "a", "", ".c", ".e", "q", "*"]
    assert sorted(seen["attributes"]) == ["j", "n", "u", "v", "x"]
    assert seen["calls"] == ["f", "n"]
    assert "y" not in seen["names"]
    assert {"z", "w", "T", "W", "s", "o", "q", "r", "i", "l"} <= set(seen["names"])
    assert {"a{c", ">b", "x = "} <= set(seen["strings"])


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ('def f():\n    f"{eval:=10}"\n    return eval("1")\nf()', "CSB301"),
        ('from operator import attrgetter as a\nprint((a)("__class__")(1))', "CSB203"),
        ('from operator import attrgetter as a\nfor i in *a("__class__")(1),: pass', "CSB203"),
        ('import operator\nfor i in *operator.attrgetter("__class__")(1),: pass', "CSB203"),
        ('import operator\nprint((operator.attrgetter)("__class__")(1))', "CSB203"),
        ('for i in *getattr(1, "__class__"),: pass', "CSB203"),
    ],
)
def test_what_the_comparison_found_is_refused(source: str, code: str) -> None:
    assert code in strict(source)


def test_names_that_cpython_makes_up_refuse_nothing() -> None:
    long = "f'" + "".join(f"{{x}}{n}" for n in range(40)) + "'"
    outcome = differential.judge(CONFIG, f"x = 1\nprint({long})\n".encode())
    assert outcome.verdict == "same"


def test_a_second_opinion_is_not_asked_about_what_it_cannot_help() -> None:
    checked = differential._core.check(CONFIG, b"\xff", "x.py")
    with pytest.raises(ValueError, match="second opinion"):
        differential._core.compare(checked["checked"], b"")
