"""Interleaved measurement: every candidate once a round, in an order that changes.

A machine is faster and slower by the minute; candidates that take turns meet the same weather.
CPU time is measured beside the wall clock: on a busy machine it is the steadier of the two, and it
is what decides how many runs a second a full machine makes.
"""

from __future__ import annotations

import gc
import random
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Cost(NamedTuple):
    """What one call took, in seconds: by the wall clock, and of CPU time with its children's."""

    wall_s: float
    cpu_s: float


Samples = dict[str, list[Cost]]


def _cpu_s() -> float:
    """CPU time of this process and of the children that it has reaped."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def timed(work: Callable[[], object]) -> Cost:
    """The cost of one call."""
    cpu, began = _cpu_s(), time.perf_counter()
    work()
    return Cost(time.perf_counter() - began, _cpu_s() - cpu)


def interleave(
    candidates: Mapping[str, Callable[[], Cost]],
    rounds: int,
    *,
    warm_up: int = 2,
    seed: int = 1,
    before: Callable[[], object] | None = None,
) -> Samples:
    """Call every candidate once a round and collect its costs.

    `before` is called before each, outside the measured time: that what one has left to be done
    in the background is not another's time.

    The first `warm_up` rounds fill caches and do not count. Garbage is collected between rounds,
    outside the measured time, so that no candidate pays for another's.
    """
    order = list(candidates)
    shuffle = random.Random(seed).shuffle
    samples: Samples = {name: [] for name in candidates}
    for number in range(-warm_up, rounds):
        shuffle(order)
        gc.collect()
        for name in order:
            if before is not None:
                before()
            cost = candidates[name]()
            if number >= 0:
                samples[name].append(cost)
    return samples


def quantile(values: Sequence[float], share: float) -> float:
    """Linear between neighbours: 0.5 is the median, 1.0 the largest."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def summary(costs: Sequence[Cost]) -> dict[str, float]:
    """Milliseconds: median, 90th and 99th percentile and fastest by the wall clock,
    median of CPU time.
    """
    walls = [cost.wall_s * 1e3 for cost in costs]
    return {
        "p50_ms": quantile(walls, 0.5),
        "p90_ms": quantile(walls, 0.9),
        "p99_ms": quantile(walls, 0.99),
        "min_ms": min(walls),
        "cpu_p50_ms": quantile([cost.cpu_s * 1e3 for cost in costs], 0.5),
    }


def ratio(samples: Samples, name: str, base: str) -> dict[str, float]:
    """How much longer `name` takes than `base`.

    ``p50`` and ``p90`` divide the quantiles of the wall clock, ``cpu_p50`` those of CPU time;
    ``paired`` is the median of the rounds' own ratios, which drift of the machine during the run
    does not touch.
    """
    ours, theirs = summary(samples[name]), summary(samples[base])
    pairs = zip(samples[name], samples[base], strict=True)
    return {
        "p50": ours["p50_ms"] / theirs["p50_ms"],
        "p90": ours["p90_ms"] / theirs["p90_ms"],
        "paired": statistics.median(mine.wall_s / other.wall_s for mine, other in pairs),
        "cpu_p50": ours["cpu_p50_ms"] / theirs["cpu_p50_ms"] if theirs["cpu_p50_ms"] else 0.0,
    }
