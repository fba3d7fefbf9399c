"""A fresh run against the same interpreter started by subprocess, and what each layer costs."""

from __future__ import annotations

import os
import subprocess

import csandbox
from bench.core import LAYERS, OUTPUT, SOURCE, Wrong, base_python, core_run, policy, request
from bench.measure import Cost, interleave, quantile, timed
from bench.report import Figure, Section

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
        result = csandbox.run(SOURCE, profile=PROFILE, fresh=True)
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


def _bare() -> Cost:
    """vfork and exec of the same interpreter by the same options, and what it prints."""
    words = [base_python(), "-I", "-S", "-B", "-X", "utf8", "-c", SOURCE.decode()]

    def work() -> None:
        ours, its = os.pipe()
        actions = [(os.POSIX_SPAWN_DUP2, its, 1), (os.POSIX_SPAWN_CLOSE, ours)]
        pid = os.posix_spawn(words[0], words, {}, file_actions=actions)
        os.close(its)
        output = b"".join(iter(lambda: os.read(ours, 4096), b""))
        os.close(ours)
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0 or output != OUTPUT:
            raise Wrong(f"a bare interpreter printed {output!r}")

    return timed(work)


def layers(rounds: int) -> Section:
    """The core with all layers, with each one taken out (by the switch made for tests), with none,
    and the interpreter without the core.
    """
    asked = request(PROFILE)
    everything, nothing, bare = "all layers", "no layer", "bare fork and exec"
    candidates = {everything: core_run(policy(PROFILE), asked)}
    for layer in LAYERS:
        candidates[f"without {layer}"] = core_run(policy(PROFILE, layer), asked)
    candidates[nothing] = core_run(policy(PROFILE, *LAYERS), asked)
    candidates[bare] = _bare
    samples = interleave(candidates, rounds)

    def costs(less: str) -> float:
        """Microseconds of all layers beyond that candidate, round by round, median."""
        pairs = zip(samples[everything], samples[less], strict=True)
        return quantile([(a.wall_s - b.wall_s) * 1e6 for a, b in pairs], 0.5)

    figures = [Figure(f"{layer} costs", costs(f"without {layer}"), "µs") for layer in LAYERS]
    figures += [
        Figure("all layers cost", costs(nothing), "µs", most=350.0),
        Figure("a confined run, beyond a bare fork and exec", costs(bare), "µs", most=350.0),
    ]
    return Section(
        key="layers",
        title="cost of each layer: the core with one taken out, against all of them",
        base=everything,
        samples=samples,
        figures=figures,
        notes=(
            "A ratio below 1 is what the layer costs; without seccomp goes its listener too.",
            "Figures are medians of differences within a round.",
        ),
    )
