"""The calls of one child: what counts when the child ends in the middle."""

from __future__ import annotations

from csandbox import Call, CallTest, Limits, Profile, grade
from csandbox._calls import call_all

CONTEST = Profile.load("contest")


def test_answers_before_the_end_count() -> None:
    source = "def f(x):\n    while x == 2:\n        pass\n    return x\n"
    calls = [Call("f", [n]) for n in range(5)]
    outcomes = call_all(source, calls, profile=CONTEST, limits=Limits(cpu_s=0.3))
    words = [outcome.verdict for outcome in outcomes]
    assert words == ["accepted", "accepted", "time_limit", "time_limit", "time_limit"]
    assert [outcome.value for outcome in outcomes[:2]] == [0, 1]
    assert outcomes[1].usage.cpu_s < 0.2 <= outcomes[2].usage.cpu_s


def test_an_exception_ends_one_call() -> None:
    source = "def f(x):\n    return 10 // x\n"
    tests = [CallTest("f", [n], 10 // n if n else 0) for n in (5, 0, 2)]
    report = grade(source, tests, isolation="submission", stop="never")
    assert [row.verdict for row in report] == ["accepted", "runtime_error", "accepted"]


def test_adapters_reach_the_call() -> None:
    source = (
        "class Solution:\n    def last(self, head):\n"
        "        while head.next:\n            head = head.next\n        return head.val\n"
    )
    test = CallTest("Solution().last", [[1, 2, 3]], 3, adapters={0: "ListNode"})
    assert grade(source, [test]).passed
