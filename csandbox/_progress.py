"""Telling how many runs are done: to a function, or by tqdm's bar where that is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

Progress = Union[bool, Callable[[int, "int | None"], object]]  # noqa: UP007 - CPython 3.10


class Teller:
    """Counts; the bar is closed with it, whether the number of items was known or not."""

    def __init__(self, progress: Progress, total: int | None) -> None:
        self._total = total
        self._call = progress if callable(progress) else None
        self._bar: Any = None
        self.done = 0
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=total, unit="run")

    def one_more(self) -> None:
        """One item is done."""
        self.done += 1
        if self._call is not None:
            self._call(self.done, self._total)
        if self._bar is not None:
            self._bar.update()

    def close(self) -> None:
        """Leave the bar as it stands."""
        if self._bar is not None:
            self._bar.close()
