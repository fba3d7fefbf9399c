"""From grades to rewards: what counts besides passing, each of it off by default."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

_SMALLEST_GROUP: Final = 4  # of two, a line explains everything


@dataclass(frozen=True, kw_only=True)
class Shaping:
    """How a grade becomes a number. With nothing chosen: 1.0 when every test passed, else 0.0.

    ============== ==========================================================================
    partial        the share of the tests' weights that passed, instead of all or nothing
    format_bonus   added when the program was found where it should be and the block was closed
                   (`extract`), whether it is right or not; small numbers, such as 0.1
    length_neutral in a group of completions of one prompt the part of the rewards that a straight
                   line over their lengths (in characters) explains is taken away, so that being
                   longer or shorter pays nothing by itself. Rewards stay between the group's
                   smallest and largest. Where right answers *are* longer it takes signal away.
                   Groups of fewer than 4 are left as they are. Only where groups are at hand
    ============== ==========================================================================
    """

    partial: bool = False
    format_bonus: float = 0.0
    length_neutral: bool = False

    def __post_init__(self) -> None:
        """Check."""
        for name in ("partial", "length_neutral"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be True or False, not {getattr(self, name)!r}")
        bonus = self.format_bonus
        if isinstance(bonus, bool) or not isinstance(bonus, (int, float)):
            raise TypeError(f"format_bonus must be a number, not {bonus!r}")
        if not math.isfinite(bonus):
            raise ValueError(f"format_bonus must be finite, not {bonus!r}")

    def reward(self, score: float, passed: bool, well_formed: bool) -> float:
        """The reward of one grading whose score is known."""
        value = score if self.partial else float(passed)
        return value + (self.format_bonus if well_formed else 0.0)


def neutral_to_length(
    rewards: Sequence[float | None], lengths: Sequence[int], groups: Sequence[Hashable]
) -> list[float | None]:
    """Each group's rewards without what a line over the lengths explains; None stays None."""
    members: dict[Hashable, list[int]] = defaultdict(list)
    for place, (reward, group) in enumerate(zip(rewards, groups, strict=True)):
        if reward is not None:
            members[group].append(place)
    found = list(rewards)
    for places in members.values():
        known = [value for p in places if (value := rewards[p]) is not None]
        for place, value in zip(
            places, _residual(known, [lengths[p] for p in places]), strict=True
        ):
            found[place] = value
    return found


def _residual(rewards: list[float], lengths: list[int]) -> list[float]:
    count = len(rewards)
    mean, middle = math.fsum(rewards) / count, sum(lengths) / count
    spread = math.fsum((length - middle) ** 2 for length in lengths)
    if spread == 0 or count < _SMALLEST_GROUP:
        return rewards
    pairs = zip(rewards, lengths, strict=True)
    slope = math.fsum((reward - mean) * (length - middle) for reward, length in pairs) / spread
    low, high = min(rewards), max(rewards)
    return [
        min(high, max(low, reward - slope * (length - middle)))
        for reward, length in zip(rewards, lengths, strict=True)
    ]
