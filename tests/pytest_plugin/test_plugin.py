"""The pytest plugin, driven by pytest's own pytester."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Hypothesis' plugin imports all of it at the end of every run.
PLAIN = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--csandbox-workers=1")
PRELUDE = "import csandbox\nimport pytest\n"


def outcome(pytester: pytest.Pytester, source: str, *args: str) -> pytest.RunResult:
    pytester.makepyfile(PRELUDE + source)
    return pytester.runpytest_inprocess(*PLAIN, "--strict-markers", "-rs", *args)


def test_fixtures_run_call_and_grade(pytester: pytest.Pytester) -> None:
    done = outcome(
        pytester,
        """
        def test_run(sandbox):
            assert sandbox.run("print(input())", stdin="hello").stdout == "hello\\n"

        def test_call(sandbox):
            assert sandbox.call("def f(n): return n * 2", "f", [21]).value == 42

        def test_grade(sandbox):
            tests = [csandbox.CallTest("f", [n], expected=n + 1) for n in range(3)]
            assert sandbox.grade("def f(n): return n + 1", tests)
            assert not sandbox.grade("def f(n): return n", tests)

        @pytest.fixture(scope="module")
        def wide(csandbox_pool):
            return csandbox_pool.run("print(7)").stdout

        def test_pool_of_wider_scope(wide):
            assert wide == "7\\n"

        def test_session(sandbox_session):
            sandbox_session.run("x = 20")
            assert sandbox_session.run("x + 22").value_repr == "42"
        """.replace("\n        ", "\n"),
    )
    done.assert_outcomes(passed=5)


def test_marker_and_options_set_profile_and_limits(pytester: pytest.Pytester) -> None:
    done = outcome(
        pytester,
        """
        def test_options(sandbox):
            assert sandbox.profile.name == "minimal"
            result = sandbox.run("while True: pass")
            assert result.limit_hit == "cpu" and result.usage.cpu_s < 2

        @pytest.mark.csandbox(profile="compute", memory_bytes=64 * csandbox.MiB)
        class TestMarked:
            def test_memory(self, sandbox):
                assert sandbox.profile.name == "compute"
                assert sandbox.run("x = bytearray(200_000_000)").verdict in (
                    "memory_limit", "runtime_error")

            @pytest.mark.csandbox(profile="contest")
            def test_nearest_wins(self, sandbox):
                assert sandbox.profile.name == "contest"
                assert sandbox.limits == {"memory_bytes": 64 * csandbox.MiB}
        """.replace("\n        ", "\n"),
        "--csandbox-profile=minimal",
        "--csandbox-cpu=300ms",
    )
    done.assert_outcomes(passed=3)


def test_ini_options_and_wrong_words(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ncsandbox_profile = minimal\ncsandbox_memory = 64MiB\n")
    source = """
        def test_it(sandbox):
            assert sandbox.profile.name == "minimal"
            assert sandbox._pools.limits == {"memory_bytes": 64 * 2**20}

        @pytest.mark.csandbox(cpus=3)
        def test_wrong_word(sandbox):
            pass
    """.replace("\n        ", "\n")
    done = outcome(pytester, source)
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["*@pytest.mark.csandbox: *cpus*"])
    done = outcome(pytester, source, "--csandbox-cpu=fast", "-k", "test_it")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*--csandbox-cpu: *fast*"])


def test_failures_show_what_the_sandbox_saw(pytester: pytest.Pytester) -> None:
    done = outcome(
        pytester,
        r"""
        def test_raised(sandbox):
            result = sandbox.run("import sys\nprint('\\x1b[2J', file=sys.stderr)\n1 / 0")
            assert result.ok

        def test_refused(sandbox):
            assert sandbox.run("import socket").ok

        def test_own_call():
            result = csandbox.run("raise SystemExit(3)", fresh=True)
            assert result == "accepted"

        def test_graded(sandbox):
            assert sandbox.grade("def f(): return 2", [csandbox.CallTest("f", expected=1)])
        """.replace("\n        ", "\n"),
    )
    done.assert_outcomes(failed=4)
    text = done.stdout.str()
    assert "csandbox: run 1 of 1: runtime_error" in text
    assert "ZeroDivisionError" in text
    assert "\x1b[2J" not in text and "\\x1b[2J" in text
    assert "error[CSB101]: import of `socket`" in text and "^^^^^^" in text
    assert "perhaps its .verdict was meant" in text and "exit code 3" in text
    assert "csandbox: run 1 of 1: wrong_answer" in text


SUBMISSIONS = """
def test_area(submission):
    assert submission.call("area", (2, 3)).value == 6

