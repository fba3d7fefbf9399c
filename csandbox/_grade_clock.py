"""The time for all tests of one grading, and what each run may still take of it."""

from __future__ import annotations

import time

from csandbox._limits import Limits
from csandbox._profile import Profile

_SHORTEST_S = 0.01  # the smallest wall limit that a run takes


class Clock:
    """What is left of the time for all tests, in seconds by the clock."""

    def __init__(self, total_s: float | None = None) -> None:
        """Begin now. None: as long as it takes."""
        self._began = time.monotonic()
        self._total_s = total_s

    @property
    def used_s(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._began

    @property
    def left_s(self) -> float | None:
        """Below 0 when it is over; None without an end."""
        return None if self._total_s is None else self._total_s - self.used_s

    def cut(self, limits: Limits | None, profile: Profile) -> Limits | None:
        """The limits of a run that begins now: its wall limit is cut to what is left."""
        left_s = self.left_s
        if left_s is None:
            return limits
        wall = profile.limits.merge(limits).effective_wall_s()
        if wall is not None and wall <= left_s:
            return limits
        return (limits or Limits()).merge(Limits(wall_s=max(left_s, _SHORTEST_S)))
