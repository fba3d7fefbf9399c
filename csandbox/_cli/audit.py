"""``csandbox audit TASK --reference FILE``."""

from __future__ import annotations

import argparse

from csandbox._cli.arguments import Usage
from csandbox._cli.console import emit, emit_json
from csandbox._cli.files import read_source
from csandbox._cli.limits import limits_of
from csandbox._cli.tasks import tests_of
from csandbox._load_humaneval import Task
from csandbox._profile import Profile
from csandbox._task_audit import audit_task


def command(options: argparse.Namespace) -> int:
    """Audit: 0 the tests can be used, 1 they cannot, 3 the sandbox failed."""
    profile = Profile.load(options.profile)
    loaded = tests_of(options.tests, options)
    reference: bytes | str | None = None
    if options.reference is not None:
        reference = read_source(options.reference)[0]
    elif isinstance(loaded, Task) and loaded.reference:
        reference = loaded.reference
    try:
        report = audit_task(
            loaded,
            reference=reference,
            right={name: read_source(name)[0] for name in options.right},
            wrong={name: read_source(name)[0] for name in options.wrong},
            profile=profile,
            limits=limits_of(options),
            repeat=options.repeat,
        )
    except ValueError as error:
        raise Usage(str(error)) from error
    if options.json:
        emit_json(report.to_dict())
    else:
        emit(str(report))
    if any(finding.code == "infrastructure" for finding in report.findings):
        return 3
    return 0 if report.ok else 1