def test_is_clean(submission):
    assert submission.check().ok
"""


@pytest.fixture
def handed_in(pytester: pytest.Pytester) -> None:
    folder = pytester.mkdir("handed_in")
    (folder / "ada.py").write_text("def area(a, b): return a * b\n")
    (folder / "bob.py").write_text("def area(a, b): return a + b\n")
    (folder / "eve.py").write_text("import os\nos.mkdir('LEAK')\ndef area(a, b): return 6\n")


@pytest.mark.usefixtures("handed_in")
def test_submissions(pytester: pytest.Pytester) -> None:
    done = outcome(pytester, SUBMISSIONS, "-v", "--csandbox-submissions=handed_in/*.py")
    done.stdout.fnmatch_lines(
        [
            "*test_area?handed_in/ada.py? PASSED*",
            "*test_area?handed_in/bob.py? FAILED*",
            "*test_is_clean?handed_in/bob.py? PASSED*",
        ]
    )
    assert not list(pytester.path.rglob("LEAK"))


def test_no_submissions_is_a_failure(pytester: pytest.Pytester) -> None:
    done = outcome(pytester, SUBMISSIONS)
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["*there are no submissions*--csandbox-submissions GLOB*"])
    done = outcome(pytester, SUBMISSIONS, "--csandbox-submissions=none/*.py")
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["*no file matches 'none/[*].py'*"])


def test_a_fixture_of_ones_own_is_left_alone(pytester: pytest.Pytester) -> None:
    source = "@pytest.fixture\ndef submission():\n    return 5\n"
    done = outcome(pytester, source + "def test_own(submission):\n    assert submission == 5\n")
    done.assert_outcomes(passed=1)


@pytest.mark.usefixtures("handed_in")
def test_xdist(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        PRELUDE
        + SUBMISSIONS
        + "def test_workers(csandbox_pool):\n"
        + "    import os\n"
        + "    assert csandbox_pool.workers == max(1, len(os.sched_getaffinity(0)) // 2)\n"
    )
    done = pytester.runpytest_subprocess("-n2", *PLAIN[:4], "--csandbox-submissions=handed_in/*.py")
    done.assert_outcomes(passed=6, failed=1)
    done.stdout.fnmatch_lines(["*csandbox: run 1 of 1: accepted*"])


@pytest.mark.parametrize("what", ["skip", "fail"])
def test_where_nothing_can_be_confined(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    import csandbox

    def cannot(*args: object, **more: object) -> None:
        raise csandbox.UnsupportedError(feature="landlock", message="this kernel has no Landlock")

    monkeypatch.setattr(csandbox, "Pool", cannot)
    done = outcome(
        pytester,
        "def test_a(sandbox): pass\ndef test_b(sandbox_session): pass\n"
        "@pytest.mark.confined\ndef test_c(): pass\n",
        f"--csandbox-missing={what}",
    )
    done.stdout.fnmatch_lines(["*csandbox cannot confine code here: this kernel has no Landlock*"])
    if what == "skip":
        done.assert_outcomes(skipped=3)
        done.stdout.fnmatch_lines(["*csandbox: NOT TESTED*", "3 tests were skipped*"])
    else:
        counts = done.parseoutcomes()
        assert counts.get("errors", 0) + counts.get("failed", 0) == 3
        assert "passed" not in counts


def test_costs_nothing_where_it_is_not_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\n"
        "def test_it():\n"
        "    assert 'csandbox_pytest' in sys.modules\n"
        "    ours = [n for n in sys.modules if n.partition('.')[0] == 'csandbox']\n"
        "    assert ours == []\n"
        "    assert [n for n in sys.modules if n.startswith('csandbox_pytest.')] "
        "== ['csandbox_pytest.options']\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", *PLAIN[:4], str(pytester.path)]
    environment = {name: v for name, v in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout
