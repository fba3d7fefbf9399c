"""Sets and dicts of what a submission answered, whose cost the answer must not choose.

The hashes of numbers, and of tuples and frozensets of them, are known to everybody. Many different
ones with the same hash in one set make it take as long as their number squared, and no budget of
steps sees that, since it is one call. So whatever becomes a key or an element is counted before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from csandbox._bounded_names import NotEvaluable, bounded, counter

#: Nobody's honest data has as many. Chance gives two, now and then.
_SAME_HASH = 100
_ONE = ("add", "discard", "remove", "get", "pop", "setdefault")


class Keys:
    """What has become a key or an element in one evaluation."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._seen: set[Any] = set()
        self._same: dict[int, int] = {}

    def add(self, item: Any) -> None:
        """One more. NotEvaluable when too many different ones have its hash."""
        before = len(self._seen)
        self._seen.add(item)
        if len(self._seen) > before:
            number = hash(item)
            self._same[number] = count = self._same.get(number, 0) + 1
            if count > _SAME_HASH:
                raise NotEvaluable("values that are chosen to collide in a dict or set")

    def add_all(self, items: Iterable[Any]) -> list[Any]:
        """All of them, as a list."""
        listed = list(bounded(items))
        for item in listed:
            self.add(item)
        return listed

    def add_pairs(self, pairs: Iterable[Any]) -> list[tuple[Any, ...]]:
        """The keys of pairs, which are handed back."""
        listed = [tuple(bounded(pair)) for pair in bounded(pairs)]
        for pair in listed:
            if pair:
                self.add(pair[0])
        return listed

    def before(self, function: Callable[..., Any], arguments: list[Any]) -> list[Any]:
        """The arguments of a call, when what it puts into a set or dict was counted."""
        owner = getattr(function, "__self__", None)
        if not arguments:
            return arguments
        if isinstance(owner, (set, frozenset, dict)):
            if getattr(function, "__name__", "") in _ONE:
                self.add(arguments[0])
                return arguments
            into_dict = isinstance(owner, dict)
        elif function in (set, frozenset, dict, counter):
            into_dict = function is dict
        else:
            return arguments
        return [self._counted(item, into_dict) for item in arguments]

    def _counted(self, item: Any, into_dict: bool) -> Any:
        if isinstance(item, (set, frozenset, dict)):
            return item  # counted when it was made, or bounded when it was decoded
        return self.add_pairs(item) if into_dict else self.add_all(item)
