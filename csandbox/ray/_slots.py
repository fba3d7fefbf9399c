"""Places for actors: which node, how many workers, and a new actor when one was lost."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ray
from ray.exceptions import (
    GetTimeoutError,
    NodeDiedError,
    ObjectLostError,
    RayActorError,
    WorkerCrashedError,
)
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from csandbox._errors import SetupError
from csandbox.ray._actor import Grader

#: The actor, its process, its node or the store that held its answer is gone.
LOST: Final = (RayActorError, NodeDiedError, ObjectLostError, WorkerCrashedError)
_MOST_DEATHS: Final = 10  # in a row, without a batch that came back
_CLOSE_S: Final = 5.0


@dataclass(frozen=True)
class Size:
    """What one actor gets: `workers` runs at a time, `cpus` of Ray's resource "CPU"."""

    node: str
    workers: int
    cpus: float


def sizes(
    nodes: Sequence[Mapping[str, Any]],
    *,
    actors_per_node: int,
    workers: int | None,
    num_cpus: float | None,
) -> list[Size]:
    """One `Size` for each actor, by the CPUs that each node has in Ray's eyes.

    `nodes` is what ``ray.nodes()`` gives. Nodes that are dead or have no CPU are left out.
    """
    found = []
    for node in nodes:
        cpus = node["Resources"].get("CPU", 0.0)
        if not node["Alive"] or cpus <= 0:
            continue
        each = workers or max(1, int(cpus // actors_per_node))
        reserved = min(float(each), cpus / actors_per_node) if num_cpus is None else num_cpus
        found += [Size(node["NodeID"], each, reserved)] * actors_per_node
    return found


class Slot:
    """A place for one actor. Any thread may renew it; the first that finds it lost does."""

    def __init__(self, size: Size, make: Mapping[str, Any]) -> None:
        """Start the actor; `make` has ``profile``, ``options`` and Ray's ``actor`` options."""
        self.size = size
        self.deaths = 0
        self.lost = 0
        self._make = make
        self._lock = threading.Lock()
        self.actor = self._new()

    def _new(self) -> Any:
        # Soft: an actor whose node is gone is better on another one than nowhere.
        where = NodeAffinitySchedulingStrategy(node_id=self.size.node, soft=True)
        options = {
            "num_cpus": self.size.cpus,
            "scheduling_strategy": where,
            "max_concurrency": 32,  # batches that wait, and `facts` in between
            "max_restarts": 0,  # a restart would hide that what was under way is lost
            **self._make["actor"],
        }
        remote: Any = ray.remote(Grader)
        return remote.options(**options).remote(
            self._make["profile"], self.size.workers, self._make["options"]
        )

    @property
    def usable(self) -> bool:
        """Whether it is worth sending work: not when actors die there one after the other."""
        return self.deaths < _MOST_DEATHS

    def renew(self, lost: Any) -> None:
        """A new actor in place of `lost`, unless another thread has made one."""
        with self._lock:
            if self.actor is not lost:
                return
            self.deaths += 1
            self.lost += 1
            with contextlib.suppress(*LOST):
                ray.kill(lost)  # one that only cannot be reached must not go on
            if self.usable:
                self.actor = self._new()

    def worked(self) -> None:
        """A batch came back."""
        self.deaths = 0

    def close(self) -> None:
        """End the pool in the actor, then the actor."""
        with contextlib.suppress(*LOST, GetTimeoutError):
            ray.get(self.actor.close.remote(), timeout=_CLOSE_S)
        ray.kill(self.actor)


def start(wanted: Sequence[Size], make: Mapping[str, Any], startup_s: float) -> list[Slot]:
    """Start all actors and wait until each has a pool. Raises SetupError, and what Pool raises."""
    slots = [Slot(size, make) for size in wanted]
    asked = [slot.actor.facts.remote() for slot in slots]
    ready, late = ray.wait(asked, num_returns=len(asked), timeout=startup_s)
    try:
        if late:
            cpus = ", ".join(sorted({f"{size.cpus:g}" for size in wanted}))
            raise SetupError(
                step="ray",
                message=f"{len(late)} of {len(asked)} Ray actors did not start within "
                f"{startup_s:g} s; each needs {cpus} CPUs of Ray's on its node (num_cpus=…, "
                "actors_per_node=…)",
            )
        ray.get(ready)
    except BaseException as error:
        for slot in slots:
            ray.kill(slot.actor)
        cause = getattr(error, "cause", None)
        if isinstance(error, RayActorError) and isinstance(cause, Exception):
            raise cause from error
        raise
    return slots
