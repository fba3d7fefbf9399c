"""grade(): a submission against tests, judged where the submission is not."""

from __future__ import annotations

import os
import random
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from csandbox._compare import known_comparison
from csandbox._errors import SetupError
from csandbox._grade_branch import Branches
from csandbox._grade_execute import Judgement, Setting, calls_of, check_expected, execute
from csandbox._grade_feedback import Row, excerpt, known_level, message, redact
from csandbox._grade_report import GradeReport, TestResult
from csandbox._grade_tests import AnyTest, Test
from csandbox._grade_verdicts import OF_THE_SOURCE
from csandbox._limits import Limits
from csandbox._profile import Profile, as_profile
from csandbox._result import Result

if TYPE_CHECKING:
    from csandbox._pool import Pool

_SHORTEST_S = 0.01  # the smallest wall limit that a run takes


def _named(tests: Iterable[AnyTest], weights: Any) -> list[tuple[str, float, AnyTest]]:
    """Tests with their ids and weights; ValueError for none, doubles, or nothing that counts."""
    listed = list(tests)
    for place, test in enumerate(listed):
        if not isinstance(test, Test):
            raise TypeError(f"tests[{place}] is a {type(test).__name__}, not a test")
    if not listed:
        raise ValueError(
            "there are no tests; a grading without any would pass everything. Look at what the "
            "loader could not convert"
        )
    ids = [test.id or str(place) for place, test in enumerate(listed, 1)]
    double = next((i for i in ids if ids.count(i) > 1), None) if len(set(ids)) < len(ids) else None
    if double is not None:
        raise ValueError(f"two tests have the id {double!r}")
    chosen = [test.weight for test in listed]
    if isinstance(weights, Mapping):
        unknown = sorted(set(weights) - set(ids))
        if unknown:
            raise ValueError(f"weights: there is no test {unknown[0]!r}")
        chosen = [weights.get(i, w) for i, w in zip(ids, chosen, strict=True)]
    elif weights is not None:
        chosen = list(weights)
        if len(chosen) != len(listed):
            raise ValueError(f"weights: {len(chosen)} numbers for {len(listed)} tests")
    checked = [Test(weight=weight).weight for weight in chosen]  # the same rules for all weights
    if sum(checked) <= 0:
        raise ValueError("the weights add up to 0, so nothing would count")
    return list(zip(ids, checked, listed, strict=True))


class _Clock:
    """What is left of the time for all tests, in seconds by the clock."""

    def __init__(self, total_s: float | None) -> None:
        self.began = time.monotonic()
        self.total_s = total_s

    @property
    def used_s(self) -> float:
        return time.monotonic() - self.began

    @property
    def left_s(self) -> float | None:
        return None if self.total_s is None else self.total_s - self.used_s


def _clipped(limits: Limits | None, profile: Profile, left_s: float | None) -> Limits | None:
    """The limits with the wall limit cut to what is left."""
    if left_s is None:
        return limits
    wall = profile.limits.merge(limits).effective_wall_s()
    if wall is not None and wall <= left_s:
        return limits
    return (limits or Limits()).merge(Limits(wall_s=max(left_s, _SHORTEST_S)))


def _attempt(work: Any, retries: int) -> tuple[Judgement, int]:
    """Judge, and again when the sandbox failed; a SetupError is the sandbox's failure too."""
    attempt = 0
    while True:
        attempt += 1
        try:
            judgement: Judgement = work()
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


class _Grading:
    """One submission, its tests, and what has come of them so far."""

    def __init__(
        self, setting: Setting, limits: Limits | None, stop: str, retries: int, clock: _Clock
    ) -> None:
        self.setting = setting
        self.limits = limits
        self.stop = stop
        self.retries = retries
        self.clock = clock
        self.rows: dict[str, Row] = {}
        self.layers: Mapping[str, str] = MappingProxyType({})
        self.why_not = ""  # branches that were asked for
        self.ended: tuple[str, str] | None = None  # a verdict for all that is left, and why

    def _keep(self, id_: str, weight: float, test: AnyTest, work: Any) -> None:
        judgement, attempts = _attempt(work, self.retries)
        self.rows[id_] = _row(id_, weight, test, judgement, attempts)
        for result in judgement.results:
            self.layers = result.isolation or self.layers
        if judgement.verdict in OF_THE_SOURCE:
            self.ended = judgement.verdict, judgement.plain_reason
        elif self.stop == "first" and judgement.verdict != "accepted":
            self.ended = "skipped", "an earlier test was not passed"

    def _is_over(self, id_: str, weight: float, test: AnyTest) -> bool:
        left = self.clock.left_s
        if self.ended is None and left is not None and left <= 0:
            self.ended = "time_limit", "the time for all tests was used up"
        if self.ended is None:
            return False
        self.rows[id_] = _without_run(id_, weight, test, *self.ended)
        return True

    def each(
        self, named: Sequence[tuple[str, float, AnyTest]], branches: Branches | None = None
    ) -> None:
        """Every test in children of its own, or in `branches`."""
        for id_, weight, test in named:
            if not self._is_over(id_, weight, test):
                limits = self.setting.limits(self.limits, test)
                cut = _clipped(limits, self.setting.profile, self.clock.left_s)
                self._keep(
                    id_, weight, test,
                    lambda t=test, c=cut: execute(t, self.setting, c, branches),
                )  # fmt: skip

    def branched(self, named: Sequence[tuple[str, float, AnyTest]]) -> None:
        """Tests that are made of calls, each call in a branch of one child."""
        cut = _clipped(self.limits, self.setting.profile, self.clock.left_s)
        with Branches(self.setting, cut) as branches:
            self.each(named, branches)
        self.why_not = branches.why_not or self.why_not


