"""CPython's parser for text of the caller's, also when several threads want it at once.

In CPython 3.11 and 3.12 all threads of an interpreter share one depth counter while syntax trees
become objects. When another thread parses in between, the count is off, and a sound text ends in
``SystemError: AST constructor recursion depth mismatch`` or a RecursionError that is not true. Our
own threads take turns here; the caller's may parse beside us all the same, so it is tried again.
"""

from __future__ import annotations

import ast
import os
import threading
import time
from typing import Any, Final

_TRIES: Final = 10
_RECURSION_TRIES: Final = 3  # mostly the text is to blame, and a deep one is slow to read
_PAUSE_S: Final = 0.001  # times the attempt: what disturbs us is over in milliseconds

_turn = threading.RLock()


def _renew_after_fork() -> None:
    """A child has no thread that would give back what another one held."""
    global _turn
    _turn = threading.RLock()


os.register_at_fork(after_in_child=_renew_after_fork)


def python_tree(text: str) -> ast.Module:
    """`ast.parse`. Raises what it raises for the text; ValueError when the parser keeps failing."""
    tree: ast.Module = _tree(text, "exec")
    return tree


def expression_tree(text: str) -> ast.expr:
    """`python_tree` for one expression, with space around it."""
    tree: ast.Expression = _tree(text.strip(), "eval")
    return tree.body


def literal(text: str) -> Any:
    """`ast.literal_eval` by way of `expression_tree`. Raises what both raise."""
    return ast.literal_eval(expression_tree(text))


def _tree(text: str, mode: str) -> Any:
    with _turn:
        for attempt in range(1, _TRIES + 1):
            try:
                return ast.parse(text, mode=mode)
            except RecursionError:
                if attempt >= _RECURSION_TRIES:
                    raise
            except SystemError as error:
                if attempt == _TRIES:
                    raise ValueError(
                        f"CPython's parser failed {_TRIES} times ({error}); other threads of this "
                        f"process parse at the same time, or the interpreter is damaged"
                    ) from error
            time.sleep(_PAUSE_S * attempt)
    raise AssertionError("the last attempt returns or raises")
