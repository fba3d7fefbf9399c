"""How much of the machine this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path


def _quota(folder: Path) -> float | None:
    """CPUs that the cgroup v2 at `folder` allows (cpu.max: "max 100000" or "150000 100000")."""
    try:
        quota, period = (folder / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        return None


def usable_cpus() -> int:
    """CPUs by affinity and by the control groups above us, at least 1."""
    allowed = float(len(os.sched_getaffinity(0)))
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("0::"):
            folder = Path("/sys/fs/cgroup") / line[3:].lstrip("/")
            for above in (folder, *folder.parents):
                quota = _quota(above)
                if quota is not None:
                    allowed = min(allowed, quota)
    return max(1, math.floor(allowed))
