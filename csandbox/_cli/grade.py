"""``csandbox grade SUBMISSION --tests FILE|DIR``."""

from __future__ import annotations

import argparse
from dataclasses import replace

from csandbox._cli.arguments import Usage
from csandbox._cli.console import emit, emit_json
from csandbox._cli.files import read_source
from csandbox._cli.limits import limits_of
from csandbox._cli.tasks import tests_of
from csandbox._grade import grade
from csandbox._profile import Profile


def command(options: argparse.Namespace) -> int:
    """Grade: 0 all passed, 1 not, 3 the sandbox failed and there is no score."""
    profile = Profile.load(options.profile)
    loaded = tests_of(options.tests, options)
    source, _ = read_source(options.file)
    tests = [replace(t, hidden=False) if options.visible else t for t in loaded]
    if loaded.unconverted:
        if not options.allow_weak or not loaded.weak_code:
            advice = (
                "--allow-weak runs the whole text as well, beside the submission"
                if loaded.weak_code
                else "mend them, or take them out"
            )
            raise Usage(
                f"{options.tests}: {len(loaded.unconverted)} parts are no data tests, so passing "
                f"the others would say too little; {advice}"
            )
        tests.append(loaded.weak())
    try:
        report = grade(
            source,
            tests,
            isolation=options.isolation,
            stop=options.stop,
            feedback=options.feedback,
            seed=options.seed,
            profile=profile,
            limits=limits_of(options),
            total_s=options.total,
            allow_weak=options.allow_weak,
        )
    except ValueError as error:
        raise Usage(str(error)) from error
    if options.json:
        emit_json(report.to_dict())
    else:
        emit(str(report))
        if report.feedback_level in ("first", "full") and not report.passed:
            emit("\n" + report.feedback)
    if report.score is None:
        return 3
    return 0 if report.passed else 1
