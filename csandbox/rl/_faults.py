"""What a harness is told that has no word for "this sample is not known"."""

from __future__ import annotations

from typing import Final

from csandbox._errors import SandboxError

FAULTS: Final = ("raise", "code")


class InfrastructureFault(SandboxError):
    """The sandbox failed on a sample, after its retries. It says nothing about the submission.

    Raised by the faces of harnesses in which every value would count as a failed sample.
    """
