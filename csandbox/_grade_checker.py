"""Checkers: the caller's function here, or untrusted checker source in a child of its own."""

from __future__ import annotations

from collections.abc import Callable

from csandbox._calls import BOUNDS, call_steps
from csandbox._errand import Steps
from csandbox._grade_clock import Clock
from csandbox._grade_tests import Answer, Call
from csandbox._order import Check
from csandbox._profile import Profile
from csandbox._value import ValueLimits, encode_call


def judged(
    checker: Callable[[Answer], bool | str] | str, answer: Answer, check: Check, clock: Clock
) -> Steps[tuple[str, str]]:
    """Verdict and reason. Only exactly True accepts; a checker that fails refuses.

    The one exception is a child for the checker's source that the sandbox could not start: that is
    "internal_error", as for a submission.
    """
    if isinstance(checker, str):
        return (yield from _in_child(checker, answer, check, clock))
    try:
        said = checker(answer)
    except Exception as error:  # whatever an answer provokes in a checker must not be for it
        return "wrong_answer", f"the checker failed: {type(error).__name__}: {error}"
    return _verdict(said)


def _verdict(said: object) -> tuple[str, str]:
    if said is True:
        return "accepted", ""
    if said is False:
        return "wrong_answer", "refused by the checker"
    if isinstance(said, str):
        return "wrong_answer", said
    kind = type(said).__name__
    return "wrong_answer", f"the checker failed: it returned a {kind}, not True, False or a reason"


def _in_child(source: str, answer: Answer, check: Check, clock: Clock) -> Steps[tuple[str, str]]:
    call = Call("check", (answer.stdin, answer.stdout, answer.value, answer.expected))
    # "open": the guard is for submissions; what confines a checker are the kernel's layers.
    profile = Profile.load("open")
    made = yield from call_steps(
        source,
        [call],
        profile=profile,
        limits=clock.cut(None, profile),
        check=check,
        bounds=_room_for(answer),
    )
    outcome = made[0]
    if not outcome.answered and (clock.left_s or 0) < 0:
        return "time_limit", "the time for all tests was used up"
    if outcome.verdict == "internal_error":
        return "internal_error", outcome.reason
    if not outcome.answered:
        return "wrong_answer", f"the checker failed: {outcome.reason}"
    return _verdict(outcome.value)


def _room_for(answer: Answer) -> ValueLimits:
    """For all that a checker is given together: whatever may be answered can be handed on."""
    texts = len(answer.stdout) + len(answer.stdin or "")
    return ValueLimits(bytes=min(2 * BOUNDS.bytes + 4 * texts, 1 << 30), items=2 * BOUNDS.items)


def check_given(stdin: str | bytes | None, expected: object) -> None:
    """Whether a checker in a child can be given these. Raises TypeError, ValueError."""
    encode_call("check", (stdin, expected), limits=BOUNDS)
