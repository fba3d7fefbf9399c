"""What the measurements give: one table for people, one JSON file for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.measure import Samples, ratio, summary


@dataclass(frozen=True)
class Figure:
    """One number, and where one is wanted: at most, or at least, so much."""

    name: str
    value: float
    unit: str = ""
    most: float | None = None
    least: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether it is within its bounds; None when it has none."""
        if self.most is None and self.least is None:
            return None
        return (self.most is None or self.value <= self.most) and (
            self.least is None or self.value >= self.least
        )

    def text(self) -> str:
        """A line of the table."""
        line = f"  {self.name:46} {self.value:12.4g} {self.unit}"
        bounds = [
            f"{sign} {bound:g}"
            for sign, bound in (("≤", self.most), ("≥", self.least))
            if bound is not None
        ]
        if bounds:
            line += f"  goal {' and '.join(bounds)}: {'met' if self.met else 'MISSED'}"
        return line.rstrip()


@dataclass
class Section:
    """One comparison: rows of times, each against `base`, and single figures.

    ``goals`` maps a row to the range in which its p50 ratio is wanted. ``notes`` are facts that one
    needs to read the numbers; ``skipped`` says why there are none. ``cpu`` False: the work is done
    by processes that others reap, so CPU time says nothing.
    """

    key: str
    title: str
    base: str
    samples: Samples = field(default_factory=dict)
    goals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    skipped: str = ""
    figures: Sequence[Figure] = ()
    cpu: bool = True

    def met(self, name: str) -> bool | None:
        """Whether the row's goal is met; None when it has none."""
        if name not in self.goals:
            return None
        low, high = self.goals[name]
        return low <= ratio(self.samples, name, self.base)["p50"] <= high

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "title": self.title,
            "base": self.base,
            "notes": list(self.notes),
            "skipped": self.skipped,
            "figures": [{**vars(figure), "met": figure.met} for figure in self.figures],
            "rows": {
                name: {
                    **summary(values),
                    "rounds": len(values),
                    "ratio": ratio(self.samples, name, self.base),
                    "goal": list(self.goals[name]) if name in self.goals else None,
                    "met": self.met(name),
                }
                for name, values in self.samples.items()
            },
        }

    def text(self) -> str:
        """The table."""
        if self.skipped:
            return f"{self.title}\n  not measured: {self.skipped}\n"
        lines = [self.title]
        if self.samples:
            lines += self._rows()
        lines += [figure.text() for figure in self.figures]
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines) + "\n"

    def _rows(self) -> list[str]:
        cpu = " {:>8}" if self.cpu else ""
        head = f"{len(self.samples[self.base])} rounds"
        lines = [
            f"  {head:33} {'p50 ms':>8} {'p90 ms':>8} {'p99 ms':>8}{cpu.format('CPU ms')}"
            f"   {'ratio p50':>9} {'p90':>6} {'paired':>6}{' {:>6}'.format('CPU') * self.cpu}"
        ]
        for name, costs in self.samples.items():
            spent = summary(costs)
            line = f"  {name:33} {spent['p50_ms']:8.3f} {spent['p90_ms']:8.3f}"
            line += f" {spent['p99_ms']:8.3f}" + cpu.format(f"{spent['cpu_p50_ms']:.2f}")
            if name != self.base:
                by = ratio(self.samples, name, self.base)
                line += f"   {by['p50']:9.3f} {by['p90']:6.3f} {by['paired']:6.3f}"
                line += f" {by['cpu_p50']:6.3f}" * self.cpu
            if name in self.goals:
                low, high = self.goals[name]
                wanted = f"≤ {high:g}" if low <= 0 else f"{low:g} to {high:g}"
                line += f"  goal {wanted}: {'met' if self.met(name) else 'MISSED'}"
            lines.append(line)
        return lines
