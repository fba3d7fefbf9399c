"""audit_task(): good tests are let pass, and each kind of bad test is named."""

from __future__ import annotations

import json

from csandbox import CallTest, Limits, StdioTest, audit_task, load_asserts
from csandbox._task_audit_programs import programs
from csandbox._task_audit_report import CODES, AuditReport

FAST = Limits(cpu_s=0.3)


def codes(report: AuditReport) -> set[str]:
    return {finding.code for finding in report.findings}


def test_a_sound_task() -> None:
    report = audit_task(
        load_asserts("assert f(3, 4) == 7\nassert f(10, -2) == 8\n", "f"),
        reference="def f(a, b):\n    return a + b\n",
        right={"other": "def f(a, b):\n    return sum([a, b])\n"},
        wrong={"minus": "def f(a, b):\n    return a - b\n"},
        limits=FAST,
    )
    assert report.ok and report.findings == () and report.accepted == ()
    assert report.programs > 25 and report.cpu_margin is not None and report.cpu_margin > 2
    assert set(report.discriminates.values()) == {report.programs}
    json.dumps(report.to_dict())


def test_weak_tests_are_named() -> None:
    report = audit_task([CallTest("f", [1], None, id="nothing")], limits=FAST)
    assert not report.ok and codes(report) == {"accepts"}
    assert "gives None" in report.accepted and "error" in str(report)
    truthy = audit_task(load_asserts("assert f(1)\n", "f"), limits=FAST)
    assert "gives True" in truthy.accepted and "always equal (int)" not in truthy.accepted


def test_tests_that_say_little() -> None:
    tests = [
        CallTest("f", [1], True, id="a"),
        CallTest("f", [1], True, id="b"),
        CallTest("f", [2], 5, id="c"),
    ]
    found = audit_task(tests, reference="def f(x):\n    return [True, 5][x - 1]\n", limits=FAST)
    assert found.ok and codes(found) == {"double", "most-pass-by"}


def test_two_answers() -> None:
    tests = [StdioTest("1\n", "2\n", id="a"), StdioTest("1\n", "3\n", id="b")]
    report = audit_task(tests, reference="print(int(input()) + 1)\n", limits=FAST, repeat=1)
    assert not report.ok and {"two-answers", "reference-fails"} <= codes(report)
    one_of_many = audit_task(
        [StdioTest("6\n", "2\n")],
        reference="print(2)\n",
        right={"three": "print(3)\n"},
        limits=FAST,
        repeat=1,
    )
    assert codes(one_of_many) == {"two-answers"} and one_of_many.ok


def test_flaky_and_slow_references() -> None:
    tests = [StdioTest("1\n", "1\n") for _ in range(1)]
    flaky = "import os\nprint(1 if os.urandom(1)[0] % 2 else 2)\n"
    report = audit_task(tests, reference=flaky, limits=FAST, repeat=12)
    assert "flaky" in codes(report)
    spin = "import time\nwhile time.process_time() < 0.7: pass\nprint(1)\n"
    assert "slow" in codes(audit_task(tests, reference=spin, limits=Limits(cpu_s=1), repeat=1))


def test_the_kit() -> None:
    for entry in (None, "f", "Solution().method", "Solution.method"):
        names = [program.name for program in programs(entry)]
        assert len(names) == len(set(names)) >= 25
        for program in programs(entry):
            compile(program.source, program.name, "exec")
    assert all(code == code.lower() for code in CODES)
