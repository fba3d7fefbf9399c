"""What the measurements give: one table for people, one JSON file for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.measure import Samples, ratio, summary


@dataclass
class Section:
    """One comparison: rows of times, each against `base`.

    ``goals`` maps a row to the range in which its p50 ratio is wanted. ``notes`` are facts that one
    needs to read the numbers; ``skipped`` says why there are none.
    """

    key: str
    title: str
    base: str
    samples: Samples = field(default_factory=dict)
    goals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    skipped: str = ""

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
        lines = [self.title]
        if self.skipped:
            return f"{self.title}\n  not measured: {self.skipped}\n"
        head = f"{len(self.samples[self.base])} rounds"
        lines.append(
            f"  {head:33} {'p50 ms':>8} {'p90 ms':>8} {'CPU ms':>8}"
            f"   {'ratio p50':>9} {'p90':>6} {'paired':>6} {'CPU':>6}"
        )
        for name, costs in self.samples.items():
            spent = summary(costs)
            line = f"  {name:33} {spent['p50_ms']:8.2f} {spent['p90_ms']:8.2f}"
            line += f" {spent['cpu_p50_ms']:8.2f}"
            if name != self.base:
                by = ratio(self.samples, name, self.base)
                line += f"   {by['p50']:9.3f} {by['p90']:6.3f} {by['paired']:6.3f}"
                line += f" {by['cpu_p50']:6.3f}"
            if name in self.goals:
                low, high = self.goals[name]
                wanted = f"≤ {high:g}" if low <= 0 else f"{low:g} to {high:g}"
                line += f"  goal {wanted}: {'met' if self.met(name) else 'MISSED'}"
            lines.append(line)
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines) + "\n"
