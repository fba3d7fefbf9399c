"""``python -m csandbox.jupyter -f FILE [--profile NAME]``: what the kernelspec starts."""

from __future__ import annotations

import argparse
import json
import sys


def main(argv: list[str] | None = None) -> None:
    """Take our own options, leave the others to ipykernel."""
    from ipykernel.kernelapp import IPKernelApp

    from csandbox.jupyter.kernel import CsandboxKernel

    parser = argparse.ArgumentParser(prog="csandbox.jupyter", allow_abbrev=False)
    parser.add_argument("--profile", default="compute")
    parser.add_argument("--limits", type=json.loads, default=None, help="JSON, as Limits has it")
    own, others = parser.parse_known_args(sys.argv[1:] if argv is None else argv)
    CsandboxKernel.profile_name = own.profile
    CsandboxKernel.limits = own.limits
    IPKernelApp.launch_instance(kernel_class=CsandboxKernel, argv=others)


if __name__ == "__main__":
    main()
