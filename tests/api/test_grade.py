"""grade(): what is passed, what is not, what is not known, and what is said about it."""

from __future__ import annotations

import inspect
import json
import pickle
import random
from typing import Any

import pytest

import csandbox
from csandbox import CallTest, Limits, StdioTest, _check, _errand, _flight, grade
from csandbox._errors import SetupError
from csandbox._grade import Plan
from csandbox._grade_verdicts import ORDER, worst
from csandbox._result import VERDICTS, Result

DOUBLE = "def f(x):\n    return x * 2\n"
ECHO = "print(input())\n"


def failing(monkeypatch: pytest.MonkeyPatch, times: int, how: str = "verdict") -> list[int]:
    """The sandbox fails so many times, then works; the list counts the attempts."""
    real, seen = _errand.carry, [0]

    def carry(errand: _errand.Errand) -> Any:
        seen[0] += 1
        if seen[0] <= times:
            if how == "raises":
                raise SetupError(step="clone", errno=11)
            return Result(verdict="internal_error", error="injected"), []
        return real(errand)

    monkeypatch.setattr(_errand, "carry", carry)
    monkeypatch.setattr(_flight.Flight, "_core_of", lambda *_: None)  # all by carry
    return seen


def test_all_passed() -> None:
    report = grade(DOUBLE, [CallTest("f", [2], 4), CallTest("f", ["a"], "aa")])
    assert report.passed and bool(report) and report.score == 1.0
    assert report.verdict == "accepted" and report.trust == "sound"
    assert [row.id for row in report] == ["1", "2"] and len(report) == 2
    assert report.usage.cpu_s > 0 and report.layers["seccomp"] == "enforced"


def test_a_part_passed_by_weight() -> None:
    tests = [CallTest("f", [2], 4, weight=3), CallTest("f", [2], 5, id="wrong")]
    report = grade(DOUBLE, tests, stop="never")
    assert report.score == 0.75 and not report.passed and report.verdict == "wrong_answer"
    assert dict(report.counts) == {"accepted": 1, "wrong_answer": 1}
    assert grade(DOUBLE, tests, stop="never", weights={"wrong": 9}).score == 0.25
    assert grade(DOUBLE, tests, stop="never", weights=[1, 1]).score == 0.5


