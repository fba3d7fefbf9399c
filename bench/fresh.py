"""A fresh run against the same interpreter started by subprocess, and what each layer costs."""

from __future__ import annotations

import subprocess

import csandbox
from bench.core import LAYERS, OUTPUT, SOURCE, Wrong, base_python, core_run, policy, request
from bench.measure import Cost, interleave, timed
from bench.report import Section

PROFILE = "compute"


def _subprocess() -> Cost:
    command = [base_python(), "-I", "-S", "-c", SOURCE.decode()]

    def work() -> None:
        done = subprocess.run(command, capture_output=True, check=True)
        if done.stdout != OUTPUT:
            raise Wrong(f"subprocess printed {done.stdout!r}")

    return timed(work)


def _public() -> Cost:
    def work() -> None:
        result = csandbox.run(SOURCE, profile=PROFILE)
        if not result.ok or result.stdout_bytes != OUTPUT:
            raise Wrong(f"{result!r}: {result.stderr}")

    return timed(work)


def fresh(rounds: int) -> Section:
    """`run("print(1)")` with the guard on, and the core alone, against subprocess.run."""
    return Section(
        key="fresh",
        title='fresh run of print(1), profile compute, against subprocess "python -I -S -c"',
        base="subprocess.run",
        samples=interleave(
            {
                "subprocess.run": _subprocess,
                "csandbox.run": _public,
                "core alone (no guard, no face)": core_run(policy(PROFILE), request(PROFILE)),
            },
            rounds,
        ),
        goals={"csandbox.run": (0.0, 1.15)},
    )


def layers(rounds: int) -> Section:
    """The core with all layers, and with each one taken out (by the switch made for tests)."""
    asked = request(PROFILE)
    candidates = {"all layers": core_run(policy(PROFILE), asked)}
    for layer in LAYERS:
        candidates[f"without {layer}"] = core_run(policy(PROFILE, layer), asked)
    return Section(
        key="layers",
        title="cost of each layer: the core with one taken out, against all of them",
        base="all layers",
        samples=interleave(candidates, rounds),
        notes=("A ratio below 1 is what the layer costs; without seccomp goes its listener too.",),
    )
