"""One test against one submission: run it, and hold what came against what was expected."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from csandbox._calls import Outcome, call_steps
from csandbox._check import Checks, source_bytes
from csandbox._compare import (
    TEXT,
    VALUE,
    Difference,
    compare_output,
    compare_values,
    known_comparison,
)
from csandbox._errand import Errand, Steps
from csandbox._grade_checker import check_given, judged
from csandbox._grade_clock import Clock
from csandbox._grade_report import added
from csandbox._grade_tests import (
    Answer,
    AnyTest,
    Call,
    CallTest,
    CheckerTest,
    InProcessTest,
    PropertyTest,
    RoundTripTest,
    StdioTest,
)
from csandbox._limits import Limits
from csandbox._profile import Profile
from csandbox._result import Result, Usage

if TYPE_CHECKING:
    from csandbox._grade_branch import Branches
    from csandbox._pool import Pool


@dataclass(frozen=True)
class Judgement:
    """All that is known of one test; `_grade_feedback` decides what is shown of it."""

    verdict: str
    results: tuple[Result, ...]
    reason: str = ""  # may hold data
    plain_reason: str = ""  # never holds data
    input: str = ""
    value: str = ""
    difference: Difference | None = None
    spent: tuple[Usage, ...] | None = None  # None: what the runs used

    @property
    def usage(self) -> Usage:
        """The times of its calls or runs added, and the largest memory."""
        used = self.spent if self.spent is not None else [r.usage for r in self.results]
        return added(used)


@dataclass(frozen=True)
class Setting:
    """What is the same for every test of one grading."""

    source: str | bytes
    profile: Profile
    compare: str
    clock: Clock
    pool: Pool | None = None  # its profile is `profile`
    check: Checks = field(default_factory=Checks)

    def run(self, source: str | bytes, limits: Limits | None, **options: Any) -> Steps[Result]:
        """Run a program, in the pool when there is one."""
        if self.pool is None:
            options["profile"] = self.profile
        cut = self.cut(limits)
        result, _ = yield Errand.of(source, {}, self.pool, self.check, limits=cut, **options)
        return result

    def cut(self, limits: Limits | None) -> Limits | None:
        """The limits of a run that begins now, within the time for all tests."""
        return self.clock.cut(limits, self.profile)

    def limits(self, base: Limits | None, test: AnyTest) -> Limits | None:
        """The grading's limits with the test's own over them."""
        if test.limits is None:
            return base
        return test.limits if base is None else base.merge(test.limits)

    def comparison(self, test: AnyTest, known: Container[str]) -> str:
        """The test's own, or the grading's where it is one for this kind of answer, or exact."""
        if test.compare is not None:
            return test.compare
        return self.compare if known_comparison(self.compare).name in known else "exact"


def call_alone(setting: Setting, call: Call, limits: Limits | None) -> Steps[Outcome]:
    made = yield from call_steps(
        setting.source, [call], profile=setting.profile, limits=setting.cut(limits),
        pool=setting.pool,
        check=setting.check,
    )  # fmt: skip
    return made[0]


def _shown(value: Any) -> str:
    try:
        return repr(value)[:2000]
    except (ValueError, RecursionError):  # an int with more digits than CPython prints
        return f"a {type(value).__name__} that is too large to show"


def _text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode("utf-8", "replace")


def _failed(result: Result, verdict: str, shown_input: str, reason: str = "") -> Judgement:
    plain = {
        "runtime_error": "the program failed" if not result.ok else "ended without a reply",
        "internal_error": "the sandbox failed, not the code",
    }.get(verdict, "")
    if verdict in ("rejected", "compile_error"):
        plain = result.summary()  # about the source alone: nothing was run
    return Judgement(verdict, (result,), reason or result.summary(), plain, input=shown_input)


def execute(
    test: AnyTest, setting: Setting, limits: Limits | None, branches: Branches | None = None
) -> Steps[Judgement]:
    """Judge one test in children of its own, its calls in `branches`. Raises what `run` raises."""
    if isinstance(test, StdioTest):
        return (yield from _stdio(test, setting, limits))
    if isinstance(test, RoundTripTest):
        return (yield from _round_trip(test, setting, limits))
    if isinstance(test, InProcessTest):
        return (yield from _in_process(test, setting, limits))
    if isinstance(test, CheckerTest) and test.stdin is not None:
        return (yield from _checked_program(test, setting, limits))
    outcomes: list[Outcome] = []
    for call in calls_of(test):
        of = call_alone(setting, call, limits) if branches is None else branches.call(call, limits)
        outcomes.append((yield from of))
        if not outcomes[-1].answered:
            break
    return (yield from judge_calls(test, outcomes, setting))


def check_expected(test: AnyTest, setting: Setting) -> None:
    """Whether what the test expects is what judges it needs; ValueError, TypeError say what not."""
    if isinstance(test, StdioTest):
        wanted = test.expected.encode() if isinstance(test.expected, str) else test.expected
        compare_output(setting.comparison(test, TEXT), wanted, test.expected)
    elif isinstance(test, CallTest):
        compare_values(setting.comparison(test, VALUE), test.expected, test.expected)
    elif isinstance(test, CheckerTest) and isinstance(test.checker, str):
        check_given(test.stdin, test.expected)


def calls_of(test: AnyTest) -> tuple[Call, ...]:
    """The calls that a test needs; () for tests that are not made of calls."""
    if isinstance(test, (CallTest, PropertyTest)):
        return test.calls
    if isinstance(test, CheckerTest) and test.call is not None:
        return (test.call,)
    return ()


def judge_calls(test: AnyTest, outcomes: Sequence[Outcome], setting: Setting) -> Steps[Judgement]:
    """Judge a test that is made of calls by their outcomes; one that is missing is not passed."""
    judgement = yield from _judge_calls(test, outcomes, setting)
    return replace(
        judgement,
        results=tuple({id(o.result): o.result for o in outcomes}.values()),
        spent=tuple(outcome.usage for outcome in outcomes),
    )


def _judge_calls(test: AnyTest, outcomes: Sequence[Outcome], setting: Setting) -> Steps[Judgement]:
    calls = calls_of(test)
    shown = "\n".join(map(str, calls))[:4000]
    results: tuple[Result, ...] = ()
    for outcome in outcomes:
        if not outcome.answered:
            return _failed(outcome.result, outcome.verdict, shown, outcome.reason)
    if len(outcomes) < len(calls):
        raise AssertionError("every call has an outcome, or an earlier one failed")
    values = [outcome.value for outcome in outcomes]
    value = ", ".join(map(_shown, values))
    if isinstance(test, CallTest):
        difference = compare_values(setting.comparison(test, VALUE), values[0], test.expected)
        verdict = "accepted" if difference is None else "wrong_answer"
        return Judgement(verdict, results, input=shown, value=value, difference=difference)
    if isinstance(test, CheckerTest):
        answer = Answer(None, outcomes[0].result.stdout, values[0], test.expected)
        verdict, reason = yield from judged(test.checker, answer, setting.check, setting.clock)
        return Judgement(verdict, results, reason=reason, input=shown, value=value)
    assert isinstance(test, PropertyTest)
    verdict, reason = _property(test, calls, values)
    return Judgement(verdict, results, reason=reason, input=shown, value=value)


def _property(test: PropertyTest, calls: Sequence[Call], values: list[Any]) -> tuple[str, str]:
    assert not isinstance(test.holds, str)
    answers = {
        "value": values[0],
        "values": list(values),
        "args": list(calls[0].args),
        **{f"__call_{number}": value for number, value in enumerate(values)},
    }
    try:
        good = test.holds.holds(answers)
    except Exception as error:  # whatever an answer provokes must not be for it, nor be raised
        return "wrong_answer", f"{test.holds.text} cannot be evaluated for this answer: {error}"
    return ("accepted", "") if good else ("wrong_answer", f"{test.holds.text} is not true")


def _stdio(test: StdioTest, setting: Setting, limits: Limits | None) -> Steps[Judgement]:
    given: dict[str, Any] = {"stdin": test.stdin, "args": test.args, "files": test.files}
    result = yield from setting.run(setting.source, limits, **given)
    if not result.ok:
        return _failed(result, result.verdict, _text(test.stdin))
    if result.stdout_truncated:
        return _failed(result, "output_limit", _text(test.stdin))
    compare = setting.comparison(test, TEXT)
    difference = compare_output(compare, result.stdout_bytes, test.expected)
    verdict = "accepted"
    if difference is not None:
        verdict = "presentation" if difference.presentation else "wrong_answer"
    return Judgement(verdict, (result,), input=_text(test.stdin), difference=difference)


def _checked_program(
    test: CheckerTest, setting: Setting, limits: Limits | None
) -> Steps[Judgement]:
    assert test.stdin is not None
    result = yield from setting.run(setting.source, limits, stdin=test.stdin)
    if not result.ok:
        return _failed(result, result.verdict, _text(test.stdin))
    if result.stdout_truncated:
        return _failed(result, "output_limit", _text(test.stdin))
    answer = Answer(test.stdin, result.stdout, None, test.expected)
    verdict, reason = yield from judged(test.checker, answer, setting.check, setting.clock)
    return Judgement(verdict, (result,), reason=reason, input=_text(test.stdin))


def _round_trip(test: RoundTripTest, setting: Setting, limits: Limits | None) -> Steps[Judgement]:
    forward = Call(test.forward, (test.value,))
    first = yield from call_alone(setting, forward, limits)
    if not first.answered:
        return _failed(first.result, first.verdict, str(forward), first.reason)
    back = Call(test.inverse, (first.value,))
    second = yield from call_alone(setting, back, limits)
    results = (first.result, second.result)
    if not second.answered:
        failed = _failed(second.result, second.verdict, str(forward), second.reason)
        return replace(failed, results=results)
    difference = compare_values(test.compare or "exact", second.value, test.value)
    verdict = "accepted" if difference is None else "wrong_answer"
    return Judgement(
        verdict, results, input=str(forward), value=_shown(second.value), difference=difference
    )


def _in_process(test: InProcessTest, setting: Setting, limits: Limits | None) -> Steps[Judgement]:
    """Submission and test code as one program. Evidence is a word at the end of the output."""
    import secrets

    word = secrets.token_hex(16)
    tail = f"\n\n{test.code}\n\nprint({word!r}, flush=True)\n"
    source = source_bytes(setting.source) + tail.encode()
    result = yield from setting.run(source, limits)
    if not result.ok:
        return _failed(result, result.verdict, test.code)
    if not result.stdout_bytes.rstrip(b"\n").endswith(word.encode()):
        return _failed(result, "runtime_error", test.code, "the program ended before its tests")
    return Judgement("accepted", (result,), input=test.code)