def _limits(limits: Limits | Mapping[str, Any] | None) -> Limits | None:
    return Limits.from_mapping(limits) if isinstance(limits, Mapping) else limits


def _profile(profile: str | os.PathLike[str] | Profile | None, pool: Pool | None) -> Profile:
    """The profile to grade with; ValueError when the pool has another one."""
    if pool is None:
        return as_profile("contest" if profile is None else profile)
    if profile is not None and as_profile(profile) != pool.profile:
        raise ValueError(
            f"the pool's profile is {pool.profile.name!r}; leave profile out, or make the pool "
            f"with the other one"
        )
    return pool.profile


def grade(
    source: str | bytes,
    tests: Iterable[AnyTest],
    *,
    compare: str = "exact",
    isolation: str = "test",
    stop: str = "first",
    feedback: str = "none",
    weights: Mapping[str, float] | Sequence[float] | None = None,
    seed: int | None = None,
    profile: str | os.PathLike[str] | Profile | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    total_s: float | None = None,
    retries: int = 1,
    allow_weak: bool = False,
    pool: Pool | None = None,
) -> GradeReport:
    """Judge a submission by tests. Nothing that decides is where the submission runs.

    ============ ==============================================================================
    tests        StdioTest, CallTest, PropertyTest, RoundTripTest, CheckerTest; none is an error
    compare      for tests without one of their own: exact, lines, tokens, float(rel=, abs=),
                 unordered_lines, json, case_insensitive, yes_no for output; exact, numeric,
                 float, sequence for values
    isolation    "test": a fresh child for each call and each program. "submission": the submission
                 is executed once, and each call is made in a fork of that child, which saves time
                 where executing it takes long (imports, tables); no call sees anything of another.
                 Where it cannot be forked (threads, open files) it is as "test", and the report's
                 ``isolation`` and ``isolation_note`` say so. Programs have a child each in both,
                 and so have tests with other limits of memory, disk or threads
    stop         "first": after a test that is not passed the others are "skipped"; "never"
    feedback     what the report shows: none, counts, first, full (hidden tests never show data)
    weights      by id, or one number for each test; else the tests' own
    seed         makes the order in which tests run; None: one is drawn, and is in the report
    profile      as for `run`; None: "contest", or the pool's
    limits       of one run (with isolation="submission": of executing it, and of each call)
    total_s      seconds by the clock for all tests; those that are left get "time_limit"
    retries      how often a test is tried again when the sandbox failed, never otherwise
    allow_weak   let InProcessTest run; the report then says ``trust="weak"``
    pool         a `Pool` whose spares are used; the profile is then the pool's
    ============ ==============================================================================

    A test is passed only when it ran, answered in time, exited as it should and was right. An exit
    status is never enough. ``internal_error`` is said by the sandbox alone; when it stays after the
    retries, ``score`` is None.

    Raises ValueError and TypeError for wrong arguments, ProfileError, and UnsupportedError when a
    layer that the profile requires cannot be enforced here.
    """
    for name, value, allowed in (
        ("isolation", isolation, ("test", "submission")),
        ("stop", stop, ("first", "never")),
    ):
        if value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
    known_comparison(compare)
    known_level(feedback)
    if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= 10:
        raise ValueError(f"retries must be a whole number from 0 to 10, not {retries!r}")
    if total_s is not None and not total_s > 0:
        raise ValueError(f"total_s must be a number of seconds above 0, not {total_s!r}")
    named = _named(tests, weights)
    weak = [id_ for id_, _, test in named if test.trust == "weak"]
    if weak and not allow_weak:
        raise ValueError(
            f"test {weak[0]!r} runs in the submission's process and can be talked into anything; "
            "pass allow_weak=True to run it all the same"
        )
    if seed is None:
        seed = secrets.randbits(32)
    chosen = _profile(profile, pool)
    given = _limits(limits)
    if pool is not None and pool._limits is not None:
        own = _limits(pool._limits) or Limits()
        given = own.merge(given)
    setting = Setting(source, chosen, compare, pool)
    for _, _, test in named:
        check_expected(test, setting)
    grading = _Grading(setting, given, stop, retries, _Clock(total_s))
    order = list(named)
    random.Random(seed).shuffle(order)
    if isolation == "submission":
        # A branch knows of no other test. Hidden tests and those whose data is shown do not even
        # share the child that is branched (docs/adr/0031).
        for hidden in (False, True):
            grading.branched(
                [item for item in order if calls_of(item[2]) and item[2].hidden is hidden]
            )
        order = [item for item in order if not calls_of(item[2])]
    grading.each(order)
    return _report(named, grading, feedback, seed, isolation)


def _report(
    named: Sequence[tuple[str, float, AnyTest]],
    grading: _Grading,
    feedback: str,
    seed: int,
    isolation: str,
) -> GradeReport:
    rows = redact([grading.rows[id_] for id_, _, _ in named], feedback)
    broken = any(row.verdict == "internal_error" for row in rows)
    total = sum(row.weight for row in rows)
    return GradeReport(
        tests=rows,
        score=None if broken else sum(row.weight for row in rows if row.passed) / total,
        feedback_level=feedback,
        feedback=message(rows, feedback),
        seed=seed,
        isolation="test" if grading.why_not else isolation,
        isolation_note=grading.why_not,
        layers=MappingProxyType(dict(grading.layers)),
        profile=grading.setting.profile.name,
        wall_s=grading.clock.used_s,
    )
