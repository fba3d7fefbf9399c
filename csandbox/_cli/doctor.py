"""``csandbox doctor``: what this kernel can enforce, tried out."""

from __future__ import annotations

import argparse
import platform
import sys

from csandbox import _core
from csandbox._attack import attack, by_layer
from csandbox._cli.console import emit, emit_json, one_line, paint, wants_color
from csandbox._errors import SandboxError
from csandbox._interpreter import interpreter
from csandbox._packages import resolve
from csandbox._policy import scratch_base
from csandbox._probe import Features, probe
from csandbox._profile import Profile
from csandbox._selftest import Finding, self_test


def _mark(good: bool, color: bool, optional: bool = False) -> str:
    if optional and not good:
        return paint("off ", "yellow", color)
    return paint("ok  ", "green", color) if good else paint("FAIL", "red", color)


def _show_system(color: bool) -> None:
    own = interpreter()
    packages = resolve(Profile.load("compute").packages.names, own.sites)
    version = ".".join(map(str, own.version))
    emit(paint("system", "bold", color))
    emit(f"  csandbox  {_core.build_info()['version']}")
    emit(f"  kernel    {platform.release()} {platform.machine()}")
    emit(f"  python    {version} ({own.executable})")
    place = scratch_base(Profile.load("compute"))
    kind = "in memory" if place == "/dev/shm" else "TMPDIR, or no room in memory"
    emit(f"  scratch   {place} ({kind})")
    emit(f"  packages  {', '.join(packages.found) or 'none of those that profile compute names'}")


def _show_features(features: Features, color: bool) -> None:
    emit(paint("\nlayers", "bold", color))
    width = max((len(name) for name in features), default=0)
    for name, feature in features.items():
        mark = _mark(feature.available, color, feature.optional)
        emit(f"  {mark} {name.ljust(width)}  {feature.detail}")
        if feature.hint:
            emit(f"       {' ' * width} → {feature.hint}")


def _show_finding(finding: Finding, color: bool) -> None:
    emit(f"  {_mark(finding.held, color)} {finding.name.ljust(33)} {one_line(finding.how)}")
    sys.stdout.flush()  # some attempts take a second


def _attack(options: argparse.Namespace) -> int:
    """Run the attacks, and say by layer what held; 1 when one had its effect."""
    outcomes = []
    color = wants_color(options.color, sys.stdout)
    for outcome in attack():
        outcomes.append(outcome)
        if not options.json and not outcome.held:
            emit(f"  {_mark(False, color)} {outcome.name}: {outcome.what}: {one_line(outcome.how)}")
    table = by_layer(outcomes)
    through = [outcome.name for outcome in outcomes if not outcome.held]
    if options.json:
        emit_json({"attacks": [o.to_dict() for o in outcomes], "layers": table})
        return 1 if through else 0
    emit(paint("in their way                      tried  held", "bold", color))
    for layers, (tried, held) in table.items():
        emit(f"  {_mark(tried == held, color)} {layers.ljust(26)} {tried:5} {held:5}")
    if through:
        text = f"NOT CONTAINED: {', '.join(through)}. Do not run code that you do not trust here."
        emit("\n" + paint(text, "red", color))
    else:
        emit("\n" + paint(f"All {len(outcomes)} attacks were stopped.", "green", color))
    return 1 if through else 0


def command(options: argparse.Namespace) -> int:
    """Report on every layer, then try forbidden things; 1 when something did not hold."""
    if options.attack:
        return _attack(options)
    features = probe()
    missing = [feature.name for feature in features.missing]
    color = wants_color(options.color, sys.stdout)
    if not options.json:
        _show_system(color)
        _show_features(features, color)
    findings: list[Finding] = []
    trouble: SandboxError | None = None
    if not options.no_self_test:
        if not options.json:
            emit(paint("\nself-test: forbidden things tried without the guard", "bold", color))
        try:
            for finding in self_test(allow_degraded=missing):
                findings.append(finding)
                if not options.json:
                    _show_finding(finding, color)
        except SandboxError as error:
            trouble = error
    broken = [finding.name for finding in findings if not finding.held]
    if options.json:
        emit_json(
            {
                "layers": features.to_dict(),
                "missing": missing,
                "self_test": [finding.to_dict() for finding in findings],
                "error": None if trouble is None else str(trouble),
            }
        )
    elif trouble is None:
        _verdict(missing, broken, len(findings), color)
    if trouble is not None:
        raise trouble
    return 1 if missing or broken else 0


def _verdict(missing: list[str], broken: list[str], tried: int, color: bool) -> None:
    if broken:
        text = f"NOT CONTAINED: {', '.join(broken)}. Do not run code that you do not trust here."
        emit("\n" + paint(text, "red", color))
    elif missing:
        text = (
            f"Missing: {', '.join(missing)}. Runs fail with UnsupportedError unless the caller "
            f"passes allow_degraded={set(missing)!r}."
        )
        emit("\n" + paint(text, "yellow", color))
    else:
        held = f" and all {tried} attempts were stopped" if tried else ""
        emit("\n" + paint(f"Every layer can be enforced{held}.", "green", color))