@pytest.mark.parametrize(
    ("tests", "options", "word"),
    [
        ([], {}, "no tests"),
        ([CallTest("f", [1], 1, id="a"), CallTest("f", [2], 2, id="a")], {}, "id 'a'"),
        ([CallTest("f", [1], 1, weight=0)], {}, "add up to 0"),
        ([CallTest("f", [1], 1)], {"weights": {"b": 1}}, "no test 'b'"),
        ([CallTest("f", [1], 1)], {"weights": [1, 2]}, "2 numbers for 1"),
        ([CallTest("f", [1], 1)], {"stop": "soon"}, "stop"),
        ([CallTest("f", [1], 1)], {"isolation": "none"}, "isolation"),
        ([CallTest("f", [1], 1)], {"feedback": "all"}, "feedback"),
        ([CallTest("f", [1], 1)], {"compare": "roughly"}, "unknown comparison"),
        ([CallTest("f", [1], 1)], {"compare": "float(rel=1)"}, "below 1"),
        ([CallTest("f", [1], 1)], {"retries": -1}, "retries"),
        ([CallTest("f", [1], 1)], {"total_s": 0}, "total_s"),
    ],
)
def test_wrong_arguments(tests: Any, options: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        grade(DOUBLE, tests, **options)


def test_what_is_expected_must_fit_the_comparison() -> None:
    with pytest.raises(ValueError, match="yes or no"):
        grade(ECHO, [StdioTest("", "maybe", compare="yes_no")])
    with pytest.raises(ValueError, match="JSON"):
        grade(ECHO, [StdioTest("", "{", compare="json")])
    with pytest.raises((TypeError, ValueError), match=r"expected|plain"):
        grade(DOUBLE, [CallTest("f", [1], object())])
    with pytest.raises(ValueError, match="not for a CallTest"):
        CallTest("f", [1], 1, compare="tokens")


def test_wrong_kinds_of_argument() -> None:
    with pytest.raises(TypeError, match="not a test"):
        grade(DOUBLE, ["assert f(1) == 2"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="does nothing would pass"):
        StdioTest("", " \n")
    assert StdioTest("", "", allow_empty=True).expected == ""
    with pytest.raises(ValueError, match="entry"):
        CallTest("__import__('os').system", [1], 1)
    with pytest.raises(ValueError, match="weight"):
        CallTest("f", [1], 1, weight=float("nan"))


def test_exit_status_is_never_a_pass() -> None:
    assert grade("raise SystemExit(0)", [StdioTest("", "1")]).verdict == "wrong_answer"
    report = grade("import sys\nprint(1)\nsys.exit(3)", [StdioTest("", "1")])
    assert report.verdict == "runtime_error" and report.score == 0.0
    early = grade("import sys\nsys.exit(0)\n", [CallTest("f", [1], None)])
    assert early.verdict == "runtime_error"


def test_each_end_has_its_word() -> None:
    cases = {
        "compile_error": "def f(:\n",
        "rejected": "import socket\n",
        "runtime_error": "1/0\n",
        "time_limit": "while True: pass\n",
        "memory_limit": "x = [0] * 10**9\n",
        "output_limit": "while True: print('x' * 10000)\n",
        "wrong_answer": "print(2)\n",
        "presentation": "print(' 1 ')\n",
        "accepted": "print(1)\n",
    }
    limits = Limits(cpu_s=0.5, memory_bytes=64 * csandbox.MiB)
    for word, source in cases.items():
        report = grade(source, [StdioTest("", "1\n")], limits=limits)
        assert report.verdict == word, (word, str(report))


def test_refused_source_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, runs, real = [0], failing(monkeypatch, 0), _check.check_bytes

    def check_bytes(*args: Any) -> Any:
        seen[0] += 1
        return real(*args)

    monkeypatch.setattr(_check, "check_bytes", check_bytes)
    tests = [StdioTest("", "1"), StdioTest("", "2")]
    report = grade("import socket\n", tests, stop="never")
    assert seen == [1] and runs == [0] and dict(report.counts) == {"rejected": 2}
    report = grade("print(1)\n", tests, stop="never")  # and so is one that may run
    assert seen == [2] and dict(report.counts) == {"accepted": 1, "wrong_answer": 1}


@pytest.mark.parametrize("stop", ["first", "never"])
def test_how_many_run_at_once_changes_nothing(stop: str) -> None:
    source = "def f(x):\n    assert x != 7\n    return x if x != 5 else 0\n"
    tests = [CallTest("f", [n], n, id=str(n)) for n in range(10)]
    seed = next(n for n in range(1000) if {5, 7}.isdisjoint(_order_of(10, n)[:4]))
    with csandbox.Pool("contest", workers=4, spares=8) as pool:
        found = []
        for at_once in (1, 2, 20):
            report = grade(source, tests, pool=pool, stop=stop, seed=seed, at_once=at_once)
            found.append([(row.id, row.verdict, row.attempts, row.reason) for row in report])
        assert pool.stats()["running"] == 0
    assert found[0] == found[1] == found[2]
    words = {verdict for _, verdict, _, _ in found[0]}
    assert "accepted" in words and len(words) == 3


def test_what_was_run_ahead_is_ended() -> None:
    source = "import time\ndef f(x):\n    time.sleep(60 if x else 0)\n    return 0\n"
    tests = [CallTest("f", [0], 0, id="1"), CallTest("f", [0], 1), *[CallTest("f", [1], 1)] * 3]
    limits = Limits(cpu_s=5, wall_s=60)
    seed = next(n for n in range(1000) if _order_of(5, n) == [0, 1, 2, 3, 4])
    with csandbox.Pool("contest", workers=4, spares=4) as pool:
        report = grade(source, tests, pool=pool, seed=seed, limits=limits, at_once=5)
        assert pool.stats()["running"] == 0
    assert report.wall_s < 30 and dict(report.counts)["skipped"] == 3


def _order_of(count: int, seed: int) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def test_stop_first_skips_the_rest() -> None:
    tests = [StdioTest(str(n), "x", id=str(n)) for n in range(4)]
    report = grade(ECHO, tests)
    assert dict(report.counts) == {"wrong_answer": 1, "skipped": 3} and report.score == 0.0
    assert all(row.attempts == 0 for row in report if row.verdict == "skipped")


def test_order_is_the_seeds() -> None:
    tests = [StdioTest(str(n), "x", id=str(n)) for n in range(8)]

    def first(seed: int | None) -> str:
        report = grade(ECHO, tests, seed=seed)
        return next(row.id for row in report if row.verdict == "wrong_answer")

    assert first(5) == first(5)
    assert len({first(seed) for seed in range(6)}) > 1
    drawn = grade(ECHO, tests)
    assert first(drawn.seed) == next(r.id for r in drawn if r.verdict == "wrong_answer")


@pytest.mark.parametrize("how", ["verdict", "raises"])
def test_infrastructure_is_tried_again_once(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    seen = failing(monkeypatch, 1, how)
    report = grade(ECHO, [StdioTest("a", "a")])
    assert report.passed and report.score == 1.0 and seen == [2]
    assert report.tests[0].attempts == 2


@pytest.mark.parametrize("how", ["verdict", "raises"])
def test_infrastructure_failure_is_no_score(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    seen = failing(monkeypatch, 9, how)
    report = grade(ECHO, [StdioTest("a", "a"), StdioTest("b", "b", weight=0)], stop="first")
    assert report.score is None and not report.passed and report.verdict == "internal_error"
    assert "no score" in report.summary() and seen == [2]


def test_only_infrastructure_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = failing(monkeypatch, 0)
    assert grade("1/0", [StdioTest("a", "a")], retries=5).score == 0.0
    assert seen == [1]


def test_time_for_all_tests() -> None:
    slow = "import time\ntime.sleep(0.3)\nprint(1)\n"
    tests = [StdioTest(str(n), "1") for n in range(5)]
    report = grade(slow, tests, total_s=0.5, stop="never")
    assert "time_limit" in report.counts and report.wall_s < 3
    assert {row.limit_hit for row in report if row.attempts == 0} <= {"total"}


def test_a_tests_own_limits_and_comparison() -> None:
    slow = "x = 0\nwhile x < 10**9: x += 1\n"
    test = StdioTest("", "1", limits=Limits(cpu_s=0.1))
    assert grade(slow, [test]).tests[0].limit_hit == "cpu"
    assert grade("print('A  b')", [StdioTest("", "a b", compare="case_insensitive")]).passed
    assert grade("def f(): return 1.0000001", [CallTest("f", [], 1, compare="float")]).passed
    assert not grade("def f(): return 1.0", [CallTest("f", [], 1)]).passed


def test_together_in_one_child() -> None:
    source = "calls = []\n\ndef f(x):\n    calls.append(x)\n    return len(calls)\n"
    tests = [CallTest("f", [n], 1) for n in range(3)]
    assert grade(source, tests).passed  # a fresh child each
    report = grade(source, tests, isolation="submission", stop="never")  # a branch each
    assert report.passed and report.isolation == "submission" and report.isolation_note == ""
    mixed = grade(
        DOUBLE + "print('hi')\n",
        [CallTest("f", [2], 4), StdioTest("", "hi\n")],
        isolation="submission",
    )
    assert mixed.passed


def test_a_branch_that_ends_takes_no_other_down() -> None:
    ends = "import os\n\ndef f(x):\n    if x == 1:\n        {}\n    return x\n"
    tests = [CallTest("f", [n], n) for n in range(4)]
    for how, verdict in (
        ("os._exit(0)", "runtime_error"),
        ("os.kill(os.getpid(), 9)", "runtime_error"),
        ("os.kill(os.getppid(), 9)", "runtime_error"),
        ("while True: pass", "time_limit"),
        ("print('x' * 20_000_000)", "output_limit"),
    ):
        report = grade(
            ends.format(how), tests, isolation="submission", stop="never", profile="open",
            limits={"cpu_s": 1},
        )  # fmt: skip
        assert [row.verdict for row in report] == ["accepted", verdict, "accepted", "accepted"]
        assert report.isolation == "submission", report.isolation_note


def test_a_branch_leaves_nothing_to_the_next() -> None:
    """State of every kind that a call can leave: it is the first one each time."""
    source = """
import functools, os, sys
seen = []
os.makedirs("d", exist_ok=True)

@functools.lru_cache
def cached(): return len(seen)

def f(x, default=[]):
    seen.append(x); default.append(x); f.count = getattr(f, "count", 0) + 1
    sys.modules[str(x)] = sys; os.environ[f"V{x}"] = "1"
    open(f"d/{x}", "w").close()
    open("log", "a").write("x")
    return [len(seen), len(default), f.count, sum(n.isdigit() for n in sys.modules),
            sum(n.startswith("V") for n in os.environ if n[1:].isdigit()), cached(),
            len(os.listdir("d")), os.path.getsize("log")]
"""
    tests = [CallTest("f", [n], [1] * 8) for n in range(5)]
    for isolation in ("test", "submission"):
        report = grade(source, tests, isolation=isolation, stop="never", profile="open")
        assert report.passed, report.to_dict()
        assert report.isolation == isolation


def test_executed_once_and_told_with_every_test() -> None:
    """Output of loading belongs to each test, as with a child each; random goes on alike."""
    source = (
        "import random, time\nprint('loaded', flush=True)\nprint('rest', end='')\n"
        "token = time.perf_counter_ns(), random.random()\ndef f(): return token\n"
    )
    seen: list[object] = []

    def checker(answer: csandbox.Answer) -> bool:
        seen.append(answer.value)
        return answer.stdout == "loaded\nrest"

    tests = [csandbox.CheckerTest(checker, call=csandbox.Call("f")) for _ in range(4)]
    report = grade(source, tests, isolation="submission", profile="open")
    assert report.passed and len(set(map(str, seen))) == 1
    assert grade(source, tests, profile="open").passed and len(set(map(str, seen))) == 5


@pytest.mark.parametrize(
    ("at_import", "why"),
    [
        ("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()",
         "2 threads"),
        ("kept = open('f', 'w')", "1 open files"),
        ("import mmap\nm = mmap.mmap(-1, 4096)", "shared memory"),
    ],
)  # fmt: skip
def test_what_cannot_be_branched_has_a_child_each(at_import: str, why: str) -> None:
    source = at_import + "\nseen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)\n"
    tests = [CallTest("f", [n], 1) for n in range(3)]
    report = grade(source, tests, isolation="submission", profile="open")
    assert report.passed and report.isolation == "test" and why in report.isolation_note
    assert report.to_dict()["isolation_note"] == report.isolation_note


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("def f(x):", "compile_error"),
        ("import socket\ndef f(x): return x", "rejected"),
        ("1 / 0", "runtime_error"),
        ("import sys\nsys.exit(0)", "runtime_error"),
        ("while True: pass", "time_limit"),
        ("x = 'x' * (1 << 40)", "memory_limit"),
    ],
)
def test_what_does_not_load_is_judged_as_with_a_child_each(source: str, verdict: str) -> None:
    tests = [CallTest("f", [1], 1), CallTest("f", [2], 2)]
    said = [
        [row.verdict for row in grade(source, tests, isolation=i, limits={"cpu_s": 1}, seed=1)]
        for i in ("test", "submission")
    ]
    assert said[0] == said[1] and verdict in said[0]


def test_report_is_plain_frozen_and_safe_to_show() -> None:
    report = grade(
        "print('<b>\\x1b[31m')", [StdioTest("", "<i>", id="<script>\x1b")], feedback="full"
    )
    again = pickle.loads(pickle.dumps(report))
    assert again == report and json.loads(json.dumps(report.to_dict()))["score"] == 0.0
    assert "\x1b" not in str(report) + report.feedback + repr(report)
    assert "<script>" not in report._repr_html_() and "&lt;script&gt;" in report._repr_html_()
    assert repr(report) == str(report)
    with pytest.raises(AttributeError):
        report.score = 1.0  # type: ignore[misc]


def test_every_verdict_has_a_rank() -> None:
    assert set(VERDICTS) <= set(ORDER)
    assert worst(["accepted", "internal_error", "wrong_answer"]) == "internal_error"


def test_a_plan_takes_what_grade_takes() -> None:
    """They are written down twice, for people who read the one; they may not differ."""
    own = list(inspect.signature(grade).parameters.values())
    assert own == list(inspect.signature(Plan.make).parameters.values())
