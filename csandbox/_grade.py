"""grade(): a submission against tests, judged where the submission is not."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from csandbox._compare import known_comparison
from csandbox._errand import Steps, done
from csandbox._grade_clock import Clock
from csandbox._grade_execute import Setting, calls_of, check_expected
from csandbox._grade_feedback import known_level, message, redact
from csandbox._grade_report import GradeReport, added
from csandbox._grade_tests import AnyTest, Test
from csandbox._grade_work import Grading, Named
from csandbox._limits import Limits
from csandbox._profile import Profile, as_profile

if TYPE_CHECKING:
    from csandbox._pool import Pool


def _named(tests: Iterable[AnyTest], weights: Any) -> list[Named]:
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
    at_once: int = 8,
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
    at_once      how many children of this grading run at a time; the report does not depend on it.
                 With stop="first" it begins with one, and each test that is passed lets two more go
    ============ ==============================================================================

    A test is passed only when it ran, answered in time, exited as it should and was right. An exit
    status is never enough. ``internal_error`` is said by the sandbox alone; when it stays after the
    retries, ``score`` is None.

    Raises ValueError and TypeError for wrong arguments, ProfileError, and UnsupportedError when a
    layer that the profile requires cannot be enforced here.
    """
    plan = Plan.make(
        source, tests, compare=compare, isolation=isolation, stop=stop, feedback=feedback,
        weights=weights, seed=seed, profile=profile, limits=limits, total_s=total_s,
        retries=retries, allow_weak=allow_weak, pool=pool, at_once=at_once,
    )  # fmt: skip
    if at_once == 1:
        return done(plan.steps())
    done(plan.branched())
    plan.work.each_at_once(plan.alone, at_once)
    return plan.report()


@dataclass(frozen=True)
class Plan:
    """A grading that is checked and ready: what is run together, and what alone."""

    named: Sequence[Named]
    work: Grading
    groups: Sequence[Sequence[Named]]
    alone: Sequence[Named]
    feedback: str
    seed: int
    isolation: str

    @classmethod
    def make(
        cls,
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
        at_once: int = 8,
    ) -> Plan:
        """From the arguments of `grade`. Raises what it raises for them."""
        _known("isolation", isolation, ("test", "submission"))
        _known("stop", stop, ("first", "never"))
        known_comparison(compare)
        known_level(feedback)
        if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= 10:
            raise ValueError(f"retries must be a whole number from 0 to 10, not {retries!r}")
        if isinstance(at_once, bool) or not isinstance(at_once, int) or at_once < 1:
            raise ValueError(f"at_once must be a whole number above 0, not {at_once!r}")
        if total_s is not None and not total_s > 0:
            raise ValueError(f"total_s must be a number of seconds above 0, not {total_s!r}")
        named = _named(tests, weights)
        weak = [id_ for id_, _, test in named if test.trust == "weak"]
        if weak and not allow_weak:
            raise ValueError(
                f"test {weak[0]!r} runs in the submission's process and can be talked into "
                "anything; pass allow_weak=True to run it all the same"
            )
        seed = secrets.randbits(32) if seed is None else seed
        setting = Setting(source, _profile(profile, pool), compare, Clock(total_s), pool)
        for _, _, test in named:
            check_expected(test, setting)
        work = Grading(setting, _merged(limits, pool), stop, retries)
        order = list(named)
        random.Random(seed).shuffle(order)
        groups: list[list[Named]] = []
        if isolation == "submission":
            # A branch knows of no other test. Hidden tests and those whose data is shown do not
            # even share the child that is branched (docs/adr/0031).
            called = [item for item in order if calls_of(item[2])]
            groups = [[i for i in called if i[2].hidden is hidden] for hidden in (False, True)]
            order = [item for item in order if not calls_of(item[2])]
        return cls(named, work, groups, order, feedback, seed, isolation)

    def branched(self) -> Steps[None]:
        """The groups, each in branches of a child of its own."""
        for group in self.groups:
            yield from self.work.branched(group)

    def steps(self) -> Steps[GradeReport]:
        """All runs, one after the other, and the report."""
        yield from self.branched()
        yield from self.work.each(self.alone)
        return self.report()

    def report(self) -> GradeReport:
        """What came of it, when all has run."""
        rows = redact([self.work.rows[id_] for id_, _, _ in self.named], self.feedback)
        broken = any(row.verdict == "internal_error" for row in rows)
        total = sum(row.weight for row in rows)
        return GradeReport(
            tests=rows,
            score=None if broken else sum(row.weight for row in rows if row.passed) / total,
            feedback_level=self.feedback,
            feedback=message(rows, self.feedback),
            seed=self.seed,
            isolation="test" if self.work.why_not else self.isolation,
            isolation_note=self.work.why_not,
            layers=MappingProxyType(dict(self.work.layers)),
            profile=self.work.setting.profile.name,
            wall_s=self.work.clock.used_s,
            total_usage=added(row.result.usage for row in self.work.rows.values()),
        )


def _known(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")


def _merged(limits: Limits | Mapping[str, Any] | None, pool: Pool | None) -> Limits | None:
    """The grading's limits over the pool's."""
    given = _limits(limits)
    if pool is None or pool._limits is None:
        return given
    return (_limits(pool._limits) or Limits()).merge(given)
