"""What an audit of a task's tests found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from csandbox._grade_table import plain


@dataclass(frozen=True)
class Finding:
    """One finding. ``severity``: "error" means the task cannot be used as it is, "warning" that its
    author should look. ``code`` is one of `CODES`; ``tests`` names the tests that it is about.
    """

    code: str
    severity: str
    message: str
    tests: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line."""
        return f"{self.severity}: {self.message} [{self.code}]"


#: What a finding can be.
CODES = {
    "reference-fails": "the reference does not pass",
    "accepts": "a program that does nothing, or that cheats, passes all tests",
    "discriminates-nothing": "a test is passed by all programs that do nothing but fail to run",
    "most-pass-by": "one program that does nothing passes at least half of the tests",
    "two-answers": "two different answers to one input are both accepted or both expected",
    "double": "two tests ask the same",
    "flaky": "the reference gets different verdicts for the same test",
    "slow": "the reference needs more than half of a time limit",
    "infrastructure": "the sandbox failed, so that nothing is known",
    "unconverted": "a part of the task's text is no test",
}


@dataclass(frozen=True, repr=False)
class AuditReport:
    """What an audit found. ``ok``: no finding is an error.

    ``discriminates`` says for each test how many of the null and hack programs it refused;
    ``cpu_margin`` how many times the reference's slowest test fits into the limit on CPU time.
    """

    findings: tuple[Finding, ...]
    programs: int = 0
    accepted: tuple[str, ...] = ()
    discriminates: dict[str, int] = field(default_factory=dict, hash=False)
    reference_cpu_s: float | None = None
    cpu_margin: float | None = None

    @property
    def ok(self) -> bool:
        """Whether the task can be used: the reference passes, and nothing else did."""
        return not any(finding.severity == "error" for finding in self.findings)

    def summary(self) -> str:
        """One sentence."""
        errors = sum(f.severity == "error" for f in self.findings)
        warnings = len(self.findings) - errors
        state = "ok" if self.ok else "not usable"
        return (
            f"{state}: {self.programs} programs that must fail, {len(self.accepted)} accepted; "
            f"{errors} errors, {warnings} warnings"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "ok": self.ok,
            "programs": self.programs,
            "accepted": list(self.accepted),
            "discriminates": dict(self.discriminates),
            "reference_cpu_s": self.reference_cpu_s,
            "cpu_margin": self.cpu_margin,
            "findings": [
                {**vars(finding), "tests": list(finding.tests)} for finding in self.findings
            ],
        }

    def __str__(self) -> str:
        """Findings, one a line, and the summary."""
        lines = [plain(str(finding), 300) for finding in self.findings]
        return "\n".join([*lines, self.summary()])

    def __repr__(self) -> str:
        """One line."""
        return f"<csandbox.AuditReport {self.summary()}>"
