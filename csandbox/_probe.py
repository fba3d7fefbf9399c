"""What this kernel can enforce."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from csandbox import _core

_OPTIONAL = frozenset({"namespaces", "mdwe", "cgroup"})


@dataclass(frozen=True)
class Feature:
    """One layer: whether it can be enforced here, in detail, and what to do when it cannot.

    ``optional``: the built-in profiles take it where it is there and run without it.
    """

    name: str
    available: bool
    detail: str
    hint: str
    optional: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The five fields by name."""
        return dict(vars(self))


class Features(Mapping[str, Feature]):
    """All layers by name, in the order in which a child enters them."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
        """Keep the features."""
        self._features = {feature.name: feature for feature in features}

    def __getitem__(self, name: str) -> Feature:
        """The layer of that name."""
        return self._features[name]

    def __iter__(self) -> Iterator[str]:
        """Names of the layers."""
        return iter(self._features)

    def __len__(self) -> int:
        """How many layers there are."""
        return len(self._features)

    @property
    def ok(self) -> bool:
        """Whether every layer that is not optional can be enforced."""
        return not self.missing

    @property
    def missing(self) -> tuple[Feature, ...]:
        """The layers that cannot be enforced and are not optional."""
        return tuple(f for f in self.values() if not (f.available or f.optional))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {name: feature.to_dict() for name, feature in self.items()}

    def __repr__(self) -> str:
        """One line."""
        missing = ", ".join(feature.name for feature in self.missing) or "nothing"
        return f"<csandbox.Features {len(self)} layers, missing: {missing}>"


def probe() -> Features:
    """Ask this kernel, by trying in a process of its own, which layers can be enforced.

    Nothing about the caller changes. Raises SetupError when even the trial cannot be started.
    """
    return Features(
        tuple(
            Feature(
                name,
                bool(data["available"]),
                str(data["detail"]),
                str(data["hint"]),
                optional=name in _OPTIONAL,
            )
            for name, data in _core.probe().items()
        )
    )
