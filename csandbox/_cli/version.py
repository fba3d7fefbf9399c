"""``csandbox --version``: what a bug report needs."""

from __future__ import annotations

import platform

from csandbox import _core
from csandbox._cli.console import emit


def show() -> int:
    """Print the version and how the extension was built."""
    info = _core.build_info()
    emit(f"csandbox {info['version']}")
    for name, value in info.items():
        if name != "version":
            emit(f"  {name}: {value}")
    emit(f"  python: {platform.python_version()}")
    emit(f"  kernel: {platform.release()} {platform.machine()}")
    return 0
