"""The program in what a model wrote: named strategies, each with one rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from csandbox.rl._fences import Block, fenced_blocks

_END_OF_THOUGHT: Final = "</think>"
_ANSWER: Final = ("<answer>", "</answer>")


@dataclass(frozen=True)
class Extraction:
    """What was taken for the program.

    ``code`` is None when the strategy found none. ``well_formed`` says that the model kept to the
    form: a block that was closed, or an answer tag that was, and for "whole" always.
    """

    code: str | None
    well_formed: bool
    blocks: int = 0


_NOTHING: Final = Extraction(None, False)


def _answer(text: str) -> tuple[str, bool] | None:
    """What is between the last pair of answer tags, and whether it was closed."""
    begin = text.rfind(_ANSWER[0])
    if begin < 0:
        return None
    rest = text[begin + len(_ANSWER[0]) :]
    inside, closed, _ = rest.partition(_ANSWER[1])
    return inside, bool(closed)


def _candidates(blocks: list[Block]) -> list[Block]:
    """Blocks that say Python; without any, blocks that say nothing. Closed before unclosed."""
    found = [b for b in blocks if b.is_python] or [b for b in blocks if not b.language]
    found = [block for block in found if block.text.strip()]
    return [block for block in found if block.closed] or found


def _chosen(text: str, choose: Callable[[list[Block]], Block | None]) -> Extraction:
    blocks = fenced_blocks(text)
    found = _candidates(blocks)
    block = choose(found) if found else None
    if block is None:
        return Extraction(None, False, len(blocks))
    return Extraction(block.text, block.closed, len(blocks))


def _first_block(text: str) -> Extraction:
    return _chosen(text, lambda found: found[0])


def _last_block(text: str) -> Extraction:
    return _chosen(text, lambda found: found[-1])


def _longest_block(text: str) -> Extraction:
    return _chosen(text, lambda found: max(found, key=lambda block: len(block.text)))


def _only_block(text: str) -> Extraction:
    return _chosen(text, lambda found: found[0] if len(found) == 1 and found[0].closed else None)


def _all_blocks(text: str) -> Extraction:
    blocks = fenced_blocks(text)
    found = _candidates(blocks)
    if not found:
        return Extraction(None, False, len(blocks))
    whole = "\n".join(block.text for block in found)
    return Extraction(whole, all(block.closed for block in found), len(blocks))


def _answer_tag(text: str) -> Extraction:
    found = _answer(text)
    if found is None:
        return _NOTHING
    inside, closed = found
    block = _last_block(inside)
    if block.code is not None:
        return Extraction(block.code, closed and block.well_formed, block.blocks)
    if block.blocks or not inside.strip():
        return Extraction(None, False, block.blocks)
    return Extraction(inside.strip("\n") + "\n", closed)


def _whole(text: str) -> Extraction:
    return Extraction(text, True) if text.strip() else _NOTHING


def _auto(text: str) -> Extraction:
    for strategy in (_answer_tag, _last_block):
        found = strategy(text)
        if found.code is not None:
            return found
    if found.blocks:  # there is code in it, of another language
        return Extraction(None, False, found.blocks)
    return Extraction(text, False) if text.strip() else _NOTHING


_STRATEGIES: Final[dict[str, Callable[[str], Extraction]]] = {
    "auto": _auto,
    "last_block": _last_block,
    "first_block": _first_block,
    "longest_block": _longest_block,
    "all_blocks": _all_blocks,
    "only_block": _only_block,
    "answer": _answer_tag,
    "whole": _whole,
}

STRATEGIES: Final = tuple(_STRATEGIES)


def known_strategy(name: str) -> str:
    """The name; ValueError says which there are."""
    if name not in _STRATEGIES:
        raise ValueError(f"extract must be one of {', '.join(STRATEGIES)}, not {name!r}")
    return name


def extract(text: str, strategy: str = "auto") -> Extraction:
    """Find the program in a completion.

    ============= ============================================================================
    last_block    the last fenced block; first_block, longest_block likewise
    all_blocks    all of them, one after the other
    only_block    the one closed block; two, or none, are no answer
    answer        what is between the last ``<answer>`` tags: the last block in it, or else its text
    whole         the text as it is, for models that continue a program
    auto          answer, or else last_block, or else, in a text without any fence, all of it
    ============= ============================================================================

    But for "whole", what comes before the last ``</think>`` is not looked at. Of several blocks
    those count whose fence says Python; when none does, those that say nothing (so that the output
    that a model shows is not taken for its program). An unclosed block, as in a completion that
    was cut, counts only when there is no closed one, and is not well formed. Nothing is run and
    nothing is parsed; the time is linear in the text.

    Raises ValueError for an unknown strategy, TypeError when `text` is no string.
    """
    if not isinstance(text, str):
        raise TypeError(f"a completion must be a string, not {type(text).__name__}")
    find = _STRATEGIES[known_strategy(strategy)]
    thought = -1 if strategy == "whole" else text.rfind(_END_OF_THOUGHT)
    return find(text if thought < 0 else text[thought + len(_END_OF_THOUGHT) :])


def extract_code(text: str, strategy: str = "auto") -> str | None:
    """The program alone, or None; see `extract`."""
    return extract(text, strategy).code
