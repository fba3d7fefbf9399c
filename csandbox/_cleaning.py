"""A janitor for this process: who removes its scratch folders when it was killed.

`_janitor` is a program of a few pages that waits for the end of its host, and then removes the
scratch folders and control groups that nobody holds any more.
"""

from __future__ import annotations

import atexit
import os
import threading

from csandbox import _core
from csandbox._errors import SetupError
from csandbox._place import beside_core

# One for each folder of scratch folders that this process uses, ended with it. A forked copy has
# entries of its parent, whose janitor it is not.
_janitors: dict[tuple[int, str, bool], _core.Janitor | None] = {}


def look_after(policy: _core.Policy) -> None:
    """Start one for the policy's folders, unless this process has it."""
    key = (os.getpid(), *policy.cleaned)
    if key not in _janitors:
        _janitors[key] = _start(policy)


def _start(policy: _core.Policy) -> _core.Janitor | None:
    """None where it cannot be started (files of this package may not be executed).

    What a killed process leaves is then removed by the next one that compiles a policy.
    """
    try:
        return _core.Janitor(policy, beside_core("_janitor"))
    except SetupError:
        return None


def dismiss() -> None:
    """End them."""
    _janitors.clear()


def _at_exit() -> None:
    """End them, unless something may be left: then they find this process ended, and remove it.

    That is when a thread may be in the middle of a run, or a large folder is being removed in the
    background. A process that nobody reaps stays where a container has no init, so none is left
    without need.
    """
    if threading.active_count() > 1 or _core.removing():
        for (pid, *_), janitor in _janitors.items():
            if janitor is not None and pid == os.getpid():
                janitor.leave()
    dismiss()


atexit.register(_at_exit)
