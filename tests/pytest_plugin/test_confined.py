"""Whole test functions inside the sandbox."""

from __future__ import annotations

import pytest

from csandbox_pytest.slicing import sliced

PLAIN = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--csandbox-workers=1")
MODULE = '''\
"""A module."""
from __future__ import annotations
import math
import subprocess
import pytest

LIMIT = 3
OTHER = subprocess.run

def helper(n):
    return math.floor(n) + LIMIT

@pytest.mark.parametrize(
    "n", [1.5, 2.5],
)
@pytest.mark.confined
def test_it(n):
    assert helper(n) == 9
'''


def test_a_slice_keeps_lines_and_leaves_out_what_is_not_used() -> None:
    text = sliced(MODULE, ["test_it"])
    assert len(text.split("\n")) == len(MODULE.split("\n"))
    assert "subprocess" not in text and "pytest" not in text
    assert text.split("\n")[16].startswith("def test_it")
    names: dict[str, object] = {}
    exec(compile(text, "slice", "exec"), names)
    with pytest.raises(AssertionError, match=r"^4 == 9$"):
        names["test_it"](1.5)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("assert (1 + 1) * 2 == (3)", "4 == 3"),
        ("assert (1 == 2)", "1 == 2"),
        ("assert 'ä' in ['ö']", "'ä' in ['ö']"),
        ("assert [x for x in (1,)] != [1]", "[1] != [1]"),
        ("assert 1 < 2 < 1", ""),
        ("assert not 1 == 1", ""),
        ("assert 1 == 2, 'own words'", "own words"),
        ("assert (1\n      == 2\n)", "1 == 2"),
        ("assert 1 == 2; x = 1", "1 == 2"),
    ],
)
def test_comparisons_say_their_sides(line: str, said: str) -> None:
    indented = line.replace("\n", "\n    ")
    names: dict[str, object] = {}
    exec(sliced(f"def test_it():\n    {indented}\n", ["test_it"]), names)
    with pytest.raises(AssertionError) as caught:
        names["test_it"]()  # type: ignore[operator]
    assert str(caught.value) == said


def test_confined_items(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        r"""
        import os
        import pytest

        BASE = 40

        def add(n):
            return BASE + n

        @pytest.mark.confined
        def test_passes():
            assert add(2) == 42

        @pytest.mark.parametrize("n", [1, 2])
        @pytest.mark.confined(profile="contest", cpu_s=1)
        def test_parameters(n):
            assert add(n) == 41

        @pytest.mark.confined
        class TestMethods:
            def test_method(self):
                assert self.__class__.__name__ == "TestMethods"

        @pytest.mark.confined
        def test_cannot_reach_out():
            try:
                open("LEAK", "w").write("x")
                os.mkdir("/LEAK-csandbox")
            except OSError:
                return
            raise AssertionError("it could")

        @pytest.mark.confined(cpu_s=0.3)
        def test_endless():
            while True:
                pass

        @pytest.mark.confined
        def test_refused():
            import socket

        @pytest.mark.confined
        def test_no_plain_data(tmp_path):
            pass

        @pytest.mark.confined
        def test_leaves():
            raise SystemExit(0)
        """,
    )
    done = pytester.runpytest_inprocess(*PLAIN, "-rA")
    done.assert_outcomes(passed=4, failed=5)
    text = done.stdout.str()
    assert "E" in text and "AssertionError: 42 == 41" in text
    assert 'test_confined_items.py", line 16, in test_parameters' in text
    assert "out of CPU time" in text
    assert "error[CSB101]: import of `socket`" in text
    assert "the argument tmp_path cannot go into the sandbox" in text
    done.stdout.fnmatch_lines(["csandbox: 4 confined tests passed by their own word (trust: weak)"])
    assert not list(pytester.path.rglob("LEAK"))


def test_trust_is_in_the_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest\n"
        "@pytest.mark.confined\n"
        "def test_weak(): pass\n"
        "@pytest.mark.confined(cpu_s=0.2)\n"
        "def test_sound():\n"
        "    while True: pass\n"
    )
    reports = pytester.inline_run(*PLAIN).getreports("pytest_runtest_logreport")
    trust = {r.nodeid.rpartition("::")[2]: r.user_properties for r in reports if r.when == "call"}
    assert trust == {
        "test_weak": [("csandbox_trust", "weak")],
        "test_sound": [("csandbox_trust", "sound")],
    }
