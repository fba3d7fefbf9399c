"""The work of one grading: its tests run, in their order, and a row for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from csandbox._errand import Steps
from csandbox._errors import SetupError
from csandbox._flight import Flight
from csandbox._grade_branch import Branches
from csandbox._grade_execute import Judgement, Setting, execute
from csandbox._grade_feedback import Row, excerpt
from csandbox._grade_report import TestResult
from csandbox._grade_tests import AnyTest
from csandbox._grade_verdicts import OF_THE_SOURCE
from csandbox._limits import Limits
from csandbox._result import Result

Named = tuple[str, float, AnyTest]  # its id, its weight, the test

_Work = Callable[[], Steps[Judgement]]


def _attempt(work: _Work, retries: int) -> Steps[tuple[Judgement, int]]:
    """Judge, and again when the sandbox failed; a SetupError is the sandbox's failure too."""
    attempt = 0
    while True:
        attempt += 1
        try:
            judgement = yield from work()
        except SetupError as error:
            failed = Result(verdict="internal_error", error=str(error))
            judgement = Judgement(
                "internal_error", (failed,), str(error), "the sandbox failed, not the code"
            )
        if judgement.verdict != "internal_error" or attempt > retries:
            return judgement, attempt


def _row(id_: str, weight: float, test: AnyTest, judgement: Judgement, attempts: int) -> Row:
    last = judgement.results[-1] if judgement.results else Result(verdict=judgement.verdict)
    names = {str(v.get("syscall", "?")) for r in judgement.results for v in r.violations}
    result = TestResult(
        id=id_,
        verdict=judgement.verdict,
        weight=weight,
        limit_hit=last.limit_hit,
        usage=judgement.usage,
        hidden=test.hidden,
        trust=test.trust,
        attempts=attempts,
        violations=tuple(sorted(names)),
        reason=judgement.reason,
        input=excerpt(judgement.input),
        stdout=excerpt(last.stdout),
        stderr=excerpt(last.stderr),
        value=excerpt(judgement.value),
        difference="" if judgement.difference is None else str(judgement.difference),
    )
    return Row(result, judgement.plain_reason)


def _without_run(id_: str, weight: float, test: AnyTest, verdict: str, why: str) -> Row:
    limit = "total" if verdict == "time_limit" else None
    row = TestResult(
        id_, verdict, weight, limit_hit=limit, hidden=test.hidden, trust=test.trust, attempts=0,
        reason=why,
    )  # fmt: skip
    return Row(row, why)


class Grading:
    """One submission, its tests, and what has come of them so far."""

    def __init__(self, setting: Setting, limits: Limits | None, stop: str, retries: int) -> None:
        self.setting = setting
        self.limits = limits
        self.stop = stop
        self.retries = retries
        self.clock = setting.clock
        self.rows: dict[str, Row] = {}
        self.layers: Mapping[str, str] = MappingProxyType({})
        self.why_not = ""  # branches that were asked for
        self.ended: tuple[str, str] | None = None  # a verdict for all that is left, and why

    def _kept(
        self, id_: str, weight: float, test: AnyTest, judgement: Judgement, attempts: int
    ) -> None:
        self.rows[id_] = _row(id_, weight, test, judgement, attempts)
        for result in judgement.results:
            self.layers = result.isolation or self.layers
        if judgement.verdict in OF_THE_SOURCE:
            self.ended = judgement.verdict, judgement.plain_reason
        elif self.stop == "first" and judgement.verdict != "accepted":
            self.ended = "skipped", "an earlier test was not passed"

    def _ends(self) -> bool:
        """Whether no further test is to be run."""
        left = self.clock.left_s
        return self.ended is not None or (left is not None and left <= 0)

    def _is_over(self, id_: str, weight: float, test: AnyTest) -> bool:
        if not self._ends():
            return False
        if self.ended is None:
            self.ended = "time_limit", "the time for all tests was used up"
        self.rows[id_] = _without_run(id_, weight, test, *self.ended)
        return True

    def _alone(
        self, test: AnyTest, branches: Branches | None = None
    ) -> Steps[tuple[Judgement, int]]:
        limits = self.setting.limits(self.limits, test)
        return _attempt(lambda: execute(test, self.setting, limits, branches), self.retries)

    def each(self, named: Sequence[Named], branches: Branches | None = None) -> Steps[None]:
        """Every test in children of its own, or in `branches`, one after the other."""
        for id_, weight, test in named:
            if not self._is_over(id_, weight, test):
                self._kept(id_, weight, test, *(yield from self._alone(test, branches)))

    def each_at_once(self, named: Sequence[Named], most: int) -> None:
        """`each`, with up to `most` of them on their way, and the same rows.

        What is run ahead of a test that is not passed was for nothing when that ends the grading,
        so it begins with one, and each test that is passed lets two more go.
        """
        flight: Flight[tuple[Judgement, int]] = Flight(patient=True)
        begun = 0
        try:
            for place, (id_, weight, test) in enumerate(named):
                width = most if self.stop == "never" else min(most, 2 * place + 1)
                while begun < min(len(named), place + width) and not self._ends():
                    flight.begin(begun, self._alone(named[begun][2]))
                    begun += 1
                if self.ended is not None or place >= begun:
                    self._is_over(id_, weight, test)
                else:
                    self._kept(id_, weight, test, *flight.wait(place))
        finally:
            flight.end()

    def branched(self, named: Sequence[Named]) -> Steps[None]:
        """Tests that are made of calls, each call in a branch of one child. Waits for each."""
        with Branches(self.setting, self.limits) as branches:
            yield from self.each(named, branches)
        self.why_not = branches.why_not or self.why_not
