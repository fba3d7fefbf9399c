"""The kernelspec: what tells Jupyter that there is a kernel ``csandbox``, and how it starts."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from csandbox._limits import Limits
from csandbox._profile import Profile

_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


def kernel_spec(
    profile: str = "compute", limits: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The content of kernel.json. ProfileError for a profile or limit that does not exist."""
    loaded = Profile.load(profile)
    words = [sys.executable, "-m", "csandbox.jupyter", "-f", "{connection_file}"]
    # A path is kept absolute: kernels start in the notebook's folder.
    words += ["--profile", profile if profile in Profile.builtin() else os.path.abspath(profile)]
    if limits:
        Limits.from_mapping(limits)
        words += ["--limits", json.dumps(dict(limits), sort_keys=True)]
    return {
        "argv": words,
        "display_name": f"Python (csandbox {loaded.name})",
        "language": "python",
        "interrupt_mode": "message",
        "metadata": {"csandbox": {"profile": loaded.name}, **_encryption()},
    }


def _encryption() -> dict[str, str]:
    """What this ipykernel says of itself: newer ones can have their channels encrypted."""
    from ipykernel.kernelspec import get_kernel_dict

    metadata = get_kernel_dict().get("metadata", {})
    return {name: value for name, value in metadata.items() if name == "supported_encryption"}


def install(
    profile: str = "compute",
    *,
    limits: Mapping[str, Any] | None = None,
    name: str = "csandbox",
    user: bool = False,
    prefix: str | None = None,
) -> str:
    """Write the kernelspec and return its folder.

    With `user` into the user's data folder, with `prefix` below that folder, else system-wide.
    Raises ImportError without the extra ``jupyter``, ProfileError, OSError.
    """
    from jupyter_client.kernelspec import KernelSpecManager

    if not _NAME.fullmatch(name):
        raise ValueError(f"the name of a kernel is of letters, digits, '.', '_', '-', not {name!r}")
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder, "kernel.json")
        spec.write_text(json.dumps(kernel_spec(profile, limits), indent=1) + "\n")
        where: str = KernelSpecManager().install_kernel_spec(
            folder, kernel_name=name, user=user, prefix=prefix
        )
    return where
