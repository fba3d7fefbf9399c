"""A kept state of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from csandbox._closing import Closing

if TYPE_CHECKING:
    from csandbox._session import Session


class Snapshot(Closing):
    """A state of a session to which one can come back, made by `Session.snapshot`.

    >>> with csandbox.Session() as s:
    ...     s.run("board = [1, 2, 3]")
    ...     with s.snapshot() as before:
    ...         s.run("board.clear()")
    ...         with before.session() as again:
    ...             again.run("board").value_repr
    '[1, 2, 3]'

    It is a branch that executes nothing: a stopped process with its memory (shared with the others
    until one of them writes) and a copy of the working folder. It does not need the session that
    it is of any more.
    """

    def __init__(self, branch: Session) -> None:
        """For `Session.snapshot`."""
        self._branch = branch

    @property
    def alive(self) -> bool:
        """Whether sessions can be made of it."""
        return self._branch.alive

    def session(self) -> Session:
        """A new session that begins in this state. Raises what `Session.fork` raises."""
        return self._branch.fork()

    def close(self) -> None:
        """Forget the state. Sessions that were made of it live on."""
        self._branch.close()

    def __repr__(self) -> str:
        """One line."""
        name = self._branch.profile.name
        return f"<csandbox.Snapshot {name} {'kept' if self.alive else 'ended'}>"
